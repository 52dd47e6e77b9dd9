package fencezoo

import (
	"errors"
	"math"
	"strconv"

	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// staleFaults let a stale write through, or let it change something.
func staleFaults() []Resource {
	return []Resource{
		{
			zoo.Animal{Name: "unfenced", Clause: "FENCE-1", Fault: "The token is written beside the value, and compared with nothing.",
				Kinds: []string{"B136"}, Source: "https://github.com/OptimalBits/bull/issues/1416"},
			bred(func(r *rules) { r.stale = func(int64, int64) bool { return false } }),
		},
		{
			zoo.Animal{Name: "mark-per-client", Clause: "FENCE-1", Fault: "Each client remembers the tokens of its own writes, and knows nothing of those of others."},
			bred(func(r *rules) {
				type whose struct {
					client int
					id     string
				}
				marks := map[whose]int64{}
				r.mark = func(c *call) int64 { return marks[whose{c.client, c.id}] }
				r.accept = func(c *call) error {
					marks[whose{c.client, c.id}] = c.token
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "mark-of-first-writer", Clause: "FENCE-1", Fault: "The mark is set when the row is made, and no later write raises it; the token that is shown is that of the value."},
			bred(func(r *rules) {
				marks := map[string]int64{}
				r.mark = func(c *call) int64 { return marks[c.id] }
				r.accept = func(c *call) error {
					if marks[c.id] == 0 {
						marks[c.id] = c.token
					}
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "one-late-write-allowed", Clause: "FENCE-1", Fault: "The token just below the mark is accepted, off by one."},
			bred(func(r *rules) { r.stale = func(token, mark int64) bool { return token < mark-1 } }),
		},
		{
			zoo.Animal{Name: "stale-as-success", Clause: "FENCE-1", Fault: "A stale write changes no row, and nobody looks at the number of rows: it counts as done."},
			bred(func(r *rules) { r.refuse = func(*call) error { return nil } }),
		},
		{
			zoo.Animal{Name: "stale-as-any-error", Clause: "FENCE-1", Fault: "A stale write fails with an error that says nothing, as an outage does, and the worker tries again."},
			bred(func(r *rules) { r.refuse = func(*call) error { return errors.New("the write failed") } }),
		},
		{
			zoo.Animal{Name: "refused-and-written", Clause: "FENCE-1", Fault: "The value is written before the token is compared, and stays when the write is refused."},
			bred(func(r *rules) {
				r.refuse = func(c *call) error {
					err := refuse(c)
					c.set(row{c.value, c.row().token})
					return err
				}
			}),
		},
		{
			zoo.Animal{Name: "refused-lowers-mark", Clause: "FENCE-1", Fault: "Each write leaves its token as the mark, a refused one too, so that the second try of a stale writer gets through."},
			bred(func(r *rules) {
				r.refuse = func(c *call) error {
					err := refuse(c)
					c.set(row{c.row().value, c.token})
					return err
				}
			}),
		},
		{
			zoo.Animal{Name: "refused-raises-mark", Clause: "FENCE-1", Fault: "A refused write counts the mark up, and shuts the present holder out."},
			bred(func(r *rules) {
				r.refuse = func(c *call) error {
					err := refuse(c)
					if was := c.row(); was.token < math.MaxInt64 {
						c.set(row{was.value, was.token + 1})
					}
					return err
				}
			}),
		},
		{
			zoo.Animal{Name: "refused-raises-hidden-mark", Clause: "FENCE-1", Fault: "A refused write counts a mark up that nobody can see, and shuts the present holder out."},
			bred(func(r *rules) {
				raised := map[string]int64{}
				r.mark = func(c *call) int64 { return max(c.row().token, raised[c.id]) }
				r.refuse = func(c *call) error {
					err := refuse(c)
					if mark := r.mark(c); mark < math.MaxInt64 {
						raised[c.id] = mark + 1
					}
					return err
				}
			}),
		},
		{
			zoo.Animal{Name: "tokens-as-text", Clause: "FENCE-1", Fault: "Tokens are compared as text, where 9 is above 10.",
				Along: []string{"FENCE-2"}, Nature: "the higher of the two is refused just as well"},
			bred(func(r *rules) {
				r.stale = func(token, mark int64) bool {
					return mark > 0 && strconv.FormatInt(token, 10) < strconv.FormatInt(mark, 10)
				}
			}),
		},
		{
			zoo.Animal{Name: "tokens-as-float64", Clause: "FENCE-1", Fault: "Tokens are compared as float64, where 2^53 and 2^53+1 are the same.", Kinds: []string{"S022"}},
			bred(func(r *rules) {
				r.stale = func(token, mark int64) bool { return float64(token) < float64(mark) }
			}),
		},
		{
			zoo.Animal{Name: "tokens-of-32-bits", Clause: "FENCE-1", Fault: "Tokens are compared in 32 bits, and those above begin anew.",
				Along: []string{"FENCE-2"}, Nature: "a higher token whose low half is lower is refused just as well"},
			bred(func(r *rules) {
				r.stale = func(token, mark int64) bool { return int32(token) < int32(mark) }
			}),
		},
		{
			zoo.Animal{Name: "comparison-reversed", Clause: "FENCE-1", Fault: "The comparison stands the wrong way round: lower tokens are accepted.",
				Along: []string{"FENCE-2"}, Nature: "higher ones are refused"},
			bred(func(r *rules) {
				r.stale = func(token, mark int64) bool { return mark > 0 && token > mark }
			}),
		},
	}
}
