package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/leasekit/lease/leasetest"
)

// Text writes the report for a terminal: a line for each clause, the failures, the
// totals.
func Text(w io.Writer, r *leasetest.Report) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range rows(r) {
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.name, c.verdict, c.why)
	}
	table.Flush()
	for _, c := range r.Clauses {
		if c.Verdict == leasetest.Fail {
			fmt.Fprintf(&b, "\n%s", c.FailureText(r.Backend))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// row is a line of a table of verdicts: a clause, or several in a row that nobody can
// check yet.
type row struct {
	name    string
	verdict leasetest.Verdict
	why     string
	result  leasetest.Result // of one clause
}

// rows are the lines of the report's table.
func rows(r *leasetest.Report) []row {
	var all []row
	for i, c := range r.Clauses {
		why := oneLine(c.Reason)
		if c.Verdict == leasetest.Fail && c.Failure != nil {
			why = oneLine(c.Failure.Problem)
		}
		if n := len(all) - 1; i > 0 && quiet(c) && quiet(all[n].result) && group(c) == group(all[n].result) && all[n].why == why {
			first, _, _ := strings.Cut(all[n].name, " to ")
			all[n].name = first + " to " + c.ID
			continue
		}
		all = append(all, row{c.ID, c.Verdict, why, c})
	}
	return all
}

// quiet says whether it is a clause that was not checked and need not be.
func quiet(c leasetest.Result) bool { return c.Verdict == leasetest.NotChecked && c.Permitted }

func group(c leasetest.Result) string {
	name, _, _ := strings.Cut(c.ID, "-")
	return name
}

// oneLine is text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
