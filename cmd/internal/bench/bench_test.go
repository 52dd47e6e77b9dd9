package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/leasekit/lease"

	"github.com/leasekit/lease/cmd/internal/benchreport"
	"github.com/leasekit/lease/cmd/internal/target"
)

// config is a run of a few calls on a target.
func config(t *testing.T, dsn string) *Config {
	t.Helper()
	tg, err := target.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Config{
		RunID: "test", Targets: []*target.Target{tg}, Workloads: Workloads, Workers: 2, Count: 6, Warmup: time.Millisecond,
		TTL: time.Minute, TakeoverTTL: 200 * time.Millisecond, Keys: 10,
	}
}

// Every workload runs on every kind of target that needs no server, all its calls
// succeed, and it takes turns with its floor.
func TestRun(t *testing.T) {
	for _, dsn := range []string{"memory:", "embedded:redis", "embedded:sqlite"} {
		t.Run(dsn, func(t *testing.T) {
			c := config(t, dsn)
			c.Peers = true
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for _, row := range r.Rows {
				got[row.Workload] = append(got[row.Workload], row.By)
				if row.Calls < c.Count || row.ErrorCount() > 0 || row.Hist.TotalCount() == 0 && row.Sampled == 1 {
					t.Errorf("%s by %s: %d calls, %d timed, errors %v", row.Workload, row.By, row.Calls, row.Hist.TotalCount(), row.Errors)
				}
				if row.Workload != hotKey && row.Refused > 0 {
					t.Errorf("%s by %s: %d calls were refused", row.Workload, row.By, row.Refused)
				}
				if row.By != benchreport.Floor && row.Ratio == 0 && row.Sampled == 1 {
					t.Errorf("%s by %s has no ratio", row.Workload, row.By)
				}
			}
			for _, w := range Workloads {
				want := []string{benchreport.Floor, benchreport.Lease}
				if w.lease == nil && !w.slow && c.Targets[0].Kind.IsRedis() {
					want = append(want, "redislock", "redsync")
					if w.Name == "get" {
						want = want[:3]
					}
				}
				if !slices.Equal(got[w.Name], want) {
					t.Errorf("%s: got rows by %v, want %v", w.Name, got[w.Name], want)
				}
			}
		})
	}
}

// A run leaves nothing behind, and what was there before is.
func TestRunTidiesUp(t *testing.T) {
	server := miniredis.RunT(t)
	server.Set("leasebench:mine", "x")
	c := config(t, "redis://"+server.Addr())
	c.Peers = true
	// Keys of miniredis don't expire by themselves, on which the peers rely.
	c.Workloads = slices.DeleteFunc(slices.Clone(Workloads), func(w *Workload) bool { return w.slow })
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if keys := server.Keys(); !slices.Equal(keys, []string{"leasebench:mine"}) {
		t.Errorf("after the run there are the keys %q", keys)
	}

	c = config(t, "sqlite:"+t.TempDir()+"/x.db")
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	client, err := c.Targets[0].Connect(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var tables int
	if err := client.DB.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("after the run there are %d tables, %v", tables, err)
	}
}

// A run that is ended shows what it has, is marked, and tidies up.
func TestRunThatIsEnded(t *testing.T) {
	server := miniredis.RunT(t)
	c := config(t, "redis://"+server.Addr())
	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(doing string, _ float64) {
		if strings.HasPrefix(doing, "get") {
			cancel()
		}
	}
	r, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Incomplete == "" || len(r.Rows) != 4 {
		t.Errorf("got %d rows, incomplete %q; want the 4 of two workloads, and a mark", len(r.Rows), r.Incomplete)
	}
	for _, row := range r.Rows {
		if row.ErrorCount() > 0 {
			t.Errorf("%s by %s: calls that were cut off count as errors: %v", row.Workload, row.By, row.Errors)
		}
	}
	if keys := server.Keys(); len(keys) > 0 {
		t.Errorf("after the run there are the keys %q", keys)
	}
}

func TestRunThatFails(t *testing.T) {
	t.Run("the ttl is below a round trip", func(t *testing.T) {
		c := config(t, "embedded:redis")
		c.TTL = time.Nanosecond
		if r, err := Run(t.Context(), c); !errors.Is(err, ErrTTL) || r != nil {
			t.Errorf("got %v, %v, want ErrTTL and no report", r, err)
		}
	})
	t.Run("the server refuses", func(t *testing.T) {
		server := miniredis.RunT(t)
		c := config(t, "redis://"+server.Addr())
		c.Progress = func(string, float64) { server.SetError("READONLY You can't write against a read only replica.") }
		if r, err := Run(t.Context(), c); err == nil || r != nil {
			t.Errorf("got %v, %v, want an error and no report", r, err)
		}
	})
}

