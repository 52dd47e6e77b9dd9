package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

func TestOutcome(t *testing.T) {
	pass := leasetest.Result{ID: "EXCL-1", Level: leasetest.Must, Verdict: leasetest.Pass}
	with := func(v leasetest.Verdict) leasetest.Result {
		return leasetest.Result{ID: "TOKEN-4", Level: leasetest.Must, Verdict: v}
	}
	should, stale := with(leasetest.Fail), with(leasetest.Error)
	should.Level, stale.Stale = leasetest.Should, true
	for _, c := range []struct {
		name    string
		clauses []leasetest.Result
		strict  bool
		want    Outcome
		color   string
	}{
		{"kept", []leasetest.Result{pass}, false, Conformant, "brightgreen"},
		{"a deviation", []leasetest.Result{pass, with(leasetest.Deviation)}, false, Conformant, "yellowgreen"},
		{"broken", []leasetest.Result{pass, with(leasetest.Inconclusive), with(leasetest.Fail)}, false, NotConformant, "red"},
		{"a SHOULD broken", []leasetest.Result{pass, should}, false, Conformant, "brightgreen"},
		{"a SHOULD broken, and an error", []leasetest.Result{pass, should, with(leasetest.Error)}, false, Inconclusive, "lightgrey"},
		{"stale", []leasetest.Result{pass, stale}, false, NotConformant, "red"},
		{"not checked", []leasetest.Result{pass, with(leasetest.NotChecked)}, false, Conformant, "brightgreen"},
		{"not checked, strictly", []leasetest.Result{pass, with(leasetest.NotChecked)}, true, NotConformant, "red"},
		{"nothing", []leasetest.Result{with(leasetest.NotChecked)}, false, Nothing, "lightgrey"},
		{"errors alone", []leasetest.Result{with(leasetest.Error)}, false, Nothing, "lightgrey"},
	} {
		r := &leasetest.Report{Strict: c.strict, Clauses: c.clauses, Totals: map[leasetest.Verdict]int{}}
		for _, one := range c.clauses {
			r.Totals[one.Verdict]++
		}
		if got := OutcomeOf(r); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		var text strings.Builder
		if err := Badge(&text, r); err != nil {
			t.Fatal(err)
		}
		var badge struct {
			Color   string
			IsError bool
		}
		if err := json.Unmarshal([]byte(text.String()), &badge); err != nil || badge.Color != c.color || badge.IsError != (c.want != Conformant) {
			t.Errorf("%s: got the badge %s (%v), want it %s", c.name, text.String(), err, c.color)
		}
	}
}
