package leasetest_test

import (
	"context"
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