// scripted makes calls that take as long as they are told, in virtual time.
func scripted(took ...time.Duration) call {
	i := 0
	return func(context.Context) (time.Duration, error) {
		d := took[min(i, len(took)-1)]
		i++
		time.Sleep(d)
		return 0, nil
	}
}

// In an open loop a call that is held up delays those behind it, and their latency
// counts from when they were due. A closed loop would see one slow call.
func TestOpenLoopCountsFromTheIntendedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		c := newCaller(Find("renew"), []call{scripted(45*ms, ms)}, 100)
		got := c.take(t.Context(), t.Context(), 100*ms, 0)
		if got.calls != 10 {
			t.Fatalf("got %d calls in 100 ms at 100 a second, want 10", got.calls)
		}
		// Due at 0, 10, 20, 30 and 40 ms; the first is done at 45, the others one ms
		// after the other.
		for q, want := range map[float64]time.Duration{100: 45 * ms, 90: 36 * ms, 80: 27 * ms, 70: 18 * ms, 60: 9 * ms, 50: ms} {
			if d := time.Duration(got.hist.ValueAtQuantile(q)); d < want || d > want+want/500 {
				t.Errorf("%v %%: got %v, want %v", q, d, want)
			}
		}
		if n := c.unserved(got.hist); n != 0 {
			t.Errorf("got %d calls that were never begun, want none", n)
		}
	})
}

// A store that is too slow for the rate shows it: what was due and not begun counts.
func TestOpenLoopThatFallsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(Find("renew"), []call{scripted(20 * time.Millisecond)}, 100)
		var h = benchreport.NewHistogram()
		for range 2 {
			got := c.take(t.Context(), t.Context(), 95*time.Millisecond, 0)
			h.Merge(got.hist)
		}
		if served, n := h.TotalCount(), c.unserved(h); served != 10 || n != 10 {
			t.Errorf("got %d calls and %d never begun, want 10 and 10", served, n)
		}
		if most := time.Duration(h.Max()); most < 100*time.Millisecond {
			t.Errorf("the longest latency is %v, want that of the backlog: 100 ms", most)
		}
	})
}

func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(Find("renew"), []call{scripted(10 * time.Millisecond), scripted(20 * time.Millisecond)}, 0)
		got := c.take(t.Context(), t.Context(), 95*time.Millisecond, 0)
		if got.calls != 15 || got.elapsed != 100*time.Millisecond {
			t.Errorf("got %d calls in %v, want 15 in 100 ms", got.calls, got.elapsed)
		}
		c.sample = 5
		if got = c.take(t.Context(), t.Context(), 95*time.Millisecond, 0); got.hist.TotalCount() != 3 || got.calls != 15 {
			t.Errorf("with one call in 5 timed: got %d of %d", got.hist.TotalCount(), got.calls)
		}
		if got = c.take(t.Context(), t.Context(), 0, 7); got.calls != 7 {
			t.Errorf("got %d calls, want the 7 that were asked for", got.calls)
		}
	})
}

func TestErrorsAreCounted(t *testing.T) {
	errs := []error{nil, lease.ErrHeld, context.DeadlineExceeded, fmt.Errorf("x: %w", lease.ErrLost), errors.New("?"), errors.New("!")}
	i := -1
	c := newCaller(Find("renew"), []call{func(context.Context) (time.Duration, error) { i++; return 0, errs[i] }}, 0)
	got := c.take(t.Context(), t.Context(), 0, int64(len(errs)))
	want := map[string]int64{"timeout": 1, "lost": 1, "other": 2}
	if fmt.Sprint(got.errors) != fmt.Sprint(want) || got.refused != 1 || got.calls != 6 || got.hist.TotalCount() != 2 {
		t.Errorf("got errors %v, %d refused, %d calls, %d timed; want %v, 1, 6, 2", got.errors, got.refused, got.calls, got.hist.TotalCount(), want)
	}
}

func TestCommandStats(t *testing.T) {
	got := map[string]float64{}
	addCommandStats(got, "# Commandstats\r\ncmdstat_evalsha:calls=3,usec=120,usec_per_call=40.00,rejected_calls=0\r\ncmdstat_client|info:calls=1,usec=2\r\n")
	addCommandStats(got, "cmdstat_EVALSHA:calls=1,usec=5\r\nother:usec=9\r\n")
	if want := map[string]float64{"evalsha": 125, "client|info": 2}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWorkloadsAreDescribed(t *testing.T) {
	names := map[string]bool{}
	for _, w := range Workloads {
		if w.About == "" || len(w.floor) == 0 || names[w.Name] || Find(w.Name) != w {
			t.Errorf("%q has no description, no floor, or the name of another", w.Name)
		}
		names[w.Name] = true
	}
	if Find("none") != nil {
		t.Error("found a workload that does not exist")
	}
}
