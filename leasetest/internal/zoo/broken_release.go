package zoo

import (
	"errors"
	"time"

	"github.com/leasekit/lease"
)

// releaseFaults break Release.
func releaseFaults() []Animal {
	return []Animal{
		{
			Name: "renewed-is-not-released", Clause: "RELEASE-1",
			Fault: "Release deletes the version that was granted, which is gone once the lease was renewed.",
			Open: bred(func(r *rules) {
				r.releasable = func(c *call, l lease.Lease) bool { return c.matches(l) && c.rec.renewed == 0 }
			}),
		},
		{
			Name: "acquires-are-counted", Clause: "RELEASE-1",
			Fault:  "A lease that its holder acquired twice has to be released twice.",
			Source: "https://github.com/redisson/redisson/issues/4822",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) && c.rec.acquired > 1 {
						c.rec.acquired--
						return nil
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "release-does-nothing", Clause: "RELEASE-1",
			Fault:  "Release reports success and leaves the key to its expiry.",
			Kinds:  []string{"B018"},
			Source: "https://github.com/Zipstack/unstract/pull/2056",
			Open: bred(func(r *rules) {
				r.releasable = func(*call, lease.Lease) bool { return false }
			}),
		},
		{
			Name: "lock-delay", Clause: "RELEASE-1",
			Fault: "For 15 seconds after a release nobody gets the key.",
			Open: bred(func(r *rules) {
				freed := map[*record]time.Time{}
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) {
						freed[c.rec] = c.now
					}
					return release(c, l)
				}
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					at, ok := freed[c.rec]
					return live(c) || ok && c.rec.released && c.now.Sub(at) < 15*time.Second
				}
			}),
		},
		{
			Name: "release-frees-for-others-only", Clause: "RELEASE-1",
			Fault: "After a release Get shows the grant until its expiry, though the key is free.",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					if c.rec != nil && c.now.UnixMilli() < c.rec.expires {
						return show(c), nil
					}
					return lease.Lease{}, lease.ErrNotHeld
				}
			}),
		},
		{
			Name: "release-matches-holder", Clause: "RELEASE-2",
			Fault:  "Release compares the holder but not the token, so that a late release frees a newer grant of the same holder.",
			Kinds:  []string{"B015", "S011"},
			Source: "https://github.com/fazer-ai/baileys-api/pull/331",
			Open: bred(func(r *rules) {
				r.releasable = func(c *call, l lease.Lease) bool { return c.rec != nil && c.rec.holder == l.Holder }
			}),
		},
		{
			Name: "release-by-key-only", Clause: "RELEASE-2",
			Fault:  "Release compares nothing, so that a slow former holder frees its successor's lease.",
			Kinds:  []string{"B014"},
			Source: "https://github.com/NangoHQ/nango/pull/2858",
			Open: bred(func(r *rules) {
				r.releasable = func(c *call, _ lease.Lease) bool { return c.rec != nil }
			}),
		},
		{
			Name: "release-unchecked-until-renewed", Clause: "RELEASE-2",
			Fault:  "Release compares the owner where the lease was renewed, and else deletes whatever is there.",
			Kinds:  []string{"B141"},
			Source: "https://github.com/tristanls/dynamodb-lock-client/issues/23",
			Open: bred(func(r *rules) {
				r.releasable = func(c *call, l lease.Lease) bool { return c.matches(l) || c.rec != nil && c.rec.renewed == 0 }
			}),
		},
		{
			Name: "client-knows-better", Clause: "RELEASE-2",
			Fault:  "A client keeps the last token it got for a key, and releases that in place of an older one in the lease.",
			Kinds:  []string{"B013"},
			Source: "https://github.com/redis/redis-py/issues/490",
			Open: bred(func(r *rules) {
				type keyOf struct {
					w  *worker
					id string
				}
				last := map[keyOf]lease.Lease{}
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if err == nil {
						last[keyOf{c.w, c.id}] = l
					}
					return l, err
				}
				r.release = func(c *call, l lease.Lease) error {
					if own := last[keyOf{c.w, c.id}]; own.Holder == l.Holder && own.Token > l.Token {
						l = own
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "release-cuts-the-rest", Clause: "RELEASE-2",
			Fault: "A stale release frees nothing, but halves what is left of the present grant.",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if live(c) && !c.matches(l) {
						c.rec.expires -= (c.rec.expires - c.now.UnixMilli()) / 2
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "second-release-errors", Clause: "RELEASE-3",
			Fault: "The second release of a lease says that it is not held, as an error.",
			Kinds: []string{"B017"},
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && c.rec.released {
						return lease.ErrNotHeld
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "unknown-release-errors", Clause: "RELEASE-3",
			Fault:  "The release of a key that was never taken is an error.",
			Source: "https://github.com/mike-marcacci/node-redlock/pull/75",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.rec == nil {
						return errors.New("release: no such key")
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "late-release-errors", Clause: "RELEASE-3",
			Fault:  "The release of an expired lease says that it is not held, as an error.",
			Kinds:  []string{"B017"},
			Source: "https://github.com/mike-marcacci/node-redlock/issues/65",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && lapsed(c) {
						return lease.ErrNotHeld
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "renew-bound-to-worker", Clause: "RELEASE-4",
			Fault:  "A worker renews only what it acquired itself.",
			Kinds:  []string{"B142"},
			Source: "https://github.com/redis/redis-py/issues/656",
			Open: bred(func(r *rules) {
				own := ownGrants(r)
				r.renewable = func(c *call, l lease.Lease) bool { return c.matches(l) && live(c) && own(c, l) }
			}),
		},
		{
			Name: "release-bound-to-worker", Clause: "RELEASE-4",
			Fault:  "A worker releases only what it acquired itself, and calls the rest lost.",
			Kinds:  []string{"B142"},
			Source: "https://github.com/redis/redis-py/issues/656",
			Open: bred(func(r *rules) {
				own := ownGrants(r)
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) && !own(c, l) {
						return lease.ErrLost
					}
					return release(c, l)
				}
			}),
		},
	}
}

// ownGrants makes workers remember the grants that they got, and returns
// whether l is one of the calling worker's.
func ownGrants(r *rules) func(c *call, l lease.Lease) bool {
	type grantOf struct {
		w     *worker
		id    string
		token int64
	}
	got := map[grantOf]bool{}
	r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
		l, err := acquire(c, holder, ttl)
		if err == nil {
			got[grantOf{c.w, c.id, l.Token}] = true
		}
		return l, err
	}
	return func(c *call, l lease.Lease) bool { return got[grantOf{c.w, c.id, l.Token}] }
}
