package filelease

import (
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// The list of deviations can be neither too short nor too long. These tests run
// the suite on the harness of TestConformance with a list that is right, one
// that lacks an entry, and one that has an entry too many.

func TestDeclaredDeviationPasses(t *testing.T) {
	t.Parallel()
	r := check(t, func(map[string]string) {})
	if r.Failed() {
		t.Error("the report fails")
	}
	verdict(t, r, "TOKEN-8", leasetest.Deviation)
	count(t, r, map[leasetest.Verdict]int{leasetest.Deviation: 1})
}

func TestUndeclaredDeviationFails(t *testing.T) {
	t.Parallel()
	r := check(t, func(list map[string]string) { delete(list, "TOKEN-8") })
	if !r.Failed() {
		t.Error("the report passes")
	}
	verdict(t, r, "TOKEN-8", leasetest.Fail)
	count(t, r, map[leasetest.Verdict]int{leasetest.Fail: 1})
}

// TestUntrueDeviationFails declares a clause that filelease keeps. That is a
// fault of the harness, not of the backend: the verdict is error.
func TestUntrueDeviationFails(t *testing.T) {
	t.Parallel()
	r := check(t, func(list map[string]string) { list["RENEW-2"] = "leases that are over can be renewed" })
	if !r.Failed() {
		t.Error("the report passes")
	}
	verdict(t, r, "RENEW-2", leasetest.Error)
	verdict(t, r, "TOKEN-8", leasetest.Deviation)
	count(t, r, map[leasetest.Verdict]int{leasetest.Deviation: 1, leasetest.Error: 1})
}

// check runs the suite with the list of deviations as edit leaves it.
func check(t *testing.T, edit func(list map[string]string)) *leasetest.Report {
	t.Helper()
	edited := func(t testing.TB) *leasetest.Harness {
		h := open(t)
		edit(h.Deviations)
		return h
	}
	r, err := leasetest.Check(t.Context(), edited, &leasetest.Options{Name: t.Name(), Cases: 20, Dir: t.TempDir()})
	if err != nil {
		t.Fatalf("check filelease: %v", err)
	}
	t.Log(r.Summary())
	return r
}

func verdict(t *testing.T, r *leasetest.Report, id string, want leasetest.Verdict) {
	t.Helper()
	got, ok := r.Result(id)
	if !ok {
		t.Fatalf("no verdict on %s", id)
	}
	if got.Verdict != want {
		t.Errorf("%s: verdict %q, want %q; reason: %s", id, got.Verdict, want, got.Reason)
	}
}

// count compares the totals, except for clauses that passed or were not checked.
func count(t *testing.T, r *leasetest.Report, want map[leasetest.Verdict]int) {
	t.Helper()
	for _, v := range []leasetest.Verdict{leasetest.Fail, leasetest.Deviation, leasetest.Inconclusive, leasetest.Error} {
		if r.Totals[v] != want[v] {
			t.Errorf("%d clauses with verdict %q, want %d", r.Totals[v], v, want[v])
		}
	}
}
