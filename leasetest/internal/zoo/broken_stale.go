package zoo

import (
	"time"

	"github.com/leasekit/lease"
)

// staleRenewFaults let a lease be renewed that is not the live grant.
func staleRenewFaults() []Animal {
	return []Animal{
		alsoRenews("renew-revives-expired", "RENEW-2", "Renew compares holder and token, but not the expiry with the clock.",
			"https://github.com/nearai/ironclaw/pull/3276", []string{"B064", "S008"},
			func(c *call, l lease.Lease) bool { return c.matches(l) && lapsed(c) }),
		{
			Name: "renew-takes-anew", Clause: "RENEW-2",
			Fault:  "Renew of an expired lease that nobody took acquires the key again.",
			Kinds:  []string{"B063"},
			Source: "https://github.com/swarthy/redis-semaphore/issues/175",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if c.matches(l) && lapsed(c) {
						return grant(c, l.Holder, ttl)
					}
					return renew(c, l, ttl)
				}
			}),
		},
		alsoRenews("renew-matches-holder", "RENEW-3", "Renew compares the holder but not the token, so that an old grant of the same holder renews the new one.",
			"https://github.com/garrytan/gbrain/pull/2093", []string{"S011"},
			func(c *call, l lease.Lease) bool { return live(c) && c.rec.holder == l.Holder },
			"RENEW-5", "a made-up token is as good as an old one"),
		alsoRenews("renew-by-key-only", "RENEW-3", "Renew compares neither holder nor token, and prolongs whatever grant is live.",
			"https://github.com/pikkujs/pikku/issues/1742", []string{"B065"},
			func(c *call, _ lease.Lease) bool { return live(c) },
			"RENEW-5", "a made-up lease is as good as an old one"),
		{
			Name: "renew-writes-holder", Clause: "RENEW-3",
			Fault:  "Renew compares neither holder nor token, and writes both its holder and its expiry into the record of its successor.",
			Kinds:  []string{"B065"},
			Along:  []string{"RENEW-5"},
			Nature: "a made-up lease is as good as an old one",
			Source: "https://github.com/pikkujs/pikku/pull/1545",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if !live(c) {
						return lease.Lease{}, lease.ErrLost
					}
					c.rec.holder = l.Holder
					c.extend(ttl)
					return show(c), nil
				}
			}),
		},
		{
			Name: "refused-renew-prolongs", Clause: "RENEW-3",
			Fault:  "Renew of a superseded lease is refused, after it prolonged the present grant.",
			Along:  []string{"RENEW-5"},
			Nature: "a made-up lease is refused in the same way",
			Open: bred(func(r *rules) {
				r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
					if live(c) && !c.matches(l) {
						c.extend(ttl)
					}
					return renew(c, l, ttl)
				}
			}),
		},
		alsoRenews("renew-revives-released", "RENEW-4", "Release only marks the grant, and Renew does not look at the mark.", "", nil,
			func(c *call, l lease.Lease) bool {
				return c.matches(l) && c.rec.released && c.now.UnixMilli() < c.rec.expires
			}),
		alsoRenews("renew-matches-token", "RENEW-5", "Renew compares the token but not the holder.", "", nil,
			func(c *call, l lease.Lease) bool { return live(c) && c.rec.token == l.Token }),
		alsoRenews("renew-takes-higher-token", "RENEW-5", "Renew takes every token that is not lower than that of the grant.",
			"https://github.com/anthony-chaudhary/fak/issues/11360", nil,
			func(c *call, l lease.Lease) bool {
				return live(c) && c.rec.holder == l.Holder && l.Token > c.rec.token
			}),
	}
}

// alsoRenews makes an animal that renews what it should, and also where also
// says so; the reply shows what it was given, with the new expiry. along are a
// clause that it breaks by nature, and the reason.
func alsoRenews(name, clause, fault, source string, kinds []string, also func(c *call, l lease.Lease) bool, along ...string) Animal {
	a := Animal{
		Name: name, Clause: clause, Fault: fault, Source: source, Kinds: kinds,
		Open: bred(func(r *rules) {
			r.renew = func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
				if !also(c, l) {
					return renew(c, l, ttl)
				}
				c.extend(ttl)
				renewed := show(c)
				renewed.Holder, renewed.Token = l.Holder, l.Token
				return renewed, nil
			}
		}),
	}
	if len(along) > 0 {
		a.Along, a.Nature = along[:1], along[1]
	}
	return a
}
