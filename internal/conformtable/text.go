package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/leasekit/lease/leasetest"
)

// legend says what the columns count.
const legend = `
pass          checked as CONFORMANCE.md describes, to the end, and nothing broke it
fail          a history was found that the clause forbids
deviation     failed, as the backend declares
not checked   the harness lacks what the check needs, or the suite has none; never counts as passed
inconclusive  the check did not run to its end, so nothing follows from it; not green
error         the harness itself failed; not green
`

// writeText prints the table, what is behind its figures, and the legend.
func writeText(w io.Writer, lines []line) {
	writeTable(w, lines)
	for _, l := range lines {
		writeProblems(w, l)
	}
	writeNotChecked(w, lines)
	fmt.Fprint(w, legend)
}

func writeTable(w io.Writer, lines []line) {
	width := len("backend")
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l.backend))
	}
	fmt.Fprintf(w, "%-*s  result", width, "backend")
	for _, v := range leasetest.Verdicts() {
		fmt.Fprintf(w, "  %s", v)
	}
	fmt.Fprint(w, "  seconds\n")
	for _, l := range lines {
		fmt.Fprintf(w, "%-*s  ", width, l.backend)
		if l.report == nil {
			fmt.Fprintln(w, l.why())
			continue
		}
		fmt.Fprintf(w, "%-*s", len("result"), l.result())
		for _, v := range leasetest.Verdicts() {
			fmt.Fprintf(w, "  %*d", len(v), l.report.Totals[v])
		}
		fmt.Fprintf(w, "  %*.1f\n", len("seconds"), l.report.Seconds)
	}
}

// result is the line's outcome in one word.
func (l line) result() string {
	if l.red() {
		return "RED"
	}
	return "green"
}

// why says why a line has no figures.
func (l line) why() string {
	if l.absent != "" {
		return l.absent
	}
	return fmt.Sprintf("RED: %s (see %s)", l.broken, l.dir)
}

// writeProblems prints the clauses of one backend that were broken or could
// not be judged, one line each.
func writeProblems(w io.Writer, l line) {
	if l.report == nil {
		return
	}
	var rows [][3]string
	for _, c := range l.report.Clauses {
		word := string(c.Verdict)
		switch {
		case c.Verdict == leasetest.Pass, c.Verdict == leasetest.NotChecked:
			continue
		case c.Verdict == leasetest.Fail && c.Level == leasetest.Should:
			word = "fail (a SHOULD: a warning)"
		}
		rows = append(rows, [3]string{c.ID, word, problem(c)})
	}
	if len(rows) == 0 && !l.unexplained() {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", l.backend)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", r[0], r[1], r[2])
	}
	t.Flush()
	if l.unexplained() {
		fmt.Fprintf(w, "  the test failed, and its report does not say why: its output does (see %s)\n", l.dir)
	}
}

// problem is what is wrong with a clause, in one line.
func problem(c leasetest.Result) string {
	text := c.Reason
	if c.Verdict == leasetest.Fail && c.Failure != nil {
		text = c.Failure.Problem
	}
	if text == "" {
		return "(no reason given)"
	}
	return oneLine(text)
}

// oneLine is text without line breaks and tabs, which would tear the table.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
