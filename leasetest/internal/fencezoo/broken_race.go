package fencezoo

import (
	"errors"
	"sync/atomic"

	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// raceFaults break when writes meet.
func raceFaults() []Resource {
	return []Resource{
		{
			zoo.Animal{Name: "value-then-mark", Clause: "FENCE-2", Fault: "The mark is raised in one step and the value set in the next, and the value of an older write stays under a newer token."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					c.set(row{c.row().value, c.token})
					c.pause()
					c.set(row{c.value, c.row().token})
					return nil
				}
			}),
		},
		{
			zoo.Animal{Name: "conflicts-surface-in-fence", Clause: "FENCE-2", Fault: "Writes that meet are not serialized: one of them fails with a conflict, and nobody tries again.", Kinds: []string{"B072"}},
			bred(func(r *rules) {
				var busy atomic.Int32
				r.lock = func(s *store) error {
					defer busy.Add(-1)
					meets := busy.Add(1) > 1
					yield()
					if meets {
						return errors.New("commit: could not serialize access")
					}
					s.mu.Lock()
					return nil
				}
			}),
		},
		{
			zoo.Animal{Name: "check-then-write", Clause: "FENCE-3", Fault: "The mark is read in one statement and the row written in the next, and a stale write lands in between.", Kinds: []string{"B136"}},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					c.pause()
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "first-write-race", Clause: "FENCE-3", Fault: "The guard is on the row, and while there is no row two first writes go past it."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					if c.row().token == 0 {
						c.pause()
					}
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "takeover-write-race", Clause: "FENCE-3", Fault: "A write under a new token reads the row and writes it back, without a lock; one under the present token is a single statement."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					if c.token > c.row().token {
						c.pause()
					}
					return accept(c)
				}
			}),
		},
	}
}
