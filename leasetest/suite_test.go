package leasetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// animal returns the broken backend of a name.
func animal(t *testing.T, name string) zoo.Animal {
	t.Helper()
	for _, a := range append(zoo.Broken(), zoo.Odd()...) {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("the zoo has no %q", name)
	return zoo.Animal{}
}

// check runs the suite with a harness that change has altered.
func check(t *testing.T, open func(testing.TB) *leasetest.Harness, change func(*leasetest.Harness)) *leasetest.Report {
	t.Helper()
	report, err := leasetest.Check(context.Background(), func(t testing.TB) *leasetest.Harness {
		h := open(t)
		change(h)
		return h
	}, &leasetest.Options{Limit: time.Second, Cases: 20, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func verdict(t *testing.T, r *leasetest.Report, id string) leasetest.Result {
	t.Helper()
	c, ok := r.Result(id)
	if !ok {
		t.Fatalf("the report has no %s", id)
	}
	return c
}

// TestBoundary wants the backend that compares with <= instead of < found by a
// history of at most 4 calls.
func TestBoundary(t *testing.T) {
	c := verdict(t, judged(t, animal(t, "boundary-inclusive"), 1), "EXPIRY-2")
	if c.Verdict != leasetest.Fail {
		t.Fatalf("got %s, want fail", c.Verdict)
	}
	calls := 0
	for _, e := range c.Failure.History {
		if e.Worker != "" {
			calls++
		}
	}
	t.Logf("found by %s, in %d calls", c.Failure.Found, calls)
	if calls == 0 || calls > 4 {
		t.Errorf("the counterexample has %d calls, want 1 to 4:\n%s", calls, leasetest.HistoryText(c.Failure))
	}
}

// TestRandomProgramsAlone wants the random programs to find and shrink a fault
// without any help from the examples.
func TestRandomProgramsAlone(t *testing.T) {
	for _, name := range []string{"boundary-inclusive", "release-deletes-counter", "renew-matches-holder"} {
		t.Run(name, func(t *testing.T) {
			a := animal(t, name)
			f := leasetest.FindByProgram(t, a.Open, a.Clause)
			if f == nil {
				t.Fatalf("random programs did not find %s broken", a.Clause)
			}
			if calls := len(f.History); calls > 8 {
				t.Errorf("the counterexample has %d lines, want it shrunk to 8 at most:\n%s", calls, leasetest.HistoryText(f))
			}
		})
	}
}

// TestSameSeed wants two runs with one seed to say the same.
func TestSameSeed(t *testing.T) {
	a := animal(t, "same-holder-keeps-token")
	var texts []string
	for range 2 {
		r, err := leasetest.Check(context.Background(), a.Open, &leasetest.Options{Seed: 7, Limit: 2 * time.Second, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		c := verdict(t, r, a.Clause)
		if c.Failure == nil {
			t.Fatalf("%s: got %s, want fail", a.Clause, c.Verdict)
		}
		texts = append(texts, leasetest.HistoryText(c.Failure))
	}
	if texts[0] != texts[1] {
		t.Errorf("two runs with one seed differ:\n%s\n%s", texts[0], texts[1])
	}
}

// TestDeviations wants a declared deviation reported as one, and a declaration
// that is not true refused with what to do.
func TestDeviations(t *testing.T) {
	a := animal(t, "boundary-inclusive")
	t.Run("shows", func(t *testing.T) {
		r := check(t, a.Open, func(h *leasetest.Harness) {
			h.Deviations = map[string]string{"EXPIRY-2": "kept for old clients"}
		})
		c := verdict(t, r, "EXPIRY-2")
		if c.Verdict != leasetest.Deviation || c.Reason != "kept for old clients" || c.Failure == nil {
			t.Errorf("got %s (%s), want a deviation with its reason and evidence", c.Verdict, c.Reason)
		}
		if r.Failed() {
			t.Errorf("the report failed: %s", r.Summary())
		}
	})
	t.Run("does not show", func(t *testing.T) {
		r := check(t, zoo.Base().Open, func(h *leasetest.Harness) {
			h.Deviations = map[string]string{"TOKEN-4": "for speed"}
		})
		c := verdict(t, r, "TOKEN-4")
		if !r.Failed() || c.Verdict != leasetest.Error || !strings.Contains(c.Reason, "remove the entry") {
			t.Errorf("got %s (%s), want an error that says to remove the entry", c.Verdict, c.Reason)
		}
	})
	t.Run("does not hide others", func(t *testing.T) {
		r := check(t, a.Open, func(h *leasetest.Harness) {
			connect := h.Connect
			h.Deviations = map[string]string{"EXPIRY-2": "kept for old clients"}
			h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service {
				return deafRelease{connect(t, w)}
			}
		})
		if c := verdict(t, r, "RELEASE-1"); c.Verdict != leasetest.Fail {
			t.Errorf("RELEASE-1: got %s (%s), want fail", c.Verdict, c.Reason)
		}
	})
}

// deafRelease says that it released, and does not.
type deafRelease struct{ lease.Service }

func (deafRelease) Release(_ context.Context, l lease.Lease) error { return lease.CheckLease(l) }

// TestHarnessFaults wants the harness's own faults to be errors that say what
// to do, never a verdict on the backend and never the end of the run.
func TestHarnessFaults(t *testing.T) {
	base := zoo.Base().Open
	for name, c := range map[string]struct {
		open func(testing.TB) *leasetest.Harness
		want string
	}{
		"nil harness": {func(testing.TB) *leasetest.Harness { return nil }, "nil *Harness"},
		"no Connect": {func(t testing.TB) *leasetest.Harness {
			h := base(t)
			h.Connect = nil
			return h
		}, "Connect is nil"},
		"nil service": {func(t testing.TB) *leasetest.Harness {
			h := base(t)
			h.Connect = func(testing.TB, leasetest.Worker) lease.Service { return nil }
			return h
		}, "nil lease.Service"},
		"unknown clause": {func(t testing.TB) *leasetest.Harness {
			h := base(t)
			h.Deviations = map[string]string{"TOKEN-99": "no such thing"}
			return h
		}, "does not exist"},
		"fatal in open": {func(t testing.TB) *leasetest.Harness {
			t.Fatal("no server here")
			return nil
		}, "no server here"},
		"panic in open": {func(testing.TB) *leasetest.Harness { panic("oh") }, "panicked: oh"},
		"fatal in Connect": {func(t testing.TB) *leasetest.Harness {
			h := base(t)
			h.Connect = func(t testing.TB, _ leasetest.Worker) lease.Service {
				t.Fatalf("connection %s", "refused")
				return nil
			}
			return h
		}, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, c.open, func(*leasetest.Harness) {})
			if !r.Failed() {
				t.Errorf("the report did not fail: %s", r.Summary())
			}
			res := verdict(t, r, "TOKEN-2")
			if res.Verdict != leasetest.Error || !strings.Contains(res.Reason, c.want) {
				t.Errorf("TOKEN-2: got %s (%s), want an error that contains %q", res.Verdict, res.Reason, c.want)
			}
			if n := r.Totals[leasetest.Fail]; n > 0 {
				t.Errorf("%d clauses fail, though the backend was never asked", n)
			}
		})
	}
}

// TestSkippedNamespace wants a harness that skips namespaces to lose KEY-2 and
// nothing else.
func TestSkippedNamespace(t *testing.T) {
	r := check(t, zoo.Base().Open, func(h *leasetest.Harness) {
		connect := h.Connect
		h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service {
			if w.Namespace != "" {
				t.Skip("this backend has no namespaces")
			}
			return connect(t, w)
		}
	})
	if c := verdict(t, r, "KEY-2"); c.Verdict != leasetest.NotChecked || !strings.Contains(c.Reason, "no namespaces") {
		t.Errorf("KEY-2: got %s (%s), want not checked with the harness's reason", c.Verdict, c.Reason)
	}
	for _, id := range with(r, leasetest.NotChecked) {
		if id != "KEY-2" && !leasetest.Later(id) {
			t.Errorf("%s is not checked", id)
		}
	}
}

// TestStrict wants a strict report to fail clauses that are not checked, except
// those that the harness permits, and a stale permission to fail.
func TestStrict(t *testing.T) {
	open := func(t testing.TB) *leasetest.Harness {
		h := zoo.Base().Open(t)
		h.SeedToken = nil
		return h
	}
	for name, c := range map[string]struct {
		permitted []string
		fails     bool
	}{
		"nothing permitted": {nil, true},
		"all permitted":     {[]string{"TOKEN-8", "TOKEN-9"}, false},
		"one too many":      {[]string{"TOKEN-8", "TOKEN-9", "TOKEN-4"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := leasetest.Check(context.Background(), func(t testing.TB) *leasetest.Harness {
				h := open(t)
				h.Unchecked = map[string]string{}
				for _, id := range c.permitted {
					h.Unchecked[id] = "its counter can't be set"
				}
				return h
			}, &leasetest.Options{Strict: true, Cases: 10, Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if r.Failed() != c.fails {
				t.Errorf("Failed: got %v, want %v; %s", r.Failed(), c.fails, r.Summary())
			}
		})
	}
}

// TestCheckErrors is about Check's own arguments.
func TestCheckErrors(t *testing.T) {
	if _, err := leasetest.Check(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), "open is nil") {
		t.Errorf("Check without open: got %v, want an error that says so", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := leasetest.Check(ctx, zoo.Base().Open, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Check with a done context: got %v, want its error", err)
	}
	if r == nil || !r.Failed() || r.Totals[leasetest.Pass] > 0 {
		t.Errorf("Check with a done context: got %v, want a report in which nothing passed", r)
	}
}

// TestReportJSON wants a report to come back from its JSON as it was.
func TestReportJSON(t *testing.T) {
	r := judged(t, animal(t, "boundary-inclusive"), 1)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back leasetest.Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Version != leasetest.ReportVersion || back.Summary() != r.Summary() || len(back.Clauses) != len(leasetest.Clauses()) {
		t.Errorf("got %s, want %s", back.Summary(), r.Summary())
	}
}

// TestSavedHistory wants a history that no order explains saved for people and
// for machines.
func TestSavedHistory(t *testing.T) {
	f := leasetest.FailHistory(t)
	if len(f.Files) != 2 {
		t.Fatalf("got files %v, want a JSON and an HTML file", f.Files)
	}
	for i, want := range []string{`"calls"`, "<html"} {
		text, err := os.ReadFile(f.Files[i])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not contain %q", f.Files[i], want)
		}
	}
}
