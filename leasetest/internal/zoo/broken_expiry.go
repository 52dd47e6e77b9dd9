package zoo

import (
	"strconv"
	"time"

	"github.com/leasekit/lease"
)

// expiryFaults break the instant at which a grant says that it ends.
func expiryFaults() []Animal {
	return []Animal{
		freshExpiry("expiry-rounded-down", "EXPIRY-1", "The expiry of a grant is rounded down to the millisecond, so that the lease is shorter than asked for.", "",
			"https://github.com/cobaltcore-dev/cortex/pull/729",
			func(c *call, ttl time.Duration) int64 { return c.now.Add(max(ttl, time.Millisecond)).UnixMilli() }),
		freshExpiry("grace-added", "EXPIRY-1", "A second of grace is added to each grant.", "", "",
			func(c *call, ttl time.Duration) int64 { return expiry(c, min(ttl, century)+time.Second) }),
		freshExpiry("ttl-in-the-wrong-unit", "EXPIRY-1", "The ttl is handed over in microseconds, and taken for milliseconds.", "", "",
			func(c *call, ttl time.Duration) int64 { return expiry(c, min(ttl, century/1000)*1000) }),
		freshExpiry("ttl-cut-to-seconds", "EXPIRY-1", "The ttl of a grant is cut to whole seconds.", "B127",
			"https://github.com/riido-git/locksmith/issues/12",
			func(c *call, ttl time.Duration) int64 { return expiry(c, ttl.Truncate(time.Second)) }),
		freshExpiry("deadline-cut-to-seconds", "EXPIRY-1", "The expiry of a grant is kept in whole seconds, rounded down, and the harness says nothing of it.", "B127",
			"https://github.com/riido-git/locksmith/issues/12",
			func(c *call, ttl time.Duration) int64 { return expiry(c, ttl) / 1000 * 1000 }),
		freshExpiry("expiry-in-32-bits", "EXPIRY-1", "A driver returns the low 32 bits of the expiry in milliseconds.", "B050", "",
			func(c *call, ttl time.Duration) int64 { return int64(int32(expiry(c, ttl))) }),
		freshExpiry("expiry-in-6-digits", "EXPIRY-1", "The expiry is written as a number with 6 digits and an exponent, as %g writes it.", "B125", "",
			func(c *call, ttl time.Duration) int64 {
				ms, _ := strconv.ParseFloat(strconv.FormatFloat(float64(expiry(c, ttl)), 'g', 6, 64), 64)
				return int64(ms)
			}),
		freshExpiry("zone-lost", "EXPIRY-5", "Expiry is written as the wall clock of a zone two hours east, and read as UTC.", "B046",
			"https://github.com/spring-projects/spring-integration/issues/3885",
			func(c *call, ttl time.Duration) int64 { return expiry(c, ttl) + 2*time.Hour.Milliseconds() }),
		freshExpiry("winter-time-lost", "EXPIRY-5", "Expiry goes through a zone with daylight saving, and comes back an hour late if it lies in winter.", "B047",
			"https://github.com/spring-projects/spring-integration/issues/10906",
			func(c *call, ttl time.Duration) int64 {
				end := expiry(c, ttl)
				if month := time.UnixMilli(end).UTC().Month(); month < time.April || month > time.October {
					end += time.Hour.Milliseconds()
				}
				return end
			}),
		{
			Name: "zones-differ-between-clients", Clause: "EXPIRY-5",
			Fault:  "Each client reads the expiry in the time zone of its session, and those differ by hours.",
			Kinds:  []string{"B045"},
			Source: "https://github.com/spring-projects/spring-integration/issues/3885",
			Open: bred(func(r *rules) {
				r.show = func(c *call) lease.Lease {
					l := show(c)
					l.ExpiresAt = l.ExpiresAt.Add(time.Duration(c.w.id%3) * time.Hour)
					return l
				}
			}),
		},
	}
}

// freshExpiry lets new grants end when ends says, while renewals are right.
func freshExpiry(name, clause, fault, kind, source string, ends func(c *call, ttl time.Duration) int64) Animal {
	a := Animal{
		Name: name, Clause: clause, Fault: fault, Source: source,
		Open: bred(func(r *rules) {
			r.expiry = func(c *call, ttl time.Duration) int64 {
				if c.fresh {
					return ends(c, ttl)
				}
				return expiry(c, ttl)
			}
		}),
	}
	if kind != "" {
		a.Kinds = []string{kind}
	}
	return a
}
