package zoo

import (
	"time"

	"github.com/leasekit/lease"
)

// getFaults break Get.
func getFaults() []Animal {
	return []Animal{
		{
			Name: "get-cuts-to-seconds", Clause: "GET-1",
			Fault: "Get shows the expiry in whole seconds.",
			Open: bred(func(r *rules) {
				r.get = shownByGet(func(l lease.Lease) lease.Lease {
					l.ExpiresAt = l.ExpiresAt.Truncate(time.Second)
					return l
				})
			}),
		},
		{
			Name: "get-shows-expired", Clause: "GET-2",
			Fault:  "Get does not look at the expiry, and shows a grant that is over.",
			Source: "https://github.com/laravel/framework/pull/59948",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					if calm(c) && lapsed(c, halfDay) {
						return show(c), nil
					}
					return get(c)
				}
			}),
		},
		{
			Name: "get-prolongs", Clause: "GET-3",
			Fault: "Get counts as a sign of life: in the first half of the lease it sets the expiry anew, for the next to see.",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					l, err := get(c)
					// Not in the second half, so that a Get just before the
					// expiry does not shift what EXPIRY-2 and -3 are about.
					if err == nil && calm(c) && c.now.Sub(c.rec.written) <= c.rec.ttl/2 {
						c.extend(c.rec.ttl)
					}
					return l, err
				}
			}),
		},
	}
}

// shownByGet changes what Get shows.
func shownByGet(change func(lease.Lease) lease.Lease) func(c *call) (lease.Lease, error) {
	return func(c *call) (lease.Lease, error) {
		l, err := get(c)
		if err != nil {
			return l, err
		}
		return change(l), nil
	}
}
