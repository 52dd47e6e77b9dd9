package leasetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// judged runs the suite on an animal of the zoo, with half of the random programs:
// there are many animals.
func judged(t *testing.T, a zoo.Animal) *leasetest.Report {
	t.Helper()
	report, err := leasetest.Check(context.Background(), a.Open, &leasetest.Options{Name: a.Name, Cases: 50, Dir: t.TempDir(), Limit: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// with returns the ids of the clauses that have one of the verdicts.
func with(r *leasetest.Report, verdicts ...leasetest.Verdict) []string {
	var ids []string
	for _, c := range r.Clauses {
		for _, v := range verdicts {
			if c.Verdict == v {
				ids = append(ids, c.ID)
			}
		}
	}
	return ids
}

// TestBroken wants every broken backend failed by the clause that it breaks,
// and by no other. EXCL-5, the catch-all for concurrent histories, may fail
// along.
func TestBroken(t *testing.T) {
	for _, a := range zoo.Broken() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			report := judged(t, a)
			found := false
			for _, id := range with(report, leasetest.Fail) {
				switch id {
				case a.Clause:
					found = true
				case "EXCL-5":
				default:
					c, _ := report.Result(id)
					t.Errorf("%s (%s) is failed by %s too: %s (%s; %s)\n%s", a.Name, a.Fault, id, c.Failure.Problem, c.Failure.Found, c.Failure.Repeat, leasetest.HistoryText(c.Failure))
				}
			}
			if !found {
				c, _ := report.Result(a.Clause)
				t.Errorf("%s (%s) is not failed by %s: %s %s (seed %d)", a.Name, a.Fault, a.Clause, c.Verdict, c.Reason, report.Seed)
			}
			for _, c := range report.Clauses {
				if c.Verdict == leasetest.Error {
					t.Errorf("%s: error: %s", c.ID, c.Reason)
				}
			}
		})
	}
}

// TestOdd wants the base and every odd but correct backend to pass all that
// can be checked.
func TestOdd(t *testing.T) {
	for _, a := range append(zoo.Odd(), zoo.Base()) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			report := judged(t, a)
			for _, c := range report.Clauses {
				switch c.Verdict {
				case leasetest.Pass:
				case leasetest.NotChecked:
					if !leasetest.Later(c.ID) {
						t.Errorf("%s: not checked: %s", c.ID, c.Reason)
					}
				case leasetest.Fail:
					t.Errorf("%s: %s (%s)\n%s", c.ID, c.Failure.Problem, c.Failure.Found, leasetest.HistoryText(c.Failure))
				default:
					t.Errorf("%s: %s: %s", c.ID, c.Verdict, c.Reason)
				}
			}
		})
	}
}
