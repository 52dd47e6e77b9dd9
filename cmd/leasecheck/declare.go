package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// readDeviations reads a file with a line for each clause that a backend is known to
// break: its id, a colon, the reason. Empty lines and those with # are left out.
func readDeviations(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("-deviations: %w", err)
	}
	found := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, ":")
		id, reason = strings.TrimSpace(id), strings.TrimSpace(reason)
		switch _, twice := found[id]; {
		case !isClause(id):
			return nil, fmt.Errorf("%s, line %d: there is no clause %q; leasecheck list has them", file, i+1, id)
		case reason == "":
			return nil, fmt.Errorf("%s, line %d: %s has no reason: want \"%s: why the backend breaks it\"", file, i+1, id, id)
		case twice:
			return nil, fmt.Errorf("%s, line %d: %s is declared twice", file, i+1, id)
		}
		found[id] = reason
	}
	return found, nil
}

func isClause(id string) bool {
	return slices.ContainsFunc(leasetest.Clauses(), func(c leasetest.Clause) bool { return c.ID == id })
}

// chosen are the clauses that -clause names: ids and groups, with commas between.
func chosen(flags []string) ([]string, error) {
	var ids []string
	for _, name := range strings.FieldsFunc(strings.Join(flags, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		name = strings.ToUpper(name)
		before := len(ids)
		for _, c := range leasetest.Clauses() {
			if c.ID == name || strings.HasPrefix(c.ID, name+"-") {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) == before {
			return nil, fmt.Errorf("-clause: there is no clause and no group %q; leasecheck list has them", name)
		}
	}
	return ids, nil
}

// declaring adds the declared deviations to the harnesses of open.
func (s *settings) declaring(open func(testing.TB) *leasetest.Harness) func(testing.TB) *leasetest.Harness {
	if len(s.deviations) == 0 {
		return open
	}
	return func(t testing.TB) *leasetest.Harness {
		h := open(t)
		h.Deviations = map[string]string{}
		for id, reason := range s.deviations {
			h.Deviations[id] = reason
			delete(h.Unchecked, id)
		}
		return h
	}
}

// failing is a store that can't be opened.
func failing(why error) func(testing.TB) *leasetest.Harness {
	return func(t testing.TB) *leasetest.Harness {
		t.Fatal(why)
		return nil
	}
}

// settle makes the report one about the clauses that were asked for, in the words of
// the command line.
func (s *settings) settle(r *leasetest.Report) {
	var kept []leasetest.Result
	for v := range r.Totals {
		r.Totals[v] = 0
	}
	for _, c := range r.Clauses {
		if len(s.clauses) > 0 && !slices.Contains(s.clauses, c.ID) {
			continue
		}
		if reason, declared := s.deviations[c.ID]; c.Stale && declared {
			c.Reason = fmt.Sprintf("%s declares %s (%q), but the backend keeps the clause: remove the line", s.declaredIn, c.ID, reason)
		}
		kept = append(kept, c)
		r.Totals[c.Verdict]++
	}
	r.Clauses = kept
}
