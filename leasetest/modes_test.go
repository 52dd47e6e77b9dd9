package leasetest_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/leasetest"
)

// shifted is a server clock that runs on, and can be moved.
type shifted struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *shifted) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off).Round(0)
}

func (c *shifted) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

// modes are the ways in which a harness may offer the server clock.
var modes = map[string]func(*memlease.Store, *shifted) *leasetest.Clock{
	"no clock":        func(*memlease.Store, *shifted) *leasetest.Clock { return nil },
	"a clock to read": func(_ *memlease.Store, c *shifted) *leasetest.Clock { return &leasetest.Clock{Now: c.Now} },
	"a clock that runs on": func(_ *memlease.Store, c *shifted) *leasetest.Clock {
		return &leasetest.Clock{Now: c.Now, Move: c.Move}
	},
}

// TestClockModes wants no false alarm from a backend that keeps the contract,
// however little of its clock the harness offers, and nothing called passed
// that can't be seen there.
func TestClockModes(t *testing.T) {
	unseen := map[string][]string{
		"no clock":             {"TOKEN-5", "EXPIRY-1", "EXPIRY-2", "EXPIRY-5", "EXPIRY-6", "EXPIRY-7", "TOKEN-8", "TOKEN-9", "ERR-1", "ERR-4", "ERR-9", "EXPIRY-4"},
		"a clock to read":      {"TOKEN-5", "EXPIRY-2", "EXPIRY-6", "EXPIRY-7", "TOKEN-8", "TOKEN-9", "ERR-1", "ERR-4", "ERR-9", "EXPIRY-4"},
		"a clock that runs on": {"EXPIRY-2", "EXPIRY-7", "TOKEN-8", "TOKEN-9", "ERR-1", "ERR-4", "ERR-9", "EXPIRY-4"},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(testing.TB) *leasetest.Harness {
				c := &shifted{off: 5 * 365 * 24 * time.Hour}
				store := memlease.New(&memlease.Options{Now: c.Now})
				return &leasetest.Harness{
					Connect: func(_ testing.TB, w leasetest.Worker) lease.Service { return store.Service(w.Namespace) },
					Clock:   mode(store, c),
				}
			}
			report, err := leasetest.Check(context.Background(), open, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(report.Summary())
			for _, c := range report.Clauses {
				want := leasetest.Pass
				if leasetest.Later(c.ID) || slices.Contains(unseen[name], c.ID) {
					want = leasetest.NotChecked
				}
				if c.Verdict != want {
					t.Errorf("%s: got %s (%s), want %s", c.ID, c.Verdict, c.Reason, want)
					if c.Failure != nil {
						t.Log(c.Failure.Problem, "\n", leasetest.HistoryText(c.Failure))
					}
				}
			}
		})
	}
}
