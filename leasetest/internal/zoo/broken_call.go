package zoo

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/leasekit/lease"
)

// callFaults break how a call ends: contexts, lost replies, errors.
func callFaults() []Animal {
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
			Name: "conflicts-surface", Clause: "ERR-7",
			Fault:  "Calls that meet in the store are not serialized: one of them fails with a conflict, and nobody tries again.",
			Source: "https://github.com/cirello-io/pglock/issues/39",
			Open: bred(func(r *rules) {
				var busy atomic.Int32
				r.lock = func(s *store) error {
					defer busy.Add(-1)
					meets := busy.Add(1) > 1
					yield()
					if meets {
						return errors.New("commit: could not serialize access")
					}
					s.mu.Lock()
					return nil
				}
			}),
		},
		{
			Name: "refusals-drain-the-pool", Clause: "ERR-7",
			Fault:  "A refused Acquire does not give back its connection, and when all are gone a Get hangs.",
			Source: "https://github.com/projecteru2/core/issues/399",
			Open: bred(func(r *rules) {
				const pool = 3
				var gone atomic.Int32
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						gone.Add(1)
					}
					return l, err
				}
				// Only once, and then all connections are back: a hang costs
				// the suite ten seconds.
				r.service = func(w *worker) lease.Service {
					return getHangs{w, func() bool {
						n := gone.Load()
						return n >= pool && gone.CompareAndSwap(n, math.MinInt32)
					}}
				}
			}),
		},
		{
			Name: "get-panics-on-unknown-key", Clause: "ERR-7",
			Fault: "Get takes it for granted that there is a record.",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					if c.rec.released {
						return lease.Lease{}, lease.ErrNotHeld
					}
					return get(c)
				}
			}),
		},
		{
			Name: "refusal-with-lease", Clause: "ERR-8",
			Fault: "A refused Acquire returns the lease that is in its way along with ErrHeld.",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						l = show(c)
					}
					return l, err
				}
			}),
		},
		{
			Name: "loss-with-lease", Clause: "ERR-8",
			Fault: "Renew returns the lease it was given along with ErrLost.",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					renewed, err := renew(c, l, ttl)
					if err != nil {
						return l, err
					}
					return renewed, nil
				}
			}),
		},
		{
			Name: "nobody-with-key", Clause: "ERR-8",
			Fault: "Get of a free key returns a lease with the key filled in along with ErrNotHeld.",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					l, err := get(c)
					l.Key = c.key
					return l, err
				}
			}),
		},
		{
			Name: "damaged-is-free", Clause: "ERR-9",
			Fault:  "Acquire takes a record that it can't read for none, and overwrites it.",
			Source: "https://github.com/rjmurillo/ai-agents/pull/4987",
			Open: bred(func(r *rules) {
				damaged := r.damaged
				r.damaged = func(c *call) error {
					if c.name != acquiring {
						return damaged(c)
					}
					c.rec.damage, c.rec.released = "", true
					return nil
				}
			}),
		},
		{
			Name: "damaged-reads-free", Clause: "ERR-9",
			Fault: "Get of a record of a newer schema finds that nobody holds the key.",
			Open: bred(func(r *rules) {
				damaged := r.damaged
				r.damaged = func(c *call) error {
					if c.name == getting && c.rec.damage == newerSchema {
						return lease.ErrNotHeld
					}
					return damaged(c)
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

// getHangs is a worker whose Get waits for the end of its context when hangs
// says so.
type getHangs struct {
	*worker
	hangs func() bool
}

func (w getHangs) Get(ctx context.Context, key string) (lease.Lease, error) {
	if len(key) <= 200 && w.hangs() { // a long key would be a case of ARG-1
		<-ctx.Done()
	}
	return w.worker.Get(ctx, key)
}
