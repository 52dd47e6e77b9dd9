package leasetest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// TestHostile wants a verdict on backends that hang, panic and answer nonsense,
// and a report of the whole contract for each.
func TestHostile(t *testing.T) {
	for _, a := range zoo.Hostile() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			report, err := leasetest.Check(context.Background(), a.Open, &leasetest.Options{
				Name: a.Name, Cases: 20, Limit: 200 * time.Millisecond, Dir: t.TempDir(),
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(report.Summary())
			if len(report.Clauses) != len(leasetest.Clauses()) {
				t.Errorf("the report has %d clauses, want all %d", len(report.Clauses), len(leasetest.Clauses()))
			}
			if a.Clause == "" {
				if report.Failed() {
					t.Errorf("failed, though no clause is broken: %s", report.Summary())
				}
				return
			}
			if !report.Failed() {
				t.Errorf("the report did not fail: %s", report.Summary())
			}
			r, _ := report.Result(a.Clause)
			if r.Verdict == leasetest.Pass || a.Clause == "ERR-7" && r.Verdict != leasetest.Fail {
				t.Errorf("%s: got %s (%s), want fail", a.Clause, r.Verdict, r.Reason)
			}
		})
	}
}

// TestHostileHelpers wants the same of hold helpers.
func TestHostileHelpers(t *testing.T) {
	for _, a := range zoo.HostileHelpers(t) {
		t.Run(a.Name, func(t *testing.T) {
			report, err := leasetest.Helper{Hold: a.Hold}.Check(context.Background(), &leasetest.Options{
				Name: a.Name, Cases: 20, Limit: 100 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(report.Summary())
			if len(report.Clauses) != 10 || !report.Failed() {
				t.Errorf("the report has %d clauses, failed: %v; want all 10, and that it fails", len(report.Clauses), report.Failed())
			}
			failed := with(report, leasetest.Fail)
			if want := []string{a.Clause}; a.Clause != "" && !slices.Equal(failed, want) || a.Clause == "" && len(failed) > 0 {
				t.Errorf("failed by %v, want %v alone", failed, a.Clause)
				for _, id := range failed {
					r, _ := report.Result(id)
					t.Logf("%s: %s\n%s", id, r.Failure.Problem, leasetest.HistoryText(r.Failure))
				}
			}
		})
	}
}
