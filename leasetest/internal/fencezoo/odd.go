package fencezoo

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// Odd returns resources that look odd and keep the contract: the suite has to pass
// them every time.
func Odd() []Resource {
	return []Resource{
		{
			zoo.Animal{Name: "marks-apart", Fault: "Marks and values are in two tables, written in one transaction."},
			bred(func(r *rules) {
				marks := map[string]int64{}
				r.mark = func(c *call) int64 { return marks[c.id] }
				r.accept = func(c *call) error {
					marks[c.id] = c.token
					return accept(c)
				}
				r.show = func(c *call) row { return row{c.row().value, marks[c.id]} }
			}),
		},
		{
			zoo.Animal{Name: "marks-as-padded-text", Fault: "Tokens are compared as text of 19 digits with zeros in front, which has the order of the numbers."},
			bred(func(r *rules) {
				padded := func(n int64) string { return fmt.Sprintf("%019d", n) }
				r.stale = func(token, mark int64) bool { return padded(token) < padded(mark) }
			}),
		},
		{
			zoo.Animal{Name: "values-lost-on-restart", Fault: "A restart leaves the marks, and no values."},
			bred(func(r *rules) {
				r.restart = func(s *store) {
					for id, was := range s.rows {
						s.rows[id] = row{"", was.token}
					}
				}
			}),
		},
		{
			zoo.Animal{Name: "plain-sentinel", Fault: "A stale write gets the sentinel alone, without the tokens."},
			bred(func(r *rules) { r.refuse = func(*call) error { return fence.ErrStale } }),
		},
		{
			zoo.Animal{Name: "wrapped-errors", Fault: "Errors come wrapped several times over."},
			wrapped(func(r fence.Resource) fence.Resource { return wrapping{r} }),
		},
		{
			zoo.Animal{Name: "slow-writes", Fault: "Every write spins for a while under the lock."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					for n := range 20_000 {
						spin(n)
					}
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "locks-again", Fault: "A write gives the lock up between look and write, and looks again when it has it back."},
			bred(func(r *rules) {
				r.accept = func(c *call) error {
					c.pause()
					if r.stale(c.token, r.mark(c)) {
						return r.refuse(c)
					}
					return accept(c)
				}
			}),
		},
		{
			zoo.Animal{Name: "one-client", Fault: "All clients of the suite are one and the same."},
			func(t testing.TB) *leasetest.FenceHarness {
				h := Base().OpenFence(t)
				var once sync.Once
				var only fence.Resource
				connect := h.Connect
				h.Connect = func(t testing.TB) fence.Resource {
					once.Do(func() { only = connect(t) })
					return only
				}
				return h
			},
		},
		{
			zoo.Animal{Name: "never-restarts", Fault: "There is no way to restart it.", Unseen: []string{"FENCE-4"}},
			declaring(func(h *leasetest.FenceHarness) { h.Restart = nil }),
		},
		{
			zoo.Animal{Name: "declines-restart", Fault: "The harness finds out late that it can't restart.", Unseen: []string{"FENCE-4"}},
			declaring(func(h *leasetest.FenceHarness) { h.Restart = func(t testing.TB) { t.Skip("the server is not ours") } }),
		},
	}
}

// declaring returns an opener of the base with a harness that declare has changed.
func declaring(declare func(h *leasetest.FenceHarness)) func(testing.TB) *leasetest.FenceHarness {
	return func(t testing.TB) *leasetest.FenceHarness {
		h := Base().OpenFence(t)
		declare(h)
		return h
	}
}

// wrapped puts something around every client of the base.
func wrapped(wrap func(fence.Resource) fence.Resource) func(testing.TB) *leasetest.FenceHarness {
	return declaring(func(h *leasetest.FenceHarness) {
		connect := h.Connect
		h.Connect = func(t testing.TB) fence.Resource { return wrap(connect(t)) }
	})
}

type wrapping struct{ fence.Resource }

func (w wrapping) Write(ctx context.Context, key string, token int64, value string) error {
	if err := w.Resource.Write(ctx, key, token, value); err != nil {
		return fmt.Errorf("write the report: %w", fmt.Errorf("table reports: %w", err))
	}
	return nil
}

//go:noinline
func spin(int) {}
