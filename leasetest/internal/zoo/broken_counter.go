package zoo

import (
	"math"
	"strconv"
	"time"

	"github.com/leasekit/lease"
)

// counterFaults break the counter that the tokens come from.
func counterFaults() []Animal {
	return []Animal{
		{
			Name: "release-deletes-counter", Clause: "TOKEN-4",
			Fault:  "The counter stands in the record of the lease, and Release deletes that.",
			Kinds:  []string{"B001"},
			Source: "https://github.com/OpenZeppelin/guardian/pull/301",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) {
						delete(c.s.records, c.id)
					}
					return nil
				}
			}),
		},
		{
			Name: "cleanup-forgets-released", Clause: "TOKEN-4",
			Fault:  "Records that were released more than five minutes ago are cleaned up, and their counters with them.",
			Kinds:  []string{"B096"},
			Source: "https://github.com/grafana/grafana/pull/124862",
			Open: bred(func(r *rules) {
				released := map[*record]time.Time{}
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) {
						released[c.rec] = c.now
					}
					return release(c, l)
				}
				r.token = func(c *call) (int64, error) {
					at, ok := released[c.rec]
					delete(released, c.rec)
					if ok && c.now.Sub(at) > 5*time.Minute {
						return 1, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "old-records-make-room", Clause: "TOKEN-4",
			Fault: "The store keeps a thousand records: what is free makes room for what is new, counters included.",
			Kinds: []string{"S031"},
			Open: bred(func(r *rules) {
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					if c.rec == nil && len(c.s.records) >= 1000 {
						for id, rec := range c.s.records {
							if rec.released && rec.token < 1<<40 {
								delete(c.s.records, id)
							}
						}
					}
					return grant(c, holder, ttl)
				}
			}),
		},
		{
			Name: "counter-forgotten-after-a-year", Clause: "TOKEN-5",
			Fault:  "The counter has a long expiry of its own: after a year without a grant it starts anew.",
			Kinds:  []string{"B009"},
			Source: "https://github.com/bluetape4k/bluetape4k-projects/pull/1069",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if c.rec != nil && !c.rec.written.IsZero() && c.now.Sub(c.rec.written) > 365*24*time.Hour {
						return 1, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "expiry-deletes-counter", Clause: "TOKEN-5",
			Fault:  "The store's own expiry is set on the record that carries the counter, and takes it away with the lease.",
			Kinds:  []string{"B095"},
			Along:  []string{"TOKEN-2"},
			Nature: "a reset after the first grant looks like its token given again",
			Source: "https://github.com/mongoid/mongoid-locker/pull/92",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if lapsed(c) {
						return 1, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "counter-wraps-at-100", Clause: "TOKEN-2",
			Fault: "The counter is a number of two digits.",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if c.counter() == 99 {
						return 1, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "counter-is-a-double", Clause: "TOKEN-8",
			Fault:  "The counter is counted in floating point, which does not move on by one beyond 2^53.",
			Kinds:  []string{"S022"},
			Source: "https://github.com/redis/redis/issues/3224",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) { return int64(float64(c.counter()) + 1), nil }
			}),
		},
		{
			Name: "token-replied-as-double", Clause: "TOKEN-8",
			Fault:  "The store counts right, but its replies carry the token as a floating point number.",
			Kinds:  []string{"S022"},
			Source: "https://github.com/redis/redis/issues/7520",
			Open: bred(func(r *rules) {
				r.show = func(c *call) lease.Lease {
					l := show(c)
					l.Token = int64(float64(l.Token))
					return l
				}
			}),
		},
		{
			Name: "token-in-14-digits", Clause: "TOKEN-8",
			Fault:  "The token is written with 14 digits and an exponent, as Lua writes numbers.",
			Kinds:  []string{"B125"},
			Source: "https://github.com/redis/redis/issues/3224",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					next, err := nextToken(c)
					if err != nil {
						return 0, err
					}
					n, err := strconv.ParseFloat(strconv.FormatFloat(float64(next), 'g', 14, 64), 64)
					return int64(n), err
				}
			}),
		},
		{
			Name: "counter-is-32-bits", Clause: "TOKEN-8",
			Fault:  "The counter is kept in 32 bits: what is larger is cut.",
			Kinds:  []string{"S023"},
			Source: "https://github.com/mendersoftware/mender-server/pull/781",
			Open: bred(func(r *rules) {
				r.seed = func(s *store, id string, token int64) { seed(s, id, token&math.MaxInt32) }
			}),
		},
		{
			Name: "counter-wraps", Clause: "TOKEN-9",
			Fault:  "After the largest token comes the smallest.",
			Kinds:  []string{"S023"},
			Source: "https://github.com/mendersoftware/mender-server/pull/781",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) { return c.counter() + 1, nil }
			}),
		},
		{
			Name: "counter-saturates", Clause: "TOKEN-9",
			Fault:  "A counter at its end stays there, and gives the last token again and again.",
			Kinds:  []string{"S023"},
			Source: "https://github.com/bluetape4k/bluetape4k-projects/pull/1069",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if c.counter() == math.MaxInt64 {
						return math.MaxInt64, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "counter-ends-in-held", Clause: "TOKEN-9",
			Fault: "A counter at its end answers as if somebody held the key.",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if c.counter() == math.MaxInt64 {
						return 0, lease.ErrHeld
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "exhausted-but-written", Clause: "TOKEN-9",
			Fault: "A counter at its end gives an error after the new holder was written into the record.",
			Kinds: []string{"S023"},
			Open: bred(func(r *rules) {
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := grant(c, holder, ttl)
					if err != nil {
						c.begin(holder, math.MaxInt64, ttl)
					}
					return l, err
				}
			}),
		},
	}
}
