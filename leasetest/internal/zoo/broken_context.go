package zoo

import (
	"context"
	"errors"
	"time"

	"github.com/leasekit/lease"
)

// contextFaults break how a call ends whose context ends.
func contextFaults() []Animal {
	return []Animal{
		{
			Name: "done-context-ignored", Clause: "ERR-1",
			Fault: "A call does not look at its context.",
			Open: bred(func(r *rules) {
				r.begin = func(context.Context, *worker) error { return nil }
			}),
		},
		{
			Name: "context-error-replaced", Clause: "ERR-1",
			Fault: "A call with a done context fails with an error of its own, in which the context's cannot be found.",
			Open: bred(func(r *rules) {
				r.begin = func(ctx context.Context, _ *worker) error {
					if ctx.Err() != nil {
						return errors.New("the request was given up")
					}
					return nil
				}
			}),
		},
		{
			Name: "deaf-while-store-hangs", Clause: "ERR-1",
			Fault:  "A call that waits for the store's answer does not return when its context ends.",
			Source: "https://github.com/hashicorp/consul/issues/18271",
			Open: bred(func(r *rules) {
				r.reach = func(ctx context.Context, w *worker) error { return reach(context.WithoutCancel(ctx), w) }
			}),
		},
		{
			Name: "given-up-acquire-comes-again", Clause: "ERR-2",
			Kinds:  []string{"S013"},
			Fault:  "An Acquire whose caller gave up is sent twice: it takes effect, and once more when the key is released.",
			Source: "https://github.com/ceph/ceph/pull/67012",
			Open: bred(func(r *rules) {
				again := map[string]func(c *call){}
				r.service = func(w *worker) lease.Service {
					return givenUp{worker: w, atStart: true, then: func(c *call, holder string, ttl time.Duration) {
						again[c.id] = func(c *call) { _, _ = acquire(c, holder, ttl) }
					}}
				}
				r.release = func(c *call, l lease.Lease) error {
					err := release(c, l)
					if send := again[c.id]; send != nil && c.rec != nil && c.rec.released {
						delete(again, c.id)
						send(c)
					}
					return err
				}
			}),
		},
		{
			Name: "lost-reply-denies-self", Clause: "ERR-3",
			Kinds:  []string{"B098"},
			Fault:  "An Acquire that is repeated because its reply was lost is refused by its own lease.",
			Source: "https://github.com/stardag-dev/stardag/pull/342",
			Open: bred(func(r *rules) {
				unanswered := map[*record]int64{}
				r.service = func(w *worker) lease.Service {
					return givenUp{worker: w, then: func(c *call, _ string, _ time.Duration) {
						unanswered[c.rec] = c.rec.token
					}}
				}
				r.again = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					if c.rec.token == unanswered[c.rec] {
						return lease.Lease{}, lease.ErrHeld
					}
					return again(c, holder, ttl)
				}
			}),
		},
		{
			Name: "given-up-acquire-half-done", Clause: "ERR-2",
			Fault:  "An Acquire whose caller gave up has taken the key and not set its expiry, since that is a command of its own.",
			Kinds:  []string{"B025", "S026"},
			Source: "https://github.com/redis/redis-py/issues/554",
			Open: bred(func(r *rules) {
				half := map[*record]bool{}
				r.service = func(w *worker) lease.Service {
					return givenUp{worker: w, then: func(c *call, _ string, _ time.Duration) { half[c.rec] = true }}
				}
				r.live = func(c *call) bool { return live(c) || c.rec != nil && !c.rec.released && half[c.rec] }
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					delete(half, c.rec)
					return grant(c, holder, ttl)
				}
			}),
		},
	}
}

// givenUp is a worker whose Acquires take effect although their context ended
// before the reply, as when the request was on its way already. then is called
// for each of them.
type givenUp struct {
	*worker
	atStart bool // also when the context was done from the start
	then    func(c *call, holder string, ttl time.Duration)
}

func (w givenUp) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if !w.atStart && ctx.Err() != nil || lease.CheckAcquire(key, holder, ttl) != nil {
		return w.worker.Acquire(ctx, key, holder, ttl)
	}
	l, err := w.worker.Acquire(ctx, key, holder, ttl)
	if ctx.Err() == nil {
		return l, err
	}
	direct := *w.worker
	direct.dial = nil
	_, _ = direct.do(context.WithoutCancel(ctx), acquiring, key, func() error { return nil }, func(c *call) (lease.Lease, error) {
		l, err := acquire(c, holder, ttl)
		if err == nil {
			w.then(c, holder, ttl)
		}
		return l, err
	})
	return lease.Lease{}, ctx.Err()
}
