package zoo

import (
	"errors"
	"strings"
	"time"

	"github.com/leasekit/lease"
)

// exclFaults break exclusion.
func exclFaults() []Animal {
	return []Animal{
		{
			Name: "grant-unseen-at-first", Clause: "EXCL-1",
			Fault: "A grant is not seen by other holders in the instant in which it was made.",
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && !(calm(c) && c.now.Equal(c.rec.granted))
				}
			}),
		},
		{
			Name: "same-worker-takes-over", Clause: "EXCL-1",
			Fault:  "A holder on the worker that made the grant takes it over, as if client and holder were one.",
			Source: "https://github.com/OptimalBits/bull/issues/308",
			Open: bred(func(r *rules) {
				made := map[*record]*worker{}
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := grant(c, holder, ttl)
					made[c.rec] = c.w
					return l, err
				}
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && !(calm(c) && made[c.rec] == c.w)
				}
			}),
		},
		{
			Name: "refusal-shortens", Clause: "EXCL-2",
			Fault:  "A refused Acquire with a shorter ttl writes its own expiry into the live grant.",
			Source: "https://github.com/lukas-krecan/ShedLock/pull/1158",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						c.rec.expires = min(c.rec.expires, expiry(c, ttl))
					}
					return l, err
				}
			}),
		},
		{
			Name: "check-then-set", Clause: "EXCL-3",
			Fault:  "Acquire looks whether the key is free and writes the grant in two steps, and others get in between.",
			Source: "https://github.com/laravel/framework/issues/43627",
			Open: bred(func(r *rules) {
				r.grant = pausedGrant(func(*call) bool { return true })
			}),
		},
		{
			Name: "first-acquire-race", Clause: "EXCL-3",
			Fault:  "The row lock that makes Acquire one step does not exist while the row does not.",
			Source: "https://github.com/alphaonedev/ai-memory-mcp/issues/2310",
			Open: bred(func(r *rules) {
				r.grant = pausedGrant(func(c *call) bool { return c.rec == nil })
			}),
		},
		{
			Name: "takeover-race", Clause: "EXCL-3",
			Fault:  "The takeover of a record that is over deletes and inserts, so that a slow contender deletes the winner's grant.",
			Source: "https://github.com/Extra-Chill/data-machine/pull/3080",
			Open: bred(func(r *rules) {
				r.grant = pausedGrant(func(c *call) bool { return c.rec != nil })
			}),
		},
		{
			Name: "reacquire-only-lengthens", Clause: "EXCL-4",
			Fault: "Acquire by the holder of the live lease never makes its expiry earlier.",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					if c.name == acquiring && !c.fresh {
						return max(c.rec.expires, expiry(c, ttl))
					}
					return expiry(c, ttl)
				}
			}),
		},
		{
			Name: "reacquire-bumps-token", Clause: "EXCL-4",
			Fault:  "Acquire by the holder of the live lease raises the counter and gives it a new token.",
			Source: "https://github.com/redisson/redisson/issues/6510",
			Open: bred(func(r *rules) {
				r.again = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					// In the same instant it does not, so that a repeat after
					// a lost reply (ERR-3) has its grant.
					if c.now.Equal(c.rec.written) {
						return again(c, holder, ttl)
					}
					return grant(c, holder, ttl)
				}
			}),
		},
		lookAlike("holder-case-folded", "Holders are compared without regard to case.", strings.EqualFold),
		lookAlike("holder-blank-padded", "Holders are compared without blanks at their ends, as a PAD SPACE collation does.",
			func(has, asks string) bool { return strings.TrimRight(has, " ") == strings.TrimRight(asks, " ") }),
		lookAlike("holder-normal-form", "Holders are compared in Unicode normal form C.",
			func(has, asks string) bool { return composed(has) == composed(asks) }),
		lookAlike("holder-prefix", "A holder whose name goes on where the other's ends is taken for the same.",
			func(has, asks string) bool { return strings.HasPrefix(has, asks) || strings.HasPrefix(asks, has) }),
		lookAlike("holder-cut-at-255", "Holders are compared in a column of 255 bytes, which cuts what is longer.",
			func(has, asks string) bool { return cut(has, 255) == cut(asks, 255) }),
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

// lookAlike breaks EXCL-6 in Acquire alone: same takes two holders for one.
func lookAlike(name, fault string, same func(has, asks string) bool) Animal {
	return Animal{
		Name: name, Clause: "EXCL-6", Fault: fault,
		Source: "https://github.com/alibaba/nacos/issues/15543",
		Open: bred(func(r *rules) {
			r.sameHolder = func(c *call, asks string) bool {
				return c.rec.holder == asks || calm(c) && same(c.rec.holder, asks)
			}
		}),
	}
}

// composed brings a few letters and accents into Unicode normal form C.
func composed(s string) string {
	return strings.NewReplacer(
		"a\u0301", "\u00e1", "a\u0308", "\u00e4", "A\u030a", "\u00c5", "a\u030a", "\u00e5", "c\u0327", "\u00e7",
		"e\u0300", "\u00e8", "e\u0301", "\u00e9", "E\u0301", "\u00c9", "e\u0302", "\u00ea", "i\u0301", "\u00ed",
		"n\u0303", "\u00f1", "o\u0301", "\u00f3", "o\u0308", "\u00f6", "O\u0308", "\u00d6", "u\u0308", "\u00fc",
	).Replace(s)
}

func cut(s string, n int) string { return s[:min(len(s), n)] }
