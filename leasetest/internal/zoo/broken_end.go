package zoo

import (
	"time"

	"github.com/leasekit/lease"
)

// endFaults break what happens when a lease ends.
func endFaults() []Animal {
	return []Animal{
		{
			Name: "boundary-inclusive", Clause: "EXPIRY-2",
			Fault:  "A lease is still live in the millisecond of its expiry.",
			Kinds:  []string{"B053"},
			Source: "https://github.com/sewenew/redis-plus-plus/issues/24",
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool {
					return c.rec != nil && !c.rec.released && c.now.UnixMilli() <= c.rec.expires
				}
			}),
		},
		{
			Name: "renew-at-the-boundary", Clause: "EXPIRY-2",
			Fault:  "Renew takes a lease for live in the millisecond of its expiry, when Acquire and Get do not.",
			Kinds:  []string{"B053"},
			Source: "https://github.com/sewenew/redis-plus-plus/issues/24",
			Open: bred(func(r *rules) {
				r.renewable = func(c *call, l lease.Lease) bool {
					return c.matches(l) && !c.rec.released && c.now.UnixMilli() <= c.rec.expires
				}
			}),
		},
		{
			Name: "contender-comes-early", Clause: "EXPIRY-2",
			Fault:  "Another holder gets the key in the last millisecond of the lease, while its holder still has it.",
			Kinds:  []string{"B053"},
			Source: "https://github.com/sysevol-ai/CodeNib/pull/541",
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && c.now.UnixMilli()+1 < c.rec.expires
				}
			}),
		},
		{
			Name: "never-ends", Clause: "EXPIRY-3",
			Fault: "What judges a lease does not look at the clock: only Release ends it.",
			Kinds: []string{"B115"},
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool { return c.rec != nil && !c.rec.released }
			}),
		},
		{
			Name: "renews-itself", Clause: "EXPIRY-3",
			Fault:  "Acquire starts a renewal in the background that nobody asked for and nothing ends but Release.",
			Kinds:  []string{"B090"},
			Along:  []string{"GET-2"},
			Nature: "a lease that does not end is in the way of others, and is shown with an end that it never reported",
			Source: "https://github.com/lablup/etcetra/pull/18",
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool {
					if c.rec == nil || c.rec.released {
						return false
					}
					if !live(c) {
						c.extend(c.rec.ttl)
					}
					return true
				}
			}),
		},
		{
			Name: "times-compared-as-text", Clause: "EXPIRY-3",
			Fault: "Expiry and time are compared as text, one with a T between date and hour and one with a blank, so that a lease lasts until midnight.",
			Kinds: []string{"B049"},
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool {
					if c.rec == nil || c.rec.released {
						return false
					}
					end := time.UnixMilli(c.rec.expires).UTC().Format("2006-01-02T15:04:05.000")
					return c.now.Format("2006-01-02 15:04:05.000") < end
				}
			}),
		},
		contenderWaits("second-ttl", "EXPIRY-3", "Others are refused until a second ttl has passed, counted from when they may first have seen the record.", "B051",
			"https://github.com/kubernetes/client-go/issues/448",
			func(c *call, over, _ time.Duration) bool { return over <= c.rec.ttl }),
		contenderWaits("contender-waits-own-ttl", "EXPIRY-3", "Others are refused until the ttl that they ask for has passed since the expiry.", "",
			"https://github.com/awslabs/amazon-dynamodb-lock-client/issues/44",
			func(_ *call, over, ttl time.Duration) bool { return over < ttl }),
		contenderWaits("expiry-needs-sweeper", "EXPIRY-3", "An expired lease is in the way of others until the sweeper has run, at the full minute.", "B094",
			"https://github.com/alturkovic/distributed-lock/issues/5",
			func(c *call, over, _ time.Duration) bool {
				return c.now.Add(-over).Truncate(time.Minute).Equal(c.now.Truncate(time.Minute))
			}),
		contenderWaits("only-its-holder-again", "EXPIRY-3", "An expired lease can be taken again by its last holder alone.", "", "",
			func(*call, time.Duration, time.Duration) bool { return true }),
		contenderWaits("jump-not-believed", "EXPIRY-6", "A lease that seems to have ended a day ago or more is put down to a wrong clock, and stays in the way of others.", "B114",
			"https://github.com/redis/redis/issues/416",
			func(_ *call, over, _ time.Duration) bool { return over >= 24*time.Hour }),
	}
}

// contenderWaits refuses another holder after an expiry while waits says so;
// over is how long ago that was.
func contenderWaits(name, clause, fault, kind, source string, waits func(c *call, over, ttl time.Duration) bool) Animal {
	a := Animal{
		Name: name, Clause: clause, Fault: fault, Source: source,
		Open: bred(func(r *rules) {
			r.blocked = func(c *call, holder string, ttl time.Duration) bool {
				if !lapsed(c) || c.rec.holder == holder {
					return live(c)
				}
				return waits(c, time.Duration(c.now.UnixMilli()-c.rec.expires)*time.Millisecond, ttl)
			}
		}),
	}
	if kind != "" {
		a.Kinds = []string{kind}
	}
	return a
}
