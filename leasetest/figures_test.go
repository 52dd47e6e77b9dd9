package leasetest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/leasetest"
)

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
		"resolution 25 ms": {25 * time.Millisecond, 0, 0, true},
		"MinTTL 50 ms":     {time.Millisecond, 50 * time.Millisecond, 0, true},
		"ExpiryLag 50 ms":  {time.Millisecond, 0, 50 * time.Millisecond, true},
		"MinTTL 1 h":       {time.Millisecond, time.Hour, 0, false},
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

// frozen is a server clock that stands still, ticks in coarse steps and may
// refuse to go back.
type frozen struct {
	at    time.Time
	tick  time.Duration
	never bool // goes back
}

func (c *frozen) Now() time.Time { return c.at.Truncate(c.tick) }

func (c *frozen) Move(d time.Duration) {
	if d > 0 || !c.never {
		c.at = c.at.Add(d)
	}
}

// limited refuses ttls above most.
type limited struct {
	coarse
	most time.Duration
}

func (l limited) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if ttl > l.most {
		return lease.Lease{}, fmt.Errorf("%w: the ttl is above %v", lease.ErrInvalid, l.most)
	}
	return l.coarse.Acquire(ctx, key, holder, ttl)
}

func (l limited) Renew(ctx context.Context, g lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if ttl > l.most {
		return lease.Lease{}, fmt.Errorf("%w: the ttl is above %v", lease.ErrInvalid, l.most)
	}
	return l.coarse.Renew(ctx, g, ttl)
}

// TestFigures wants no false alarm from stores with unusual figures, on a clock
// that stands still, wherever it stands.
func TestFigures(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		least, most, unit, lag time.Duration
		tick                   time.Duration
		year                   int
		never                  bool
		unchecked              string // the clauses that can't be checked there
	}{
		"MaxTTL 10 s":            {most: 10 * time.Second},
		"15 s to 1 min":          {least: 15 * time.Second, most: time.Minute, unchecked: "EXPIRY-7"},
		"MinTTL 1 day":           {least: day},
		"resolution 5 min":       {unit: 5 * time.Minute},
		"ExpiryLag 2 min":        {lag: 2 * time.Minute},
		"clock ticks in seconds": {tick: time.Second},
		"clock never goes back":  {never: true, unchecked: "EXPIRY-7 EXPIRY-4"},
		"in 1973":                {year: 1973},
		"in 2150":                {year: 2150, unchecked: "EXPIRY-6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(testing.TB) *leasetest.Harness {
				clock := &frozen{at: time.Date(2031, 5, 6, 7, 8, 9, 123000, time.UTC), tick: max(c.tick, 1), never: c.never}
				if c.year > 0 {
					clock.at = time.Date(c.year, 5, 6, 7, 8, 9, 123000, time.UTC)
				}
				store := memlease.New(&memlease.Options{Now: clock.Now})
				h := &leasetest.Harness{
					Clock:  &leasetest.Clock{Now: clock.Now, Move: clock.Move, Freeze: func(bool) {}},
					MinTTL: c.least, MaxTTL: c.most, Resolution: c.unit, ExpiryLag: c.lag,
				}
				most := c.most
				if most == 0 {
					most = 1<<63 - 1
				}
				h.Connect = func(_ testing.TB, w leasetest.Worker) lease.Service {
					return limited{coarse{store.Service(w.Namespace), max(c.unit, time.Millisecond), c.least, clock.Now}, most}
				}
				return h
			}
			report, err := leasetest.Check(context.Background(), open, &leasetest.Options{Cases: 30})
			if err != nil {
				t.Fatal(err)
			}
			if report.Failed() {
				t.Errorf("the report failed: %s", report.Summary())
			}
			for _, r := range report.Clauses {
				switch {
				case r.Failure != nil:
					t.Errorf("%s: %s\n%s", r.ID, r.Failure.Problem, leasetest.HistoryText(r.Failure))
				case slices.Contains(strings.Fields(c.unchecked), r.ID):
					if r.Verdict != leasetest.NotChecked {
						t.Errorf("%s: got %s, want not checked", r.ID, r.Verdict)
					}
				case r.Verdict == leasetest.Inconclusive || r.Verdict == leasetest.Error:
					t.Errorf("%s: %s %s", r.ID, r.Verdict, r.Reason)
				}
			}
		})
	}
}

// anarchic grants every key to everybody, under a token that is none.
type anarchic struct{ lease.Service }

func (a anarchic) Acquire(_ context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	return lease.Lease{Key: key, Holder: holder, ExpiresAt: time.Unix(0, 0).Add(ttl)}, lease.CheckAcquire(key, holder, ttl)
}

// TestNothingPassesUnseen wants a backend whose every grant is excused, because
// a declared deviation is in the way, to pass no clause on grants.
func TestNothingPassesUnseen(t *testing.T) {
	report, err := leasetest.Check(context.Background(), func(t testing.TB) *leasetest.Harness {
		h := openMemory(t)
		connect := h.Connect
		h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service { return anarchic{connect(t, w)} }
		h.Deviations = map[string]string{"TOKEN-1": "it has no tokens"}
		return h
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"EXCL-1", "EXCL-2", "EXCL-4", "TOKEN-2", "TOKEN-4", "EXPIRY-1", "EXPIRY-3", "RENEW-1", "RENEW-2", "RELEASE-1", "GET-1"} {
		if r, _ := report.Result(id); r.Verdict == leasetest.Pass {
			t.Errorf("%s passed: %s", id, r.Reason)
		}
	}
}
