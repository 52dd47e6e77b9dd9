package fencezoo

import (
	"maps"

	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// restartFaults forget what they have seen.
func restartFaults() []Resource {
	return []Resource{
		{
			zoo.Animal{Name: "mark-in-memory", Clause: "FENCE-4", Fault: "Values are on disk, and the marks that writes are compared with in the memory of the process."},
			bred(func(r *rules) {
				marks := map[string]int64{}
				r.mark = func(c *call) int64 { return marks[c.id] }
				r.accept = func(c *call) error {
					marks[c.id] = c.token
					return accept(c)
				}
				r.restart = func(*store) { clear(marks) }
			}),
		},
		{
			zoo.Animal{Name: "forgets-all", Clause: "FENCE-4", Fault: "Nothing is on disk: a restart leaves an empty resource, and the oldest worker alive gets through."},
			bred(func(r *rules) { r.restart = func(s *store) { clear(s.rows) } }),
		},
		{
			zoo.Animal{Name: "mark-written-behind", Clause: "FENCE-4", Fault: "Writes are answered before they are on disk, and a crash takes the last ones back.", Kinds: []string{"S001"}},
			bred(func(r *rules) {
				disk := map[string]row{}
				r.accept = func(c *call) error {
					disk = maps.Clone(c.s.rows) // what went before this one
					return accept(c)
				}
				r.restart = func(s *store) { s.rows = maps.Clone(disk) }
			}),
		},
		{
			zoo.Animal{Name: "mark-of-last-key-only", Clause: "FENCE-4", Fault: "Of all marks the last one that was raised is kept over a restart."},
			bred(func(r *rules) {
				last := ""
				r.accept = func(c *call) error {
					last = c.id
					return accept(c)
				}
				r.restart = func(s *store) {
					for id := range s.rows {
						if id != last {
							delete(s.rows, id)
						}
					}
				}
			}),
		},
		{
			zoo.Animal{Name: "mark-off-by-one-after-restart", Clause: "FENCE-4", Fault: "After a restart the mark is what came before the last write."},
			bred(func(r *rules) {
				before := map[string]int64{}
				r.accept = func(c *call) error {
					if c.token > c.row().token {
						before[c.id] = c.row().token
					}
					return accept(c)
				}
				r.restart = func(s *store) {
					for id, was := range s.rows {
						s.rows[id] = row{was.value, before[id]}
					}
				}
			}),
		},
	}
}
