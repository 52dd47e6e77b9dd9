package leasetest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// helperNamed returns a broken hold helper of the zoo.
func helperNamed(t *testing.T, name string) leasetest.HoldFunc {
	t.Helper()
	for _, a := range zoo.BrokenHelpers() {
		if a.Name == name {
			return a.Hold
		}
	}
	t.Fatalf("there is no helper %s", name)
	return nil
}

func checkHelper(t *testing.T, h leasetest.Helper) *leasetest.Report {
	t.Helper()
	report, err := h.Check(context.Background(), &leasetest.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestHelperDeclarations(t *testing.T) {
	base := zoo.BaseHelper().Hold
	for name, tt := range map[string]struct {
		helper leasetest.Helper
		want   leasetest.Verdict // of HOLD-4
		failed bool
	}{
		"kept":                   {leasetest.Helper{Hold: base}, leasetest.Pass, false},
		"broken":                 {leasetest.Helper{Hold: helperNamed(t, "no-deadline")}, leasetest.Fail, true},
		"broken and declared":    {leasetest.Helper{Hold: helperNamed(t, "no-deadline"), Deviations: map[string]string{"HOLD-4": "it has no deadline"}}, leasetest.Deviation, false},
		"kept, yet declared":     {leasetest.Helper{Hold: base, Deviations: map[string]string{"HOLD-4": "it has no deadline"}}, leasetest.Error, true},
		"checked, yet permitted": {leasetest.Helper{Hold: base, Unchecked: map[string]string{"HOLD-4": "no time"}}, leasetest.Error, true},
	} {
		t.Run(name, func(t *testing.T) {
			report := checkHelper(t, tt.helper)
			r, ok := report.Result("HOLD-4")
			if !ok || r.Verdict != tt.want || report.Failed() != tt.failed {
				t.Errorf("got %s (%s), failed %v; want %s, failed %v", r.Verdict, r.Reason, report.Failed(), tt.want, tt.failed)
			}
			if r.Verdict == leasetest.Deviation && r.Failure == nil {
				t.Error("the deviation comes without its evidence")
			}
		})
	}
}

func TestHelperIsRefused(t *testing.T) {
	base := zoo.BaseHelper().Hold
	for says, h := range map[string]leasetest.Helper{
		"Hold is nil":                 {},
		`clause "HOLD-99"`:            {Hold: base, Deviations: map[string]string{"HOLD-99": "?"}},
		"not about hold helpers":      {Hold: base, Unchecked: map[string]string{"TOKEN-4": "?"}},
		`Deviations["HOLD-1"] has no`: {Hold: base, Deviations: map[string]string{"HOLD-1": ""}},
	} {
		if _, err := h.Check(context.Background(), nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
	}
}

// A run that was ended before its end must not pass.
func TestHelperCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	report, err := leasetest.Helper{Hold: zoo.BaseHelper().Hold}.Check(ctx, nil)
	if err == nil || !report.Failed() || report.Totals[leasetest.Inconclusive] != 10 {
		t.Errorf("got %v and %s, want an error and ten inconclusive clauses", err, report.Summary())
	}
}

// A helper that refuses an option passes what needs none, and the report says what
// is left out.
func TestHelperRefusesOptions(t *testing.T) {
	for _, a := range zoo.OddHelpers() {
		if a.Name != "knows-no-options" {
			continue
		}
		report := checkHelper(t, leasetest.Helper{Hold: a.Hold})
		for id, option := range map[string]string{"HOLD-4": "Margin", "HOLD-9": "Wait"} {
			r, _ := report.Result(id)
			if r.Verdict != leasetest.Pass || !strings.Contains(r.Reason, "in part: one of its scenarios needs HoldOptions."+option) {
				t.Errorf("%s: got %s (%s), want a pass in part, for want of %s", id, r.Verdict, r.Reason, option)
			}
		}
		return
	}
	t.Fatal("there is no helper that refuses options")
}

// The history of a failure tells what happened and when, up to the breach.
func TestHelperFailure(t *testing.T) {
	report := checkHelper(t, leasetest.Helper{Hold: helperNamed(t, "hung-renewal-blocks")})
	r, _ := report.Result("HOLD-4")
	if r.Failure == nil {
		t.Fatalf("got %s (%s), want a failure", r.Verdict, r.Reason)
	}
	if want := "the lease may have ended at +30s, and the body goes on until +1m0s"; r.Failure.Problem != want {
		t.Errorf("got the problem %q, want %q", r.Failure.Problem, want)
	}
	text := leasetest.HistoryText(r.Failure)
	place := -1
	for _, want := range []string{
		"since the check began", "hang until their contexts end", `calls the helper for "job-1", ttl 30s`, "token 7",
		"+10s", "Renew(token 7, 30s)", "…", "contract: the body's context is cancelled by +30s",
	} {
		at := strings.Index(text, want)
		if at < place {
			t.Errorf("%q does not come in its place:\n%s", want, text)
		}
		place = at
	}
	if n := strings.Count(text, "\n"); n > 9 {
		t.Errorf("the history has %d lines, want the shortest:\n%s", n, text)
	}
}

// Random schedules find by themselves what examples were written for.
func TestRandomSchedules(t *testing.T) {
	// That two calls wait side by side for long is too rare to be drawn.
	const rare = "polls-in-step"
	for _, a := range zoo.BrokenHelpers() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			if f := leasetest.FindByStory(t, a.Hold, a.Clause); f == nil && a.Name != rare {
				t.Errorf("%s (%s) is not found", a.Clause, a.Fault)
			}
		})
	}
}

// A helper that asks on and on when its story is over is stopped, before what the
// store notes of it fills the memory.
func TestSpinningHelperIsStopped(t *testing.T) {
	const enough = 100_000
	var spun atomic.Bool
	helper := leasetest.Helper{Hold: func(_ context.Context, s lease.Service, key string, _ *lease.HoldOptions, _ func(context.Context, lease.Lease) error) error {
		for range enough {
			s.Get(context.Background(), key)
		}
		spun.Store(true)
		return nil
	}}
	report, err := helper.Check(context.Background(), &leasetest.Options{Seed: 1, Cases: 5})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Failed() || spun.Load() {
		t.Errorf("failed: %v, came to its %d calls: %v; want failed, and stopped before", report.Failed(), enough, spun.Load())
	}
}
