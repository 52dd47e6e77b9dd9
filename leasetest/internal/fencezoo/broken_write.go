package fencezoo

import (
	"errors"
	"math"
	"strings"

	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// writeFaults refuse or lose writes that are in time.
func writeFaults() []Resource {
	return []Resource{
		{
			zoo.Animal{Name: "equal-refused", Clause: "FENCE-2", Fault: "The comparison has <= where < is right: the holder of a grant writes once, and is stale."},
			bred(func(r *rules) { r.stale = func(token, mark int64) bool { return token <= mark } }),
		},
		{
			zoo.Animal{Name: "mark-of-all-keys", Clause: "FENCE-2", Fault: "There is one mark for all keys, though tokens of different keys are unrelated."},
			bred(func(r *rules) {
				var mark int64
				r.mark = func(*call) int64 { return mark }
				r.accept = func(c *call) error {
					mark = c.token
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "accepted-not-written", Clause: "FENCE-2", Fault: "The mark is raised and the write answered, and the value stays what it was."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					if c.row().token == 0 {
						return accept(c)
					}
					c.set(row{c.row().value, c.token})
					return nil
				}
			}),
		},
		{
			zoo.Animal{Name: "accepted-not-remembered", Clause: "FENCE-2", Fault: "A write sets the value of a row that is there, and leaves the mark where it was."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					if c.row().token == 0 {
						return accept(c)
					}
					c.set(row{c.value, c.row().token})
					return nil
				}
			}),
		},
		{
			zoo.Animal{Name: "mark-as-float64", Clause: "FENCE-2", Fault: "The mark is kept as float64, and loses digits beyond 2^53.", Kinds: []string{"S022"}},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					token := c.token
					if token < 1<<62 {
						token = int64(float64(token))
					}
					c.set(row{c.value, token})
					return nil
				}
			}),
		},
		{
			zoo.Animal{Name: "unchanged-counts-as-stale", Clause: "FENCE-2", Fault: "The number of changed rows decides, and a write that repeats what is there changes none: the retry after a lost reply is told that it is stale.",
				Kinds: []string{"B128"}},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					if (c.row() == row{c.value, c.token}) {
						return refuse(c)
					}
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "empty-value-deletes", Clause: "FENCE-2", Fault: "An empty value deletes the row, and the mark with it."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					if c.value == "" {
						delete(c.s.rows, c.id)
						return nil
					}
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "last-token-refused", Clause: "FENCE-2", Fault: "The largest token stands for something else, and is no token."},
			bred(func(r *rules) {
				check := r.check
				r.check = func(c *call) error {
					if c.token == math.MaxInt64 {
						return errors.New("reserved")
					}
					return check(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "keys-folded", Clause: "FENCE-2", Fault: "Keys that differ in case only share a row, and its mark.", Kinds: []string{"B117"}},
			bred(func(r *rules) { r.rowOf = strings.ToLower }),
		},
		{
			zoo.Animal{Name: "keys-cut", Clause: "FENCE-2", Fault: "Keys that differ after 255 bytes only share a row, and its mark."},
			bred(func(r *rules) { r.rowOf = func(key string) string { return key[:min(len(key), 255)] } }),
		},
		{
			zoo.Animal{Name: "write-through-prefix", Clause: "FENCE-2", Fault: "A write goes by a pattern, and sets all keys that begin with its own.", Kinds: []string{"B117"}},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					for id := range c.s.rows {
						if strings.HasPrefix(id, c.id) {
							c.s.rows[id] = row{c.value, c.token}
						}
					}
					return accept(c)
				}
			}),
		},
	}
}
