package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/leasekit/lease/leasetest"
)

// line is one backend in the table: a report, or the reason why there is none.
type line struct {
	given   string // NAME as it was given
	backend string // what the line is called
	dir     string

	report     *leasetest.Report // nil if absent or broken is set
	absent     string            // why the backend was not run; that alone is not red
	broken     string            // why a backend that was run has no report
	testFailed bool              // go test ended with an error
}

// red says whether the line keeps the whole from being green.
func (l line) red() bool {
	switch {
	case l.absent != "":
		return false
	case l.report == nil:
		return true
	}
	return l.testFailed || l.report.Failed()
}

// unexplained says whether the test failed though its report is green.
func (l line) unexplained() bool {
	return l.testFailed && l.report != nil && !l.report.Failed()
}

// read makes the lines of one backend from the reports in dir.
func read(name, dir string) []line {
	blank := line{given: name, backend: name, dir: dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		blank.broken = fmt.Sprintf("no report: %v", err)
		return []line{blank}
	}
	var lines []line
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		l := blank
		switch r, err := load(filepath.Join(dir, e.Name())); {
		case errors.Is(err, errOther):
			continue
		case err != nil:
			l.broken = err.Error()
		default:
			l.report = r
			l.backend = fmt.Sprintf("%s (%s)", name, r.Backend)
		}
		lines = append(lines, l)
	}
	switch len(lines) {
	case 0:
		blank.broken = "no report: the test ended before it could write one"
		return []line{blank}
	case 1:
		lines[0].backend = name
	}
	return lines
}

// errOther is returned for a file that is no report, such as the saved history
// of a failure.
var errOther = errors.New("not a report")

// load reads one report and makes sure that it is one, and whole.
func load(file string) (*leasetest.Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	r := leasetest.Report{Version: -1}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read report %s: %w", file, err)
	}
	if r.Version == -1 {
		return nil, errOther
	}
	if r.Version != leasetest.ReportVersion {
		return nil, fmt.Errorf("read report %s: its version is %d, want %d", file, r.Version, leasetest.ReportVersion)
	}
	if err := whole(&r); err != nil {
		return nil, fmt.Errorf("read report %s: %w", file, err)
	}
	return &r, nil
}

// whole checks that the totals are those of the clauses: a table is only worth
// something if nothing fell out on the way.
func whole(r *leasetest.Report) error {
	if len(r.Clauses) == 0 {
		return errors.New("it has no clauses")
	}
	counted := map[leasetest.Verdict]int{}
	for _, c := range r.Clauses {
		counted[c.Verdict]++
	}
	sum := 0
	for _, v := range leasetest.Verdicts() {
		if r.Totals[v] != counted[v] {
			return fmt.Errorf("it counts %d %s, its clauses %d", r.Totals[v], v, counted[v])
		}
		sum += counted[v]
	}
	if sum != len(r.Clauses) {
		return fmt.Errorf("%d of its clauses have a verdict that is unknown here", len(r.Clauses)-sum)
	}
	return nil
}
