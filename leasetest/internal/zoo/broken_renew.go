package zoo

import (
	"time"

	"github.com/leasekit/lease"
)

// renewFaults break Renew.
func renewFaults() []Animal {
	return []Animal{
		{
			Name: "renew-only-lengthens", Clause: "RENEW-1",
			Fault: "Renew never makes the expiry earlier.",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					if c.name == renewing {
						return max(c.rec.expires, expiry(c, ttl))
					}
					return expiry(c, ttl)
				}
			}),
		},
		{
			Name: "renew-adds-to-the-rest", Clause: "RENEW-1",
			Fault: "Renew adds the ttl to the old expiry instead of to the present time.",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					if c.name == renewing && ordinary(ttl) && calm(c) {
						return c.rec.expires + ttl.Milliseconds()
					}
					return expiry(c, ttl)
				}
			}),
		},
		alsoRenews("renew-revives-expired", "RENEW-2", "Renew compares holder and token, but not the expiry with the clock.",
			"https://github.com/nearai/ironclaw/pull/3276",
			func(c *call, l lease.Lease) bool { return c.matches(l) && lapsed(c, halfDay) }),
		{
			Name: "renew-takes-anew", Clause: "RENEW-2",
			Fault:  "Renew of an expired lease that nobody took acquires the key again.",
			Source: "https://github.com/swarthy/redis-semaphore/issues/175",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if c.matches(l) && calm(c) && lapsed(c, halfDay) {
						return grant(c, l.Holder, ttl)
					}
					return renew(c, l, ttl)
				}
			}),
		},
		alsoRenews("renew-matches-holder", "RENEW-3", "Renew compares the holder but not the token, so that an old grant of the same holder renews the new one.",
			"https://github.com/garrytan/gbrain/pull/2093",
			func(c *call, l lease.Lease) bool { return live(c) && c.rec.holder == l.Holder && wasGranted(c, l) }),
		alsoRenews("renew-by-key-only", "RENEW-3", "Renew compares neither holder nor token, and writes both its holder and its expiry into the record of its successor.",
			"https://github.com/pikkujs/pikku/issues/1742",
			func(c *call, l lease.Lease) bool { return live(c) && wasGranted(c, l) }),
		alsoRenews("renew-revives-released", "RENEW-4", "Release only marks the grant, and Renew does not look at the mark.", "",
			func(c *call, l lease.Lease) bool {
				return c.matches(l) && c.rec.released && c.now.UnixMilli() < c.rec.expires
			}),
		alsoRenews("renew-matches-token", "RENEW-5", "Renew compares the token but not the holder.", "",
			func(c *call, l lease.Lease) bool { return live(c) && c.rec.token == l.Token }),
		alsoRenews("renew-takes-higher-token", "RENEW-5", "Renew takes every token that is not lower than that of the grant.",
			"https://github.com/anthony-chaudhary/fak/issues/11360",
			func(c *call, l lease.Lease) bool {
				return live(c) && c.rec.holder == l.Holder && l.Token > c.rec.token
			}),
		{
			Name: "renew-counts-changed-rows", Clause: "RENEW-6",
			Fault:  "A renewal that writes what was there already changes no row, and is taken for a loss.",
			Source: "https://github.com/liquibase/liquibase/issues/5502",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if !r.renewable(c, l) {
						return lease.Lease{}, lease.ErrLost
					}
					before, repeated := c.rec.expires, c.rec.renewed > 0 && calm(c)
					renewed, err := renew(c, l, ttl)
					if repeated && c.rec.expires == before {
						return lease.Lease{}, lease.ErrLost
					}
					return renewed, err
				}
			}),
		},
		{
			Name: "renew-compares-expiry", Clause: "RENEW-7",
			Fault:  "The expiry serves as the version of the record: a lease from before the last renewal is taken for lost.",
			Source: "https://github.com/akkadotnet/Akka.Management/pull/3418",
			Open: bred(func(r *rules) {
				r.renewable = func(c *call, l lease.Lease) bool {
					old := func() bool { return l.ExpiresAt.Before(time.UnixMilli(c.rec.expires)) }
					return c.matches(l) && live(c) && !(calm(c) && old())
				}
			}),
		},
	}
}

// alsoRenews makes an animal that renews what it should, and also where also
// says so. Then the holder is written too, so that reply and record agree.
func alsoRenews(name, clause, fault, source string, also func(c *call, l lease.Lease) bool) Animal {
	return Animal{
		Name: name, Clause: clause, Fault: fault, Source: source,
		Open: bred(func(r *rules) {
			r.renewable = func(c *call, l lease.Lease) bool {
				if c.matches(l) && live(c) {
					return true
				}
				if !calm(c) || !also(c, l) {
					return false
				}
				c.rec.holder = l.Holder
				return true
			}
		}),
	}
}

// wasGranted reports whether l was a grant of its key once, or is. One that is
// made up is a matter of RENEW-5.
func wasGranted(c *call, l lease.Lease) bool {
	return c.rec.past[l.Token] == l.Holder
}
