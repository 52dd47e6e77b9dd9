package redislease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
)

// DefaultPrefix is the prefix of a service whose options name none.
const DefaultPrefix = "lease:"

// Options are the settings of a [Service]. A nil *Options means the defaults.
type Options struct {
	// Prefix separates services on one Redis from each other: those with
	// different prefixes share nothing, those with the same one share their
	// leases. Any text will do, of any bytes. Default [DefaultPrefix].
	Prefix string

	// Replicas is how many replicas have to have a grant or a renewal before it
	// is answered, as WAIT counts them. 0, the default, waits for none. See
	// "Waiting for replicas" in the package documentation.
	Replicas int

	// ReplicaTimeout is how long that is waited for. Default 1 s. It must be
	// shorter than the client's ReadTimeout.
	ReplicaTimeout time.Duration
}

// Service grants leases that are kept in Redis. It is safe for concurrent use.
// The package documentation says what it promises and what it can't.
type Service struct {
	host     host
	names    names
	replicas replicas
	close    func() error // nil: the client is the caller's
}

var _ lease.Service = (*Service)(nil)

// New returns a service on client: a *redis.Client, for one server or for
// Sentinel, or a *redis.ClusterClient. It does not talk to Redis. The client
// stays the caller's: [Service.Close] leaves it open. With a nil client every
// valid call fails.
//
// Whatever client.MaxRetries is, the service has no call repeated by the client
// after it may have been executed. Of its settings these matter:
//
//   - A call that ends with its context leaves a goroutine behind until the
//     client gives up: after ReadTimeout, if Redis hangs; after DialTimeout for
//     each of DialerRetries, if it can't be reached. Don't set ReadTimeout to
//     "none". With ContextTimeoutEnabled a context's deadline ends it too.
func New(client redis.UniversalClient, o *Options) *Service {
	if o == nil {
		o = &Options{}
	}
	return &Service{
		host:     newHost(client),
		names:    newNames(cmp.Or(o.Prefix, DefaultPrefix)),
		replicas: replicas{client: client, want: o.Replicas, timeout: cmp.Or(o.ReplicaTimeout, time.Second)},
	}
}

// Close closes the connections of a service that was made by [Open]; calls that
// are under way fail. For one made by [New] it does nothing.
func (s *Service) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Acquire implements [lease.Service].
func (s *Service) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if err := begin(ctx, "acquire lease", lease.CheckAcquire(key, holder, ttl)); err != nil {
		return lease.Lease{}, err
	}
	ms, us := split(ttl)
	r, err := s.grant(ctx, acquireScript, key, holder, ms, us)
	if err != nil {
		return lease.Lease{}, fail(ctx, "acquire lease", key, err)
	}
	switch {
	case r.is("granted", 2), r.is("kept", 2):
		l, err := r.lease(key, holder, r.words[1], r.words[2])
		if err != nil {
			return lease.Lease{}, fail(ctx, "acquire lease", key, err)
		}
		return l, nil
	case r.is("held", 0):
		return lease.Lease{}, lease.ErrHeld
	}
	return lease.Lease{}, fail(ctx, "acquire lease", key, r.fault())
}

// Renew implements [lease.Service].
func (s *Service) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if err := begin(ctx, "renew lease", lease.CheckRenew(l, ttl)); err != nil {
		return lease.Lease{}, err
	}
	token := strconv.FormatInt(l.Token, 10)
	ms, us := split(ttl)
	r, err := s.grant(ctx, renewScript, l.Key, l.Holder, token, ms, us)
	if err != nil {
		return lease.Lease{}, fail(ctx, "renew lease", l.Key, err)
	}
	switch {
	case r.is("renewed", 1):
		renewed, err := r.lease(l.Key, l.Holder, token, r.words[1])
		if err != nil {
			return lease.Lease{}, fail(ctx, "renew lease", l.Key, err)
		}
		return renewed, nil
	case r.is("lost", 0):
		return lease.Lease{}, lease.ErrLost
	}
	return lease.Lease{}, fail(ctx, "renew lease", l.Key, r.fault())
}

// Release implements [lease.Service]. It returns nil for a lease that is not
// the present grant.
func (s *Service) Release(ctx context.Context, l lease.Lease) error {
	if err := begin(ctx, "release lease", lease.CheckLease(l)); err != nil {
		return err
	}
	r, err := s.run(ctx, releaseScript, l.Key, l.Holder, strconv.FormatInt(l.Token, 10))
	if err != nil {
		return fail(ctx, "release lease", l.Key, err)
	}
	if !r.is("released", 0) {
		return fail(ctx, "release lease", l.Key, r.fault())
	}
	return nil
}

// Get implements [lease.Service].
func (s *Service) Get(ctx context.Context, key string) (lease.Lease, error) {
	if err := begin(ctx, "get lease", lease.CheckKey(key)); err != nil {
		return lease.Lease{}, err
	}
	r, err := s.run(ctx, getScript, key)
	if err != nil {
		return lease.Lease{}, fail(ctx, "get lease", key, err)
	}
	switch {
	case r.is("live", 3):
		l, err := r.lease(key, r.words[1], r.words[2], r.words[3])
		if err != nil {
			return lease.Lease{}, fail(ctx, "get lease", key, err)
		}
		return l, nil
	case r.is("free", 0):
		return lease.Lease{}, lease.ErrNotHeld
	}
	return lease.Lease{}, fail(ctx, "get lease", key, r.fault())
}

// run runs a script on the two keys of a lease.
func (s *Service) run(ctx context.Context, sc *script, key string, args ...string) (reply, error) {
	return s.host.run(ctx, s.call(sc, key, args))
}

// grant runs a script that may grant or prolong a lease, and waits until so many
// replicas have what it wrote.
func (s *Service) grant(ctx context.Context, sc *script, key string, args ...string) (reply, error) {
	c := s.call(sc, key, args)
	if s.replicas.want > 0 {
		c.wait = &s.replicas
	}
	return s.host.run(ctx, c)
}

func (s *Service) call(sc *script, key string, args []string) *call {
	var texts [mostTexts]string
	texts[0], texts[1] = s.names.of(key)
	n := 2 + copy(texts[2:], args)
	return newCall(sc, 2, texts[:n]...)
}

// begin returns why a call must not touch the store: its context has ended, or
// an argument is invalid.
func begin(ctx context.Context, verb string, invalid error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return invalid
}

// fail says which call an error belongs to. If its context has ended, the error
// is the context's too, whatever the client made of it: a deadline, for one,
// reaches go-redis as a timeout of the connection, and may do so just before
// the context itself has noticed.
func fail(ctx context.Context, verb, key string, err error) error {
	err = withoutArgs(err)
	ended := ctx.Err()
	if deadline, ok := ctx.Deadline(); ok && ended == nil && !time.Now().Before(deadline) {
		ended = context.DeadlineExceeded
	}
	if ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%s %q: %w: %w", verb, key, ended, err)
	}
	return fmt.Errorf("%s %q: %w", verb, key, err)
}

// split returns ttl as whole ms and the us beyond them, rounded up: 0 to 1000.
// The scripts add them to the clock separately, since the sum in us can exceed
// what a Lua number holds.
func split(ttl time.Duration) (ms, us string) {
	rest := (ttl%time.Millisecond + time.Microsecond - 1) / time.Microsecond
	return strconv.FormatInt(int64(ttl/time.Millisecond), 10), strconv.FormatInt(int64(rest), 10)
}
