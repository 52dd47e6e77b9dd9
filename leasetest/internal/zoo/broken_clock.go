package zoo

import (
	"time"

	"github.com/leasekit/lease"
)

// clockFaults break whose clock counts, and what its steps do.
func clockFaults() []Animal {
	return []Animal{
		{
			Name: "worker-clock-writes", Clause: "EXPIRY-4",
			Fault:  "The expiry is reckoned on the worker's clock.",
			Kinds:  []string{"B042"},
			Source: "https://github.com/lukas-krecan/ShedLock/issues/231",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 { return expiry(c.onWorkerClock(), ttl) }
			}),
		},
		{
			Name: "worker-clock-judges", Clause: "EXPIRY-4",
			Fault:  "Whether a lease is live is judged by the worker's clock.",
			Kinds:  []string{"B042"},
			Source: "https://github.com/lukas-krecan/ShedLock/issues/639",
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool { return live(c.onWorkerClock()) }
			}),
		},
		{
			Name: "worker-clock-reports", Clause: "EXPIRY-4",
			Fault:  "The store judges by its own clock, and the reply says the worker's time plus the ttl.",
			Kinds:  []string{"B054", "S016"},
			Source: "https://github.com/grafana/grafana/pull/123860",
			Open: bred(func(r *rules) {
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := grant(c, holder, ttl)
					if err == nil {
						l.ExpiresAt = time.UnixMilli(expiry(c.onWorkerClock(), ttl)).UTC()
					}
					return l, err
				}
			}),
		},
		{
			Name: "worker-clock-steals", Clause: "EXPIRY-4",
			Fault:  "Another holder gets the key once its own clock is past the expiry, while the holder's renewals go by the store's.",
			Kinds:  []string{"B042"},
			Source: "https://github.com/lukas-krecan/ShedLock/issues/1439",
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && !c.onWorkerClock().now.After(time.UnixMilli(c.rec.expires))
				}
			}),
		},
		{
			Name: "clock-made-tokens", Clause: "EXPIRY-7",
			Fault: "Tokens are made of the server clock, and go down when it steps back.",
			Kinds: []string{"S032"},
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					next, err := nextToken(c)
					if c.rec != nil && c.now.Before(c.rec.granted) {
						return c.now.UnixMicro(), nil
					}
					return max(next, c.now.UnixMicro()), err
				}
			}),
		},
		{
			Name: "grant-from-the-future-is-void", Clause: "EXPIRY-7",
			Fault: "A grant made later than the server clock now shows is taken for void, and another holder gets the key.",
			Kinds: []string{"S032"},
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && !c.now.Before(c.rec.written)
				}
			}),
		},
		{
			Name: "step-back-loses-the-lease", Clause: "EXPIRY-7",
			Fault: "Renew of a grant made later than the server clock now shows is refused as lost.",
			Kinds: []string{"S032"},
			Open: bred(func(r *rules) {
				r.renewable = func(c *call, l lease.Lease) bool {
					return c.matches(l) && live(c) && !c.now.Before(c.rec.written)
				}
			}),
		},
	}
}

// onWorkerClock is the call as one sees it who takes the calling worker's wall
// clock for the server's. A worker that runs on the machine's clock counts as
// right; in a testing/synctest bubble it is off by decades.
func (c *call) onWorkerClock() *call {
	off := time.Now().Round(0).Sub(machineStart)
	if off >= 0 && off < 24*time.Hour {
		off = 0
	}
	seen := *c
	seen.now = c.now.Add(off)
	return &seen
}

// machineStart tells a worker's clock that is right from one that is not.
var machineStart = time.Now().Round(0)
