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
			Name: "get-without-expiry", Clause: "GET-1",
			Fault:  "Get does not fill in the expiry, so that a lease from it always looks expired.",
			Kinds:  []string{"B097"},
			Source: "https://github.com/cirello-io/dynamolock/issues/682",
			Open: bred(func(r *rules) {
				r.get = shownByGet(func(l lease.Lease) lease.Lease {
					l.ExpiresAt = time.Time{}
					return l
				})
			}),
		},
		{
			Name: "get-without-token", Clause: "GET-1",
			Fault: "Get shows the token that was first granted for the key.",
			Open: bred(func(r *rules) {
				first := map[*record]int64{}
				r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := grant(c, holder, ttl)
					if first[c.rec] == 0 {
						first[c.rec] = l.Token
					}
					return l, err
				}
				r.get = func(c *call) (lease.Lease, error) {
					l, err := get(c)
					if err == nil {
						l.Token = first[c.rec]
					}
					return l, err
				}
			}),
		},
		{
			Name: "get-answers-from-cache", Clause: "GET-1",
			Fault:  "A client shows what it saw of a key before, for a few calls.",
			Along:  []string{"GET-2"},
			Nature: "what it saw before may be a grant or none",
			Open: bred(func(r *rules) {
				type seen struct {
					l     lease.Lease
					err   error
					times int
				}
				type keyOf struct {
					w  *worker
					id string
				}
				cache := map[keyOf]seen{}
				r.get = func(c *call) (lease.Lease, error) {
					at := keyOf{c.w, c.id}
					s, ok := cache[at]
					if !ok || s.times == 3 {
						s = seen{}
						s.l, s.err = get(c)
					}
					s.times++
					cache[at] = s
					return s.l, s.err
				}
			}),
		},
		{
			Name: "get-shows-expired", Clause: "GET-2",
			Fault:  "Get does not look at the expiry, and shows a grant that is over.",
			Kinds:  []string{"B091"},
			Source: "https://github.com/laravel/framework/pull/59948",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					if lapsed(c) {
						return show(c), nil
					}
					return get(c)
				}
			}),
		},
		{
			Name: "get-says-lost", Clause: "GET-2",
			Fault: "Get of a free key says ErrLost.",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					l, err := get(c)
					if err != nil {
						err = lease.ErrLost
					}
					return l, err
				}
			}),
		},
		{
			Name: "get-prolongs", Clause: "GET-3",
			Fault: "Get counts as a sign of life: it sets the expiry anew, for the next to see.",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					l, err := get(c)
					if err == nil {
						c.extend(c.rec.ttl)
					}
					return l, err
				}
			}),
		},
		{
			Name: "get-makes-a-record", Clause: "GET-3",
			Fault: "Get of a key that nobody took makes a record, which is in the way for a minute.",
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					if c.rec == nil {
						c.begin("", 1, time.Minute)
						return lease.Lease{}, lease.ErrNotHeld
					}
					if c.rec.holder == "" {
						return lease.Lease{}, lease.ErrNotHeld
					}
					return get(c)
				}
			}),
		},
		{
			Name: "get-tidies-up", Clause: "TOKEN-5",
			Fault: "Get of an expired lease deletes its record, and the counter in it.",
			Kinds: []string{"B095"},
			Open: bred(func(r *rules) {
				r.get = func(c *call) (lease.Lease, error) {
					if lapsed(c) {
						delete(c.s.records, c.id)
					}
					return get(c)
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
