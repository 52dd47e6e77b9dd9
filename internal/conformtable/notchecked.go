package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/leasekit/lease/leasetest"
)

// writeNotChecked prints what was not checked and why. Backends share most of
// the reasons, so clauses with the same reason in the same backends come
// together.
func writeNotChecked(w io.Writer, lines []line) {
	type gap struct{ id, reason string }
	var gaps []gap
	where := map[gap][]string{}
	ran := 0
	for _, l := range lines {
		if l.report == nil {
			continue
		}
		ran++
		for _, c := range l.report.Clauses {
			if c.Verdict != leasetest.NotChecked {
				continue
			}
			g := gap{c.ID, problem(c)}
			if l.report.Strict && !c.Permitted {
				g.reason += " – RED: Harness.Unchecked does not permit it"
			}
			if where[g] == nil {
				gaps = append(gaps, g)
			}
			where[g] = append(where[g], l.backend)
		}
	}
	if len(gaps) == 0 {
		return
	}

	type group struct{ backends, reason string }
	var groups []group
	ids := map[group][]string{}
	for _, g := range gaps {
		backends := strings.Join(where[g], ", ")
		if len(where[g]) == ran && ran > 1 {
			backends = "all"
		}
		key := group{backends, g.reason}
		if ids[key] == nil {
			groups = append(groups, key)
		}
		ids[key] = append(ids[key], g.id)
	}
	fmt.Fprint(w, "\nnot checked:\n")
	for _, g := range groups {
		fmt.Fprintf(w, "  %s (%s): %s\n", ranges(ids[g]), g.backends, g.reason)
	}
}

// ranges joins ids with commas; three or more that follow each other become
// "HOLD-1 to HOLD-10".
func ranges(ids []string) string {
	var parts []string
	for i := 0; i < len(ids); {
		end := i + 1
		for end < len(ids) && follows(ids[end-1], ids[end]) {
			end++
		}
		if end-i >= 3 {
			parts = append(parts, ids[i]+" to "+ids[end-1])
		} else {
			parts = append(parts, ids[i:end]...)
		}
		i = end
	}
	return strings.Join(parts, ", ")
}

// follows says whether the clause b comes right after a in one group.
func follows(a, b string) bool {
	groupA, numberA, _ := strings.Cut(a, "-")
	groupB, numberB, _ := strings.Cut(b, "-")
	x, errX := strconv.Atoi(numberA)
	y, errY := strconv.Atoi(numberB)
	return errX == nil && errY == nil && groupA == groupB && y == x+1
}
