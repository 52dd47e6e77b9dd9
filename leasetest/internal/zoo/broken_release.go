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
				r.releasable = func(c *call, l lease.Lease) bool { return c.matches(l) && !(calm(c) && c.rec.renewed > 0) }
			}),
		},
		{
			Name: "acquires-are-counted", Clause: "RELEASE-1",
			Fault:  "A lease that its holder acquired twice has to be released twice.",
			Source: "https://github.com/redisson/redisson/issues/4822",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) && calm(c) && c.rec.acquired > 1 {
						c.rec.acquired--
						return nil
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "release-matches-holder", Clause: "RELEASE-2",
			Fault:  "Release compares the holder but not the token, so that a late release frees a newer grant of the same holder.",
			Source: "https://github.com/fazer-ai/baileys-api/pull/331",
			Open: bred(func(r *rules) {
				r.releasable = func(c *call, l lease.Lease) bool { return c.rec != nil && c.rec.holder == l.Holder }
			}),
		},
		{
			Name: "release-by-key-only", Clause: "RELEASE-2",
			Fault:  "Release compares nothing, so that a slow former holder frees its successor's lease.",
			Source: "https://github.com/NangoHQ/nango/pull/2858",
			Open: bred(func(r *rules) {
				r.releasable = func(c *call, _ lease.Lease) bool { return c.rec != nil }
			}),
		},
		{
			Name: "second-release-errors", Clause: "RELEASE-3",
			Fault: "The second release of a lease says that it is not held, as an error.",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && c.rec.released && calm(c) {
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
			Source: "https://github.com/mike-marcacci/node-redlock/issues/65",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && !c.rec.released && !live(c) {
						c.rec.released = true // whatever the clock does next (EXPIRY-7)
						return lease.ErrNotHeld
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "renew-bound-to-worker", Clause: "RELEASE-4",
			Fault:  "A worker renews only what it acquired itself.",
			Source: "https://github.com/redis/redis-py/issues/656",
			Open: bred(func(r *rules) {
				own := ownGrants(r)
				r.renewable = func(c *call, l lease.Lease) bool { return c.matches(l) && live(c) && (own(c, l) || !calm(c)) }
			}),
		},
		{
			Name: "release-bound-to-worker", Clause: "RELEASE-4",
			Fault:  "A worker releases only what it acquired itself, and calls the rest lost.",
			Source: "https://github.com/redis/redis-py/issues/656",
			Open: bred(func(r *rules) {
				own := ownGrants(r)
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) && calm(c) && !own(c, l) {
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
