package zoo

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// tokenFaults break the order of fencing tokens, while the counter is kept.
func tokenFaults() []Animal {
	return []Animal{
		{
			Name: "token-from-zero", Clause: "TOKEN-1",
			Fault: "The first token of a key is 0.",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if c.rec == nil {
						return 0, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "same-holder-keeps-token", Clause: "TOKEN-2",
			Fault:  "A holder that comes back after its expiry, be it as a new process, goes on under its old token.",
			Kinds:  []string{"B002", "B004", "B031"},
			Source: "https://github.com/sliceworkz/eventstore/pull/176",
			Open: bred(func(r *rules) {
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					if lapsed(c) && c.rec.holder == holder {
						return again(c, holder, ttl)
					}
					return grant(c, holder, ttl)
				}
			}),
		},
		{
			Name: "takeover-keeps-token", Clause: "TOKEN-2",
			Fault: "Who takes over an expired lease takes its token over too.",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if lapsed(c) && c.counter() > 0 {
						return c.rec.token, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "random-tokens", Clause: "TOKEN-2",
			Fault:  "Tokens are random: no two are the same, and they have no order.",
			Kinds:  []string{"B005"},
			Source: "https://github.com/constructorfabric/gears-rust/pull/4863",
			Unseen: []string{"TOKEN-8", "TOKEN-9"},
			Open: declaring(bred(func(r *rules) {
				// The same ones in each run, so that each is caught alike.
				random := rand.New(rand.NewPCG(1, 2))
				r.token = func(*call) (int64, error) { return 1 + random.Int64N(math.MaxInt64), nil }
			}), func(h *leasetest.Harness) { h.SeedToken = nil }),
		},
		{
			Name: "token-per-client", Clause: "TOKEN-2",
			Fault:  "Each client has one token, for all its keys and grants.",
			Kinds:  []string{"B011"},
			Source: "https://github.com/OptimalBits/bull/issues/308",
			Unseen: []string{"TOKEN-8", "TOKEN-9"},
			Open: declaring(bred(func(r *rules) {
				r.token = func(c *call) (int64, error) { return int64(c.w.id), nil }
			}), func(h *leasetest.Harness) { h.SeedToken = nil }),
		},
		{
			Name: "token-blocks", Clause: "TOKEN-2",
			Fault:  "Each client takes its tokens from a block of 50 of its own, as from a sequence with a cache.",
			Kinds:  []string{"S004"},
			Unseen: []string{"TOKEN-8", "TOKEN-9"},
			Open: declaring(bred(func(r *rules) {
				const size = 50
				taken, next := int64(0), map[*worker]int64{}
				r.token = func(c *call) (int64, error) {
					if next[c.w]%size == 0 {
						next[c.w], taken = taken, taken+size
					}
					next[c.w]++
					return next[c.w], nil
				}
			}), func(h *leasetest.Harness) { h.SeedToken = nil }),
		},
		{
			Name: "renew-bumps-token", Clause: "TOKEN-3",
			Fault:  "Each renewal raises the token of the grant.",
			Source: "https://github.com/bsm/redislock/pull/94",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					renewed, err := renew(c, l, ttl)
					if err == nil && c.rec.token < math.MaxInt64 {
						c.rec.token++
						renewed.Token++
					}
					return renewed, err
				}
			}),
		},
	}
}
