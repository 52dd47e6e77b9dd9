package fencezoo

import (
	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// tokenFaults take what is no token.
func tokenFaults() []Resource {
	return []Resource{
		{
			zoo.Animal{Name: "token-0-accepted", Clause: "FENCE-5", Fault: "A token of 0, which is a token that somebody forgot, is compared like any other."},
			bred(func(r *rules) {
				check := r.check
				r.check = func(c *call) error {
					if c.token == 0 {
						return lease.CheckKey(c.key)
					}
					return check(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "token-0-goes-around", Clause: "FENCE-5", Fault: "A token of 0 stands for a writer without a lease, and goes around the fence.", Kinds: []string{"B008"}},
			bred(func(r *rules) {
				check, stale := r.check, r.stale
				r.check = func(c *call) error {
					if c.token == 0 {
						return lease.CheckKey(c.key)
					}
					return check(c)
				}
				r.stale = func(token, mark int64) bool { return token != 0 && stale(token, mark) }
				r.accept = func(c *call) error {
					c.set(row{c.value, max(c.token, c.row().token)})
					return nil
				}
			}),
		},
		{
			zoo.Animal{Name: "negative-accepted", Clause: "FENCE-5", Fault: "Only 0 is refused; the first write of a key may have a negative token."},
			bred(func(r *rules) {
				r.check = func(c *call) error {
					if c.token == 0 {
						return fence.CheckWrite(c.key, 0)
					}
					return lease.CheckKey(c.key)
				}
				r.stale = func(token, mark int64) bool { return mark != 0 && token < mark }
			}),
		},
		{
			zoo.Animal{Name: "invalid-as-stale", Clause: "FENCE-5", Fault: "What is no token is refused as a stale one, and a fault of the program looks like a lost lease."},
			bred(func(r *rules) {
				r.check = func(c *call) error { return lease.CheckKey(c.key) }
				r.stale = func(token, mark int64) bool { return token <= 0 || token < mark }
			}),
		},
		{
			zoo.Animal{Name: "invalid-resets", Clause: "FENCE-5", Fault: "A token of 0 is answered with ErrInvalid, and sets the mark back all the same."},
			bred(func(r *rules) {
				check := r.check
				r.check = func(c *call) error {
					if c.token == 0 {
						c.s.mu.Lock()
						defer c.s.mu.Unlock()
						delete(c.s.rows, c.id)
					}
					return check(c)
				}
			}),
		},
	}
}
