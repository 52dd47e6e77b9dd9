package zoo

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// Odd returns backends that differ from the base in what the contract leaves
// open, or in figures that they declare. The suite has to pass them.
func Odd() []Animal {
	return []Animal{
		{
			Name:   "gaps-in-tokens",
			Fault:  "Tokens rise by random steps.",
			Source: "https://github.com/redisson/redisson/issues/6510",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					left := math.MaxInt64 - c.counter()
					if left == 0 {
						return 0, errExhausted
					}
					return c.counter() + 1 + rand.Int64N(min(left, 1000)), nil
				}
			}),
		},
		{
			Name:  "one-counter",
			Fault: "All keys take their tokens from one counter.",
			Open: bred(func(r *rules) {
				all := &call{rec: &record{}}
				r.token = func(*call) (int64, error) {
					token, err := nextToken(all)
					if err == nil {
						all.rec.token = token
					}
					return token, err
				}
				r.seed = func(_ *store, _ string, token int64) { all.rec.token = max(all.rec.token, token) }
			}),
		},
		{
			Name:  "refusals-burn-tokens",
			Fault: "A refused Acquire raises the counter too, and nobody gets that token.",
			Open: bred(func(r *rules) {
				burnt := map[*record]int64{}
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) && c.rec.token+burnt[c.rec] < math.MaxInt64-1 {
						burnt[c.rec]++
					}
					return l, err
				}
				r.token = func(c *call) (int64, error) {
					token, err := nextToken(c)
					if err == nil {
						token += burnt[c.rec]
						delete(burnt, c.rec)
					}
					return token, err
				}
			}),
		},
		{
			Name:  "tokens-start-near-2-to-53",
			Fault: "The first token is just below 2^53.",
			Open:  bred(func(r *rules) { r.token = tokensFrom(1<<53 - 2) }),
		},
		{
			Name:  "tokens-start-at-1e15",
			Fault: "The first token is 10^15.",
			Open:  bred(func(r *rules) { r.token = tokensFrom(1e15) }),
		},
		{
			Name:  "tokens-start-at-1e18",
			Fault: "The first token is 10^18.",
			Open:  bred(func(r *rules) { r.token = tokensFrom(1e18) }),
		},
		{
			Name:  "clock-made-rising-tokens",
			Fault: "Tokens are made of the server clock, and of the last token where the clock has not moved on.",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					token, err := nextToken(c)
					return max(token, c.now.UnixMicro()), err
				}
			}),
		},
		{
			Name:   "cannot-be-seeded",
			Fault:  "Nobody but the backend can set its counters.",
			Unseen: []string{"TOKEN-8", "TOKEN-9"},
			Open:   declaring(Base().Open, func(h *leasetest.Harness) { h.SeedToken = nil }),
		},
		{
			Name:   "one-client-for-all",
			Fault:  "All workers of a namespace share one client.",
			Unseen: []string{"ERR-1", "ERR-4"},
			Open:   declaring(Base().Open, shareClients),
		},
		{
			Name:   "refuses-a-bubble",
			Fault:  "Its client can't live where time is not the machine's.",
			Unseen: []string{"EXPIRY-4"},
			Open:   declaring(Base().Open, refuseBubbles),
		},
		{
			Name:  "slow",
			Fault: "Every call takes a tenth of a millisecond.",
			Open:  declaring(Base().Open, slowDown),
		},
		{
			Name:  "whole-seconds",
			Fault: "Expiry is kept in whole seconds, and the harness says so.",
			Open: declaring(bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 { return (expiry(c, ttl) + 999) / 1000 * 1000 }
			}), func(h *leasetest.Harness) { h.Resolution = time.Second }),
		},
		{
			Name:  "tenths-of-seconds",
			Fault: "Expiry is kept in tenths of seconds, and the harness says so.",
			Open: declaring(bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 { return (expiry(c, ttl) + 99) / 100 * 100 }
			}), func(h *leasetest.Harness) { h.Resolution = 100 * time.Millisecond }),
		},
		{
			Name:   "clock-cannot-be-moved",
			Fault:  "The server clock runs on, and nobody can move it; the harness only reads it.",
			Unseen: []string{"TOKEN-5", "EXPIRY-2", "EXPIRY-4", "EXPIRY-6", "EXPIRY-7"},
			Open: func(testing.TB) *leasetest.Harness {
				s := newStore(baseRules())
				s.opened = time.Now()
				h := s.harness()
				h.Clock.Move, h.Clock.Freeze = nil, nil
				return h
			},
		},
		{
			Name:  "min-ttl",
			Fault: "No lease is shorter than a second, and the harness says so.",
			Open: declaring(bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 { return expiry(c, max(ttl, time.Second)) }
			}), func(h *leasetest.Harness) { h.MinTTL = time.Second }),
		},
		{
			Name:  "max-ttl",
			Fault: "A ttl of more than a day is invalid, and the harness says so.",
			Open: declaring(bred(func(r *rules) {
				const longest = 24 * time.Hour
				check := func(err error, ttl time.Duration) error {
					if err == nil && ttl > longest {
						return fmt.Errorf("%w: the ttl is %v, want %v at most", lease.ErrInvalid, ttl, longest)
					}
					return err
				}
				r.checkAcquire = func(key, holder string, ttl time.Duration) error {
					return check(lease.CheckAcquire(key, holder, ttl), ttl)
				}
				r.checkRenew = func(l lease.Lease, ttl time.Duration) error { return check(lease.CheckRenew(l, ttl), ttl) }
			}), func(h *leasetest.Harness) { h.MaxTTL = 24 * time.Hour }),
		},
		{
			Name:  "frees-late",
			Fault: "An expired key is in the way of other holders for up to 5 ms more, and the harness says so.",
			Open: declaring(bred(func(r *rules) {
				r.blocked = func(c *call, holder string, _ time.Duration) bool { return lags(c) && c.rec.holder != holder }
			}), declareLag),
		},
		{
			Name:  "ends-late",
			Fault: "A lease goes on for up to 5 ms after its expiry, for every call, and the harness says so.",
			Open:  declaring(bred(func(r *rules) { r.live = lags }), declareLag),
		},
		{
			Name:  "forgets-expired-at-once",
			Fault: "Each call ends for good what has expired, so that a clock that steps back brings nothing back.",
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool {
					for _, rec := range c.s.records {
						rec.released = rec.released || rec.expires <= c.now.UnixMilli()
					}
					return live(c)
				}
			}),
		},
		{
			Name:  "stale-release-is-lost",
			Fault: "Release of a lease that is not the live grant returns ErrLost.",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if !c.matches(l) || !live(c) {
						return lease.ErrLost
					}
					return release(c, l)
				}
			}),
		},
		{
			Name:  "expired-release-is-lost",
			Fault: "Release of an expired lease returns ErrLost, and of any other one nil.",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && !c.rec.released && !live(c) {
						return lease.ErrLost
					}
					return release(c, l)
				}
			}),
		},
		{
			Name:  "wrapped-and-zoned",
			Fault: "Errors come wrapped in several layers, and ExpiresAt in a zone that is not UTC.",
			Open: bred(func(r *rules) {
				r.show = func(c *call) lease.Lease {
					l := show(c)
					l.ExpiresAt = l.ExpiresAt.In(time.FixedZone("", 5*3600+45*60))
					return l
				}
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					return l, wrapped(c, err)
				}
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					renewed, err := renew(c, l, ttl)
					return renewed, wrapped(c, err)
				}
				r.get = func(c *call) (lease.Lease, error) {
					l, err := get(c)
					return l, wrapped(c, err)
				}
			}),
		},
	}
}

// tokensFrom begins the counter of each key at first.
func tokensFrom(first int64) func(c *call) (int64, error) {
	return func(c *call) (int64, error) {
		token, err := nextToken(c)
		return max(token, first), err
	}
}

// wrapped puts err, if it is one, under three layers of context.
func wrapped(c *call, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("script: %w", err)
	err = errors.Join(errors.New("store: not done"), err)
	return fmt.Errorf("%s %q: %w", c.name, c.key, err)
}

// lags reports whether the grant of the key is live, or was so a few
// milliseconds ago; how many differs from grant to grant.
func lags(c *call) bool {
	return c.rec != nil && !c.rec.released && c.now.UnixMilli() < c.rec.expires+c.rec.token%6
}

func declareLag(h *leasetest.Harness) { h.ExpiryLag = 5 * time.Millisecond }
