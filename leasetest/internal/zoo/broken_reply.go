package zoo

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/leasekit/lease"
)

// replyFaults break the form of a reply, or never give one.
func replyFaults() []Animal {
	return []Animal{
		{
			Name: "refusals-drain-the-pool", Clause: "ERR-7",
			Kinds:  []string{"B040"},
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
		sentinel("refusal-says-lost", "EXCL-1", "A refused Acquire says ErrLost.", lease.ErrHeld, lease.ErrLost),
		sentinel("loss-says-held", "RENEW-5", "A refused Renew says ErrHeld.", lease.ErrLost, lease.ErrHeld),
		sentinel("loss-says-not-held", "RENEW-5", "A refused Renew says ErrNotHeld.", lease.ErrLost, lease.ErrNotHeld),
		sentinel("loss-says-invalid", "ERR-7", "A refused Renew says ErrInvalid.", lease.ErrLost, lease.ErrInvalid),
		sentinel("refusal-says-no-word", "ERR-7", "A refused Acquire gives an error that is none of the sentinels.", lease.ErrHeld, errors.New("lock not obtained")),
		{
			Name: "sentinels-joined", Clause: "ERR-7",
			Fault: "The error of a refused Acquire is all sentinels at once.",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						err = errors.Join(lease.ErrHeld, lease.ErrLost, lease.ErrNotHeld)
					}
					return l, err
				}
			}),
		},
		{
			Name: "success-without-lease", Clause: "ERR-8",
			Fault: "Renew returns nil and the zero Lease.",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					_, err := renew(c, l, ttl)
					return lease.Lease{}, err
				}
			}),
		},
	}
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

// sentinel gives another error in place of a sentinel.
func sentinel(name, clause, fault string, in, out error) Animal {
	return Animal{
		Name: name, Clause: clause, Fault: fault,
		Open: bred(func(r *rules) {
			instead := func(err error) error {
				if errors.Is(err, in) {
					return out
				}
				return err
			}
			r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
				l, err := acquire(c, holder, ttl)
				return l, instead(err)
			}
			r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
				renewed, err := renew(c, l, ttl)
				return renewed, instead(err)
			}
		}),
	}
}
