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

// coarse is a backend that keeps leases in whole units, and none shorter than
// least; what it is asked for is rounded up.
type coarse struct {
	lease.Service
	unit, least time.Duration
	now         func() time.Time
}

func (c coarse) up(ttl time.Duration) time.Duration {
	ttl = max(ttl, c.least)
	now := c.now()
	end := now.Add(ttl).Truncate(c.unit)
	if end.Before(now.Add(ttl)) {
		end = end.Add(c.unit)
	}
	return end.Sub(now)
}

func (c coarse) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if ttl > 0 && ttl < 100*365*24*time.Hour {
		ttl = c.up(ttl)
	}
	return c.Service.Acquire(ctx, key, holder, ttl)
}

func (c coarse) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if ttl > 0 && ttl < 100*365*24*time.Hour {
		ttl = c.up(ttl)
	}
	return c.Service.Renew(ctx, l, ttl)
}

// TestCoarse wants no false alarm from coarse stores whose clock can't be
// moved, and no endless wait.
func TestCoarse(t *testing.T) {
	for name, c := range map[string]struct {
		unit, least, lag time.Duration
		waits            bool // whether leases end soon enough to wait for
	}{
		"resolution 100 ms": {100 * time.Millisecond, 0, 0, true},
		"MinTTL 100 ms":     {time.Millisecond, 100 * time.Millisecond, 0, true},
		"ExpiryLag 100 ms":  {time.Millisecond, 0, 100 * time.Millisecond, true},
		"MinTTL 1 h":        {time.Millisecond, time.Hour, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(testing.TB) *leasetest.Harness {
				store := memlease.New(nil)
				return &leasetest.Harness{
					Connect: func(_ testing.TB, w leasetest.Worker) lease.Service {
						return coarse{store.Service(w.Namespace), c.unit, c.least, func() time.Time { return time.Now().Round(0) }}
					},
					Clock:      &leasetest.Clock{Now: time.Now},
					Resolution: c.unit + time.Millisecond, MinTTL: c.least, ExpiryLag: c.lag,
				}
			}
			report, err := leasetest.Check(context.Background(), open, &leasetest.Options{Cases: 5})
			if err != nil {
				t.Fatal(err)
			}
			if report.Failed() {
				t.Errorf("the report failed: %s", report.Summary())
				for _, r := range report.Clauses {
					if r.Verdict != leasetest.Pass && r.Verdict != leasetest.NotChecked {
						t.Errorf("%s: %s %s", r.ID, r.Verdict, r.Reason)
					}
				}
			}
			want := leasetest.Pass
			if !c.waits {
				want = leasetest.NotChecked
			}
			if r, _ := report.Result("EXPIRY-3"); r.Verdict != want {
				t.Errorf("EXPIRY-3: got %s (%s), want %s", r.Verdict, r.Reason, want)
			}
		})
	}
}
