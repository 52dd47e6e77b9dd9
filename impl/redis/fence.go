package redislease

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
)

// DefaultFencePrefix is the prefix of a fence whose options name none.
const DefaultFencePrefix = "fence:"

// FenceOptions are the settings of a [Fence]. A nil *FenceOptions means the
// defaults.
type FenceOptions struct {
	// Prefix separates fences on one Redis from each other, as that of [Options]
	// does services. A fence and a service may have the same one. Default
	// [DefaultFencePrefix].
	Prefix string
}

// Fence is a protected resource in Redis: a value for each key, which is written
// only under a fencing token that is not below the highest one seen. It is safe for
// concurrent use. The package documentation says what it promises and what it
// can't.
type Fence struct {
	host  host
	names names
	close func() error // nil: the client is the caller's
}

var _ fence.Resource = (*Fence)(nil)

// NewFence returns a fence on client, under the same conditions as [New] returns a
// service.
func NewFence(client redis.UniversalClient, o *FenceOptions) *Fence {
	prefix := DefaultFencePrefix
	if o != nil && o.Prefix != "" {
		prefix = o.Prefix
	}
	return &Fence{host: newHost(client), names: newNames(prefix)}
}

// OpenFence returns a fence with connections of its own, as [Open] does a service.
func OpenFence(rawURL string, o *FenceOptions) (*Fence, error) {
	client, close, err := connect(rawURL)
	if err != nil {
		return nil, err
	}
	f := NewFence(client, o)
	f.close = close
	return f, nil
}

// Close closes the connections of a fence that was made by [OpenFence]; calls that
// are under way fail. For one made by [NewFence] it does nothing.
func (f *Fence) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Write implements [fence.Resource], in one round trip.
func (f *Fence) Write(ctx context.Context, key string, token int64, value string) error {
	const verb = "write fenced key"
	if err := begin(ctx, verb, fence.CheckWrite(key, token)); err != nil {
		return err
	}
	r, err := f.host.run(ctx, newCall(writeScript, 1, f.names.ofFenced(key), strconv.FormatInt(token, 10), value))
	if err != nil {
		return fail(ctx, verb, key, err)
	}
	switch {
	case r.is("written", 0):
		return nil
	case r.is("stale", 1):
		highest, err := strconv.ParseInt(r.words[1], 10, 64)
		if err != nil {
			return fail(ctx, verb, key, fmt.Errorf("unexpected reply from Redis: %.80q: %w", r.words[:r.n], err))
		}
		return &fence.StaleError{Key: key, Token: token, Highest: highest}
	}
	return fail(ctx, verb, key, r.fault())
}

// Read implements [fence.Resource], in one round trip.
func (f *Fence) Read(ctx context.Context, key string) (value string, token int64, err error) {
	const verb = "read fenced key"
	if err := begin(ctx, verb, lease.CheckKey(key)); err != nil {
		return "", 0, err
	}
	r, err := f.host.run(ctx, newCall(readScript, 1, f.names.ofFenced(key)))
	if err != nil {
		return "", 0, fail(ctx, verb, key, err)
	}
	switch {
	case r.is("none", 0):
		return "", 0, nil
	case r.is("record", 2):
		token, err := strconv.ParseInt(r.words[1], 10, 64)
		if err != nil {
			return "", 0, fail(ctx, verb, key, fmt.Errorf("unexpected reply from Redis: %.80q: %w", r.words[:2], err))
		}
		return r.words[2], token, nil
	}
	return "", 0, fail(ctx, verb, key, r.fault())
}
