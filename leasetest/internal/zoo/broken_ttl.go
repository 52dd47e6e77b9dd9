package zoo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
)

// century is where a ttl becomes a case of ARG-3.
const century = 100 * 365 * 24 * time.Hour

// ttlFaults break the limits of the ttl.
func ttlFaults() []Animal {
	return []Animal{
		{
			Name: "tiny-ttl-underflows", Clause: "ARG-2",
			Fault: "A millisecond of drift is taken off a new grant's ttl in an unsigned number, which wraps for what is shorter.",
			Kinds: []string{"B060"},
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					if c.fresh && ttl < time.Millisecond {
						return expiry(c, century)
					}
					return expiry(c, ttl)
				}
			}),
		},
		{
			Name: "tiny-ttl-becomes-zero", Clause: "ARG-2",
			Kinds:  []string{"B127"},
			Fault:  "A ttl below a millisecond is cut to 0, and the lease is over when it is granted.",
			Source: "https://github.com/riido-git/locksmith/issues/12",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					if c.fresh && ttl < time.Millisecond {
						return c.now.UnixMilli()
					}
					return expiry(c, ttl)
				}
			}),
		},
		{
			Name: "zero-ttl-means-default", Clause: "ARG-2",
			Fault: "Acquire takes a ttl of 0 for the default of 30 seconds.",
			Open: bred(func(r *rules) {
				r.checkAcquire = func(key, holder string, ttl time.Duration) error {
					return lease.CheckAcquire(key, holder, max(ttl, ttl+1))
				}
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					if ttl == 0 {
						ttl = 30 * time.Second
					}
					return acquire(c, holder, ttl)
				}
			}),
		},
		{
			Name: "negative-ttl-taken", Clause: "ARG-2",
			Kinds:  []string{"B058"},
			Fault:  "Acquire takes a negative ttl, for a lease that is over when it is granted.",
			Source: "https://github.com/auula/urnadb/pull/30",
			Open: bred(func(r *rules) {
				r.checkAcquire = func(key, holder string, ttl time.Duration) error {
					if ttl < 0 {
						ttl = 1
					}
					return lease.CheckAcquire(key, holder, ttl)
				}
				r.expiry = overAtOnce
			}),
		},
		{
			Name: "renew-with-zero-frees", Clause: "ARG-2",
			Kinds:  []string{"B056"},
			Fault:  "Renew with a ttl of 0 or less ends the lease and reports success.",
			Source: "https://github.com/redis/redis-py/issues/4279",
			Open: bred(func(r *rules) {
				r.checkRenew = func(l lease.Lease, _ time.Duration) error { return lease.CheckLease(l) }
				r.expiry = overAtOnce
			}),
		},
		longTTL("ttl-overflows", "Now and ttl are added in nanoseconds since 1970, which overflows for a ttl of centuries.",
			"https://github.com/data-accelerator/dart/issues/5",
			func(c *call, ttl time.Duration) int64 { return (c.now.UnixNano() + int64(ttl)) / 1e6 }),
		longTTL("ttl-capped", "A ttl of more than a century is silently cut to one.",
			"https://github.com/recallnet/ipc/issues/477",
			func(c *call, ttl time.Duration) int64 { return expiry(c, min(ttl, century)) }),
		longTTL("ttl-capped-at-a-month", "A ttl of more than 30 days is silently cut to that.",
			"https://github.com/recallnet/ipc/issues/477",
			func(c *call, ttl time.Duration) int64 { return expiry(c, min(ttl, 30*24*time.Hour)) }),
		longTTL("ttl-in-32-bits", "The ttl is counted in milliseconds in 32 bits, which is enough for 24 days.", "",
			func(c *call, ttl time.Duration) int64 {
				return expiry(c, time.Duration(int32(ttl.Milliseconds()))*time.Millisecond)
			}),
		{
			Name: "long-ttl-refused", Clause: "ARG-3",
			Fault: "A ttl of more than a century is invalid, without a word about it in the harness.",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					if ttl > century {
						return lease.Lease{}, fmt.Errorf("%w: the ttl is %v, want %v at most", lease.ErrInvalid, ttl, century)
					}
					return acquire(c, holder, ttl)
				}
			}),
		},
		{
			Name: "invalid-renew-frees", Clause: "ARG-4",
			Kinds:  []string{"B056"},
			Fault:  "Renew with a ttl of 0 or less is refused as invalid, after the lease was ended.",
			Source: "https://github.com/redis/redis-py/pull/4286",
			Open: bred(func(r *rules) {
				r.service = func(w *worker) lease.Service { return invalidRenewFrees{w} }
			}),
		},
		{
			Name: "invalid-acquire-grants", Clause: "ARG-4",
			Kinds:  []string{"B058"},
			Fault:  "Acquire with a ttl of 0 or less is refused as invalid, after the key was taken.",
			Source: "https://github.com/auula/urnadb/pull/30",
			Open: bred(func(r *rules) {
				r.service = func(w *worker) lease.Service { return invalidAcquireGrants{w} }
			}),
		},
	}
}

// longTTL breaks ARG-3: a new grant for more than a week ends when ends says.
func longTTL(name, fault, source string, ends func(c *call, ttl time.Duration) int64) Animal {
	return Animal{
		Name: name, Clause: "ARG-3", Fault: fault, Source: source, Kinds: []string{"B059"},
		Open: bred(func(r *rules) {
			r.expiry = func(c *call, ttl time.Duration) int64 {
				if c.fresh && ttl > 7*24*time.Hour {
					return ends(c, ttl)
				}
				return expiry(c, ttl)
			}
		}),
	}
}

// overAtOnce ends a grant whose ttl is 0 or less in the present millisecond.
func overAtOnce(c *call, ttl time.Duration) int64 {
	if ttl <= 0 {
		return c.now.UnixMilli()
	}
	return expiry(c, ttl)
}

type invalidRenewFrees struct{ *worker }

func (w invalidRenewFrees) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if ttl <= 0 && lease.CheckLease(l) == nil {
		if err := w.Release(ctx, l); err != nil {
			return lease.Lease{}, err
		}
	}
	return w.worker.Renew(ctx, l, ttl)
}

type invalidAcquireGrants struct{ *worker }

func (w invalidAcquireGrants) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if ttl <= 0 && lease.CheckAcquire(key, holder, 1) == nil {
		if _, err := w.worker.Acquire(ctx, key, holder, time.Minute); err != nil && !errors.Is(err, lease.ErrHeld) {
			return lease.Lease{}, err
		}
	}
	return w.worker.Acquire(ctx, key, holder, ttl)
}
