package main

import (
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

func TestList(t *testing.T) {
	out, _, code := leasecheck(t, "list")
	if got, want := strings.Count(out, "\n"), len(leasetest.Clauses()); code != exitOK || got != want {
		t.Errorf("got the exit code %d and %d lines, want one for each of %d clauses", code, got, want)
	}
	out, _, code = leasecheck(t, "list", "fence", "TOKEN-4")
	if code != exitOK || !strings.Contains(out, "FENCE-1") || !strings.Contains(out, "TOKEN-4") || strings.Contains(out, "TOKEN-5") {
		t.Errorf("got the exit code %d and %s, want the group FENCE and TOKEN-4", code, out)
	}
	if _, errOut, code := leasecheck(t, "list", "TOKEN-99"); code != exitUsage || !strings.Contains(errOut, "TOKEN-99") {
		t.Errorf("got the exit code %d and %s for a clause that is none", code, errOut)
	}
}

// TestExplain wants every clause explained, and those of a lease that the zoo breaks
// with the history of a backend that does.
func TestExplain(t *testing.T) {
	shown := 0
	for _, c := range leasetest.Clauses() {
		out, errOut, code := leasecheck(t, "explain", strings.ToLower(c.ID))
		if code != exitOK || !strings.Contains(out, c.Sentence) || !strings.Contains(out, c.Why) {
			t.Errorf("%s: got the exit code %d and %s%s", c.ID, code, out, errOut)
		}
		if strings.Contains(out, "A backend that breaks it: ") {
			shown++
		}
	}
	if shown < 40 {
		t.Errorf("%d clauses are shown broken, want 40 at least", shown)
	}
	if _, errOut, code := leasecheck(t, "explain", "TOKEN"); code != exitUsage || !strings.Contains(errOut, `"TOKEN"`) {
		t.Errorf("got the exit code %d and %s for a group", code, errOut)
	}
}
