package zoo

import (
	"time"

	"github.com/leasekit/lease"
)

// waitFaults break EXPIRY-8: the clock is read before a call waits for the lock
// of its record.
func waitFaults() []Animal {
	return []Animal{
		{
			Name: "clock-read-before-the-wait", Clause: "EXPIRY-8",
			Fault: "A call is judged by the clock at which its transaction began, however long it then waits for the record.",
			Kinds: []string{"B043", "B044"},
			Open:  bred(func(r *rules) { r.clock = func(c *call) time.Time { return c.arrived } }),
		},
		{
			Name: "renewal-judged-before-the-wait", Clause: "EXPIRY-8",
			Fault: "The condition of a renewal is looked at before the statement waits for the record, and not again after it.",
			Kinds: []string{"S015"},
			Open: bred(func(r *rules) {
				r.renewable = func(c *call, l lease.Lease) bool {
					return c.matches(l) && !c.rec.released && c.arrived.UnixMilli() < c.rec.expires
				}
			}),
		},
		{
			Name: "expiry-counted-from-before-the-wait", Clause: "EXPIRY-8",
			Fault: "A new grant is counted from when its Acquire came in, so that a long wait grants a lease that is over.",
			Kinds: []string{"B044"},
			Open: bred(func(r *rules) {
				r.expiry = func(c *call, ttl time.Duration) int64 {
					late := *c
					late.now = c.arrived
					return expiry(&late, ttl)
				}
			}),
		},
		{
			Name: "waiter-refused-by-a-lease-that-is-over", Clause: "EXPIRY-8",
			Fault: "An Acquire that waited is refused, because the lease in its way was live when it came in.",
			Kinds: []string{"B044"},
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool {
					return c.rec != nil && !c.rec.released && c.arrived.UnixMilli() < c.rec.expires
				}
			}),
		},
	}
}
