package zoo

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/leasekit/lease"
)

// renewFaults break the renewal of the live grant.
func renewFaults() []Animal {
	return []Animal{
		{
			Name: "renew-only-lengthens", Clause: "RENEW-1",
			Fault: "Renew never makes the expiry earlier.",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					if c.name == renewing {
						return max(c.rec.expires, expiry(c, ttl))
					}
					return expiry(c, ttl)
				}
			}),
		},
		{
			Name: "renew-adds-to-the-rest", Clause: "RENEW-1",
			Fault: "Renew adds the ttl to the old expiry instead of to the present time.",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					if c.name == renewing {
						return c.rec.expires + ttl.Milliseconds()
					}
					return expiry(c, ttl)
				}
			}),
		},
		{
			Name: "renew-ignores-ttl", Clause: "RENEW-1",
			Fault: "Renew takes the ttl of the Acquire again, whatever it is given.",
			Open: bred(func(r *rules) {
				asked := map[*record]time.Duration{}
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := grant(c, holder, ttl)
					asked[c.rec] = ttl
					return l, err
				}
				r.renew = func(c *call, l lease.Lease, _ time.Duration) (lease.Lease, error) { return renew(c, l, asked[c.rec]) }
			}),
		},
		{
			Name: "renew-answers-only", Clause: "RENEW-1",
			Fault: "Renew answers with the new expiry, and does not write it.",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if !r.renewable(c, l) {
						return lease.Lease{}, lease.ErrLost
					}
					renewed := show(c)
					renewed.ExpiresAt = time.UnixMilli(expiry(c, ttl)).UTC()
					return renewed, nil
				}
			}),
		},
		{
			Name: "renewed-has-no-end", Clause: "RENEW-1",
			Fault:  "The heartbeat overwrites the expiry with null, and a record without expiry never ends.",
			Kinds:  []string{"B062"},
			Source: "https://github.com/electric-sql/electric/pull/4353",
			Open: bred(func(r *rules) {
				endless := map[*record]bool{}
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					renewed, err := renew(c, l, ttl)
					endless[c.rec] = endless[c.rec] || err == nil
					return renewed, err
				}
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					delete(endless, c.rec)
					return grant(c, holder, ttl)
				}
				r.live = func(c *call) bool { return live(c) || c.rec != nil && !c.rec.released && endless[c.rec] }
			}),
		},
		{
			Name: "renew-counts-changed-rows", Clause: "RENEW-6",
			Fault:  "A renewal that writes what was there already changes no row, and is taken for a loss.",
			Kinds:  []string{"B128"},
			Source: "https://github.com/liquibase/liquibase/issues/5502",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if !r.renewable(c, l) {
						return lease.Lease{}, lease.ErrLost
					}
					before := c.rec.expires
					renewed, err := renew(c, l, ttl)
					if c.rec.expires == before {
						return lease.Lease{}, lease.ErrLost
					}
					return renewed, err
				}
			}),
		},
		{
			Name: "renew-compares-expiry", Clause: "RENEW-7",
			Fault:  "The expiry serves as the version of the record: a lease from before the last renewal is taken for lost.",
			Kinds:  []string{"B100"},
			Source: "https://github.com/akkadotnet/Akka.Management/pull/3418",
			Open: bred(func(r *rules) {
				r.renewable = func(c *call, l lease.Lease) bool {
					return c.matches(l) && live(c) && l.ExpiresAt.Equal(time.UnixMilli(c.rec.expires))
				}
			}),
		},
		{
			Name: "one-loss-and-never-again", Clause: "ERR-7",
			Fault:  "A client that was once told of a loss remembers it, and takes no key any more.",
			Kinds:  []string{"B086"},
			Source: "https://github.com/no-human-ai/no_human/issues/222",
			Open:   bred(func(r *rules) { r.service = func(w *worker) lease.Service { return &bitter{worker: w} } }),
		},
	}
}

var errGaveUp = errors.New("this client has lost its lease")

// bitter is a client that gives up after its first loss.
type bitter struct {
	*worker
	lost atomic.Bool
}

func (b *bitter) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	renewed, err := b.worker.Renew(ctx, l, ttl)
	if errors.Is(err, lease.ErrLost) {
		b.lost.Store(true)
	}
	return renewed, err
}

func (b *bitter) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if err := lease.CheckAcquire(key, holder, ttl); err == nil && b.lost.Load() {
		return lease.Lease{}, errGaveUp
	}
	return b.worker.Acquire(ctx, key, holder, ttl)
}
