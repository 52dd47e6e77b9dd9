package adapter

import (
	"context"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/leasekit/lease"
)

// service is a worker as the suite sees it.
type service struct{ w *worker }

var _ lease.Service = service{}

func (s service) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	return s.granted(ctx, "acquire", map[string]any{"key": key, "holder": holder, "ttl": nanoseconds(ttl)}, key, holder)
}

func (s service) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	return s.granted(ctx, "renew", map[string]any{"lease": onWire(l), "ttl": nanoseconds(ttl)}, l.Key, l.Holder)
}

func (s service) Release(ctx context.Context, l lease.Lease) error {
	_, err := s.call(ctx, "release", map[string]any{"lease": onWire(l)}, l.Key, l.Holder)
	return err
}

func (s service) Get(ctx context.Context, key string) (lease.Lease, error) {
	return s.granted(ctx, "get", map[string]any{"key": key}, key)
}

// granted is a call whose reply has a lease, if it is ok.
func (s service) granted(ctx context.Context, op string, fields map[string]any, names ...string) (lease.Lease, error) {
	r, err := s.call(ctx, op, fields, names...)
	if r.Lease == nil {
		if err == nil {
			err = s.w.fail(fmt.Errorf("answered %s with ok and no lease", op))
		}
		return lease.Lease{}, err
	}
	l, wrong := r.Lease.lease()
	if wrong != nil {
		return lease.Lease{}, s.w.fail(fmt.Errorf("answered %s with nonsense: %w", op, wrong))
	}
	return l, err // a lease with an error, too: that is for the suite to judge
}

// call makes the request. Names that JSON can't say are refused here.
func (s service) call(ctx context.Context, op string, fields map[string]any, names ...string) (reply, error) {
	for _, name := range names {
		if !utf8.ValidString(name) {
			return reply{}, fmt.Errorf("%w: %.40q is not valid UTF-8, so no adapter can be asked", lease.ErrInvalid, name)
		}
	}
	r, err := s.w.call(ctx, request{op, fields})
	if err != nil {
		return reply{}, err
	}
	err, ok := r.errorOf()
	if !ok {
		return reply{}, s.w.fail(fmt.Errorf("answered %s with the result %.40q, which the protocol does not have", op, r.Result))
	}
	return r, err
}

func nanoseconds(d time.Duration) string { return strconv.FormatInt(int64(d), 10) }
