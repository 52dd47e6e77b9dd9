package zoo

import "time"

// expiryFaults break when a lease ends, and by whose clock.
func expiryFaults() []Animal {
	return []Animal{
		freshExpiry("expiry-rounded-down", "EXPIRY-1", "The expiry of a grant is rounded down to the millisecond, so that the lease is shorter than asked for.",
			"https://github.com/cobaltcore-dev/cortex/pull/729",
			func(c *call, ttl time.Duration) int64 { return c.now.Add(ttl).UnixMilli() }),
		freshExpiry("grace-added", "EXPIRY-1", "A second of grace is added to each grant.", "",
			func(c *call, ttl time.Duration) int64 { return expiry(c, ttl+time.Second) }),
		freshExpiry("ttl-cut-to-seconds", "EXPIRY-1", "The ttl of a grant is cut to whole seconds.",
			"https://github.com/riido-git/locksmith/issues/12",
			func(c *call, ttl time.Duration) int64 {
				return expiry(c, max(ttl.Truncate(time.Second), time.Millisecond))
			}),
		{
			Name: "boundary-inclusive", Clause: "EXPIRY-2",
			Fault:  "A lease is still live in the millisecond of its expiry.",
			Source: "https://github.com/sewenew/redis-plus-plus/issues/24",
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool {
					return c.rec != nil && !c.rec.released && c.now.UnixMilli() <= c.rec.expires
				}
			}),
		},
		{
			Name: "contender-comes-early", Clause: "EXPIRY-2",
			Fault:  "Another holder gets the key in the last millisecond of the lease, while its holder still has it.",
			Source: "https://github.com/sysevol-ai/CodeNib/pull/541",
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && c.now.UnixMilli()+1 < c.rec.expires
				}
			}),
		},
		contenderWaits("second-ttl", "EXPIRY-3", "Others are refused until a second ttl has passed, counted from when they may first have seen the record.",
			"https://github.com/kubernetes/client-go/issues/448",
			func(c *call, over, _ time.Duration) bool { return over <= min(c.rec.ttl, time.Hour) }),
		contenderWaits("contender-waits-own-ttl", "EXPIRY-3", "Others are refused until the ttl that they ask for has passed since the expiry.",
			"https://github.com/awslabs/amazon-dynamodb-lock-client/issues/44",
			func(_ *call, over, ttl time.Duration) bool { return over < min(ttl, time.Hour) }),
		contenderWaits("expiry-needs-sweeper", "EXPIRY-3", "An expired lease is in the way of others until the sweeper has run, at the full minute.",
			"https://github.com/alturkovic/distributed-lock/issues/5",
			func(c *call, over, _ time.Duration) bool {
				return c.now.Add(-over).Truncate(time.Minute).Equal(c.now.Truncate(time.Minute))
			}),
		{
			Name: "worker-clock-writes", Clause: "EXPIRY-4",
			Fault:  "The expiry is reckoned on the worker's clock.",
			Source: "https://github.com/lukas-krecan/ShedLock/issues/231",
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					worker := *c
					worker.now = c.now.Add(clockError())
					return expiry(&worker, ttl)
				}
			}),
		},
		{
			Name: "worker-clock-judges", Clause: "EXPIRY-4",
			Fault:  "Whether a lease is live is judged by the worker's clock.",
			Source: "https://github.com/lukas-krecan/ShedLock/issues/639",
			Open: bred(func(r *rules) {
				r.live = func(c *call) bool {
					worker := *c
					worker.now = c.now.Add(clockError())
					return live(&worker)
				}
			}),
		},
		freshExpiry("zone-lost", "EXPIRY-5", "Expiry is written as the wall clock of a zone two hours east, and read as UTC.",
			"https://github.com/spring-projects/spring-integration/issues/3885",
			func(c *call, ttl time.Duration) int64 { return expiry(c, ttl) + 2*time.Hour.Milliseconds() }),
		freshExpiry("winter-time-lost", "EXPIRY-5", "Expiry goes through a zone with daylight saving, and comes back an hour late if it lies in winter.",
			"https://github.com/spring-projects/spring-integration/issues/10906",
			func(c *call, ttl time.Duration) int64 {
				end := expiry(c, ttl)
				if month := time.UnixMilli(end).UTC().Month(); month < time.April || month > time.October {
					end += time.Hour.Milliseconds()
				}
				return end
			}),
		contenderWaits("jump-not-believed", "EXPIRY-6", "A lease that seems to have ended a day ago or more is put down to a wrong clock, and stays in the way of others.",
			"https://github.com/redis/redis/issues/416",
			func(c *call, over, _ time.Duration) bool { return over >= 24*time.Hour && c.rec.ttl <= halfDay }),
		{
			Name: "clock-made-tokens", Clause: "EXPIRY-7",
			Fault: "Tokens are made of the server clock, and go down when it steps back.",
			Open: bred(func(r *rules) {
				r.token = func(c *call) (int64, error) {
					next, err := nextToken(c)
					if c.rec != nil && c.now.Before(c.rec.granted) {
						return c.now.UnixMicro(), nil
					}
					return max(next, c.now.UnixMicro()), err
				}
			}),
		},
		{
			Name: "grant-from-the-future-is-void", Clause: "EXPIRY-7",
			Fault: "A grant made later than the server clock now shows is taken for void, and another holder gets the key.",
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return live(c) && !c.now.Before(c.rec.written)
				}
			}),
		},
	}
}

// freshExpiry lets new grants of an ordinary ttl end when ends says. Renewals
// are right (RENEW-1), and so are the ttls that ARG-2 and ARG-3 are about, and
// grants after a step back of the clock (EXPIRY-7).
func freshExpiry(name, clause, fault, source string, ends func(c *call, ttl time.Duration) int64) Animal {
	return Animal{
		Name: name, Clause: clause, Fault: fault, Source: source,
		Open: bred(func(r *rules) {
			r.expiry = func(c *call, ttl time.Duration) int64 {
				if c.fresh && ordinary(ttl) && !c.back {
					return ends(c, ttl)
				}
				return expiry(c, ttl)
			}
		}),
	}
}

// contenderWaits refuses another holder after an expiry while waits says so;
// over is how long ago that was. It refuses once and then clears the record
// away, so that nothing else about the key is in doubt: not if the clock steps
// back (EXPIRY-7), nor for the next who asks.
func contenderWaits(name, clause, fault, source string, waits func(c *call, over, ttl time.Duration) bool) Animal {
	return Animal{
		Name: name, Clause: clause, Fault: fault, Source: source,
		Open: bred(func(r *rules) {
			r.blocked = func(c *call, holder string, ttl time.Duration) bool {
				if c.rec == nil || c.rec.released || c.rec.holder == holder {
					return live(c)
				}
				over := time.Duration(c.now.UnixMilli()-c.rec.expires) * time.Millisecond
				if live(c) || !calm(c) || !waits(c, over, ttl) {
					return live(c)
				}
				c.rec.released = true
				return true
			}
		}),
	}
}

// machineStart tells a worker's clock that is right from one that is not.
var machineStart = time.Now().Round(0)

// clockError is how far the wall clock of the calling worker is off. A worker
// that runs on the machine's clock counts as right; in a testing/synctest
// bubble it is off by decades.
func clockError() time.Duration {
	since := time.Now().Round(0).Sub(machineStart)
	if since >= 0 && since < 24*time.Hour {
		return 0
	}
	return since
}
