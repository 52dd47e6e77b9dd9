package zoo

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/leasekit/lease"
)

// raceFaults break when calls meet.
func raceFaults() []Animal {
	return []Animal{
		{
			Name: "check-then-set", Clause: "EXCL-3",
			Fault:  "Acquire looks whether the key is free and writes the grant in two steps, and others get in between.",
			Kinds:  []string{"B026", "B131"},
			Source: "https://github.com/laravel/framework/issues/43627",
			Open: bred(func(r *rules) {
				r.grant = pausedGrant(func(*call) bool { return true })
			}),
		},
		{
			Name: "first-acquire-race", Clause: "EXCL-3",
			Fault:  "The row lock that makes Acquire one step does not exist while the row does not.",
			Kinds:  []string{"B070"},
			Source: "https://github.com/alphaonedev/ai-memory-mcp/issues/2310",
			Open: bred(func(r *rules) {
				r.grant = pausedGrant(func(c *call) bool { return c.rec == nil })
			}),
		},
		{
			Name: "takeover-race", Clause: "EXCL-3",
			Fault:  "The takeover of a record that is over deletes and inserts, so that a slow contender deletes the winner's grant.",
			Kinds:  []string{"B027", "B068"},
			Source: "https://github.com/Extra-Chill/data-machine/pull/3080",
			Open: bred(func(r *rules) {
				r.grant = pausedGrant(func(c *call) bool { return c.rec != nil })
			}),
		},
		{
			Name: "conflict-counts-as-grant", Clause: "EXCL-3",
			Fault:  "Who meets another's write in the middle of a grant is told that the key is its own, before it has tried again.",
			Kinds:  []string{"B033"},
			Source: "https://github.com/apache/pekko-management/pull/911",
			Open: bred(func(r *rules) {
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					before := c.counter()
					c.pause()
					if c.counter() == before {
						return grant(c, holder, ttl)
					}
					l := show(c)
					l.Holder, l.Token, l.ExpiresAt = holder, before+1, time.UnixMilli(expiry(c, ttl)).UTC()
					return l, nil
				}
			}),
		},
		{
			Name: "placeholder-then-value", Clause: "EXCL-5",
			Fault:  "Acquire takes a placeholder that lets nobody else in, and then writes holder and token whatever happened since.",
			Kinds:  []string{"B129"},
			Source: "https://github.com/aprin-labs/archimedes/pull/1046",
			Open: bred(func(r *rules) {
				r.again = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					was := *c.rec
					c.pause()
					*c.rec = was
					return again(c, holder, ttl)
				}
			}),
		},
		{
			Name: "release-in-two-steps", Clause: "EXCL-5",
			Fault:  "Release compares the owner and deletes in two steps, so that it frees what somebody else got in between.",
			Kinds:  []string{"B016"},
			Source: "https://github.com/eclipse-leshan/leshan/pull/837",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if !c.matches(l) {
						return nil
					}
					c.pause()
					c.rec.released = true
					return nil
				}
			}),
		},
		{
			Name: "renew-in-two-steps", Clause: "EXCL-5",
			Fault:  "Renew reads the record, and writes it back whole with the new expiry, over what others wrote in between.",
			Kinds:  []string{"B067"},
			Source: "https://github.com/garrytan/gbrain/pull/2093",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if !r.renewable(c, l) {
						return lease.Lease{}, lease.ErrLost
					}
					c.pause()
					c.rec.holder, c.rec.token = l.Holder, l.Token
					c.extend(ttl)
					return show(c), nil
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
			Name: "token-drawn-before-lock", Clause: "TOKEN-7",
			Fault: "The token is drawn from a sequence before the wait for the lock: no two are the same, and a grant that waited longer has a lower one than the grant before it.",
			Open: bred(func(r *rules) {
				drawn := map[string]int64{}
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					last := max(drawn[c.id], c.counter())
					if last < math.MaxInt64 {
						drawn[c.id] = last + 1
					}
					c.seen = last + 1
					c.pause()
					return acquire(c, holder, ttl)
				}
				r.token = func(c *call) (int64, error) {
					if c.seen <= 0 {
						return 0, errExhausted
					}
					return c.seen, nil
				}
			}),
		},
		{
			Name: "conflicts-surface", Clause: "ERR-7",
			Fault:  "Calls that meet in the store are not serialized: one of them fails with a conflict, and nobody tries again.",
			Kinds:  []string{"B072"},
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
	}
}

// pausedGrant lets others in between judgement and grant, where when says so.
func pausedGrant(when func(c *call) bool) func(*call, string, time.Duration) (lease.Lease, error) {
	return func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
		if when(c) {
			c.pause()
		}
		return grant(c, holder, ttl)
	}
}
