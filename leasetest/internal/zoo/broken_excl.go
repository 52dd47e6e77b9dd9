package zoo

import (
	"errors"
	"strconv"
	"time"

	"github.com/leasekit/lease"
)

// exclFaults break exclusion, one call after the other.
func exclFaults() []Animal {
	return []Animal{
		{
			Name: "grant-unseen-at-first", Clause: "EXCL-1",
			Fault: "A grant is not seen by other holders in the instant in which it was made.",

			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && !c.now.Equal(c.rec.granted)
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
				r.blocked = func(c *call, _ string, _ time.Duration) bool { return live(c) && made[c.rec] != c.w }
			}),
		},
		{
			Name: "nobody-is-blocked", Clause: "EXCL-1",
			Fault:  "The record lacks what ownership is judged by, so everybody who asks takes the key over.",
			Kinds:  []string{"B035"},
			Source: "https://github.com/istio/istio/pull/47848",
			Open: bred(func(r *rules) {
				r.blocked = func(*call, string, time.Duration) bool { return false }
			}),
		},
		{
			Name: "reply-misread", Clause: "EXCL-1",
			Fault:  "Every reply of the store counts as a grant, also the one that shows another holder's.",
			Kinds:  []string{"B029"},
			Source: "https://github.com/stefangabos/Zebra_Session/issues/57",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						l, err = show(c), nil
						l.Holder = holder
					}
					return l, err
				}
			}),
		},
		{
			Name: "upsert-always-wins", Clause: "EXCL-1",
			Fault:  "The upsert leaves the live grant alone, and its row count is read as a new one.",
			Kinds:  []string{"B028"},
			Source: "https://github.com/lukas-krecan/ShedLock/pull/1158",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						token, err := nextToken(c)
						return lease.Lease{Key: c.key, Holder: holder, Token: token, ExpiresAt: time.UnixMilli(expiry(c, ttl)).UTC()}, err
					}
					return l, err
				}
			}),
		},
		{
			Name: "clients-apart", Clause: "EXCL-1",
			Fault: "A key is mapped to its lock by a hash that differs from process to process, so that each client has locks of its own.",
			Kinds: []string{"B119"},
			Open: bred(func(r *rules) {
				r.service = func(w *worker) lease.Service {
					w.namespace = strconv.Itoa(w.id) + "/" + w.namespace
					return w
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
			Name: "refusal-prolongs", Clause: "EXCL-2",
			Fault: "A refused Acquire with a longer ttl writes its own expiry into the live grant.",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						c.rec.expires = max(c.rec.expires, expiry(c, ttl))
					}
					return l, err
				}
			}),
		},
		{
			Name: "refused-stands-in-line", Clause: "RELEASE-1",
			Fault: "Who was refused stands in line, and has the lease when it is released, without asking again.",
			Open: bred(func(r *rules) {
				line := map[string]string{}
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						line[c.id] = holder
					}
					return l, err
				}
				r.release = func(c *call, l lease.Lease) error {
					next := line[c.id]
					if next == "" || !c.matches(l) || !live(c) {
						return release(c, l)
					}
					delete(line, c.id)
					_, err := grant(c, next, time.Minute)
					return err
				}
			}),
		},
		{
			Name: "refusal-bumps-token", Clause: "EXCL-2",
			Fault: "A refused Acquire raises the token of the live grant, whose holder then has a stale one.",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if errors.Is(err, lease.ErrHeld) {
						if next, full := nextToken(c); full == nil {
							c.rec.token = next
						}
					}
					return l, err
				}
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
			Name: "reacquire-keeps-expiry", Clause: "EXCL-4",
			Fault: "Acquire by the holder of the live lease answers with the lease as it is, and prolongs nothing.",
			Open: bred(func(r *rules) {
				r.again = func(c *call, _ string, _ time.Duration) (lease.Lease, error) { return show(c), nil }
			}),
		},
		{
			Name: "reacquire-bumps-token", Clause: "EXCL-4",
			Fault:  "Acquire by the holder of the live lease raises the counter and gives it a new token.",
			Kinds:  []string{"B006"},
			Source: "https://github.com/redisson/redisson/issues/6510",
			Open: bred(func(r *rules) {
				r.again = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) { return grant(c, holder, ttl) }
			}),
		},
		{
			Name: "reacquire-answers-only", Clause: "EXCL-4",
			Fault: "Acquire by the holder of the live lease answers with a new expiry that is not written.",
			Open: bred(func(r *rules) {
				r.again = func(c *call, _ string, ttl time.Duration) (lease.Lease, error) {
					l := show(c)
					l.ExpiresAt = time.UnixMilli(expiry(c, ttl)).UTC()
					return l, nil
				}
			}),
		},
		{
			Name: "reacquire-refused", Clause: "EXCL-4",
			Fault:  "Acquire by the holder of the live lease is refused, like that of anybody else.",
			Kinds:  []string{"B098"},
			Source: "https://github.com/stardag-dev/stardag/pull/342",
			Open: bred(func(r *rules) {
				r.sameHolder = func(*call, string) bool { return false }
			}),
		},
	}
}
