package zoo

import (
	"math"
	"time"

	"github.com/leasekit/lease"
)

// tokenFaults break the fencing tokens.
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
			Fault:  "A holder that comes back within an hour of its expiry goes on under its old token.",
			Source: "https://github.com/sliceworkz/eventstore/pull/176",
			Open: bred(func(r *rules) {
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					if calm(c) && c.rec.holder == holder && lapsed(c, time.Hour) {
						return again(c, holder, ttl)
					}
					return grant(c, holder, ttl)
				}
			}),
		},
		{
			Name: "takeover-keeps-token", Clause: "TOKEN-2",
			Fault: "Who takes over an expired lease within an hour takes its token over too.",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if midway(c) && calm(c) && lapsed(c, time.Hour) {
						return c.rec.token, nil
					}
					return nextToken(c)
				}
			}),
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
		{
			Name: "release-deletes-counter", Clause: "TOKEN-4",
			Fault:  "The counter stands in the record of the lease, and Release deletes that.",
			Source: "https://github.com/OpenZeppelin/guardian/pull/301",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) && midway(c) {
						delete(c.s.records, c.id)
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "cleanup-forgets-released", Clause: "TOKEN-4",
			Fault:  "Records that were released more than five minutes ago are cleaned up, and their counters with them.",
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
					if ok && midway(c) && calm(c) && c.now.Sub(at) > 5*time.Minute && c.now.Sub(c.rec.written) < halfDay {
						return 1, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "counter-forgotten-after-a-year", Clause: "TOKEN-5",
			Fault:  "The counter has a long expiry of its own: after a year without a grant it starts anew.",
			Source: "https://github.com/bluetape4k/bluetape4k-projects/pull/1069",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if midway(c) && lapsed(c, math.MaxInt64) && c.now.UnixMilli()-c.rec.expires > 365*24*time.Hour.Milliseconds() {
						return 1, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "expiry-deletes-counter", Clause: "TOKEN-5",
			Fault:  "The store's own expiry is set on the record that carries the counter, and takes it away after an hour.",
			Source: "https://github.com/mongoid/mongoid-locker/pull/92",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if midway(c) && lapsed(c, math.MaxInt64) && !lapsed(c, time.Hour) {
						return 1, nil
					}
					return nextToken(c)
				}
			}),
		},
		{
			Name: "counter-read-before-lock", Clause: "TOKEN-7",
			Fault:  "The next token is chosen before the wait for the lock, so that two grants of a race share it.",
			Source: "https://github.com/mlflow/mlflow/pull/25199",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					c.seen = c.counter()
					c.pause()
					return acquire(c, holder, ttl)
				}
				r.token = func(c *call) (int64, error) {
					if c.seen == math.MaxInt64 {
						return 0, errExhausted
					}
					return c.seen + 1, nil
				}
			}),
		},
		{
			Name: "counter-is-a-double", Clause: "TOKEN-8",
			Fault:  "The counter is counted in floating point, which does not move on by one beyond 2^53.",
			Source: "https://github.com/redis/redis/issues/3224",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					if c.counter() > 1<<62 { // its end is a matter of TOKEN-9
						return nextToken(c)
					}
					return int64(float64(c.counter()) + 1), nil
				}
			}),
		},
		{
			Name: "token-replied-as-double", Clause: "TOKEN-8",
			Fault:  "The store counts right, but its replies carry the token as a floating point number.",
			Source: "https://github.com/redis/redis/issues/7520",
			Open: bred(func(r *rules) {
				r.show = func(c *call) lease.Lease {
					l := show(c)
					if l.Token < 1<<62 {
						l.Token = int64(float64(l.Token))
					}
					return l
				}
			}),
		},
		{
			Name: "counter-wraps", Clause: "TOKEN-9",
			Fault:  "After the largest token comes the smallest.",
			Source: "https://github.com/mendersoftware/mender-server/pull/781",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) { return c.counter() + 1, nil }
			}),
		},
		{
			Name: "counter-saturates", Clause: "TOKEN-9",
			Fault:  "A counter at its end stays there, and gives the last token again and again.",
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
			Name: "exhausted-but-written", Clause: "TOKEN-9",
			Fault: "A counter at its end gives an error after the new holder was written into the record.",
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

// midway reports whether the counter stands where a fault in it is plain: past
// the first token, which a holder may be given again (TOKEN-2) or be given by
// a counter that starts anew (TOKEN-4, -5), and far from those that TOKEN-8
// and -9 are about.
func midway(c *call) bool { return 1 < c.counter() && c.counter() < 1<<40 }
