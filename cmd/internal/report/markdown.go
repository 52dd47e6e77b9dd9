package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/leasekit/lease/leasetest"
)

// mostMarkdown is how long a Markdown report may be, in bytes: a job summary takes no
// more than 1 MiB.
const mostMarkdown = 900 << 10

// Markdown writes the report for a job summary or a comment.
func Markdown(w io.Writer, r *leasetest.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s\n\n", cell(r.Backend), OutcomeOf(r))
	b.WriteString(totalsTable([]*leasetest.Report{r}))
	b.WriteString("\n| clause | verdict | why |\n| --- | --- | --- |\n")
	for _, c := range rows(r) {
		if c.verdict != leasetest.Pass || c.why != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", c.name, mark(c.verdict), cell(c.why))
		}
	}
	for _, c := range r.Clauses {
		text := c.FailureText(r.Backend)
		if c.Verdict != leasetest.Fail || b.Len()+len(text) > mostMarkdown {
			continue
		}
		fmt.Fprintf(&b, "\n<details><summary>%s: %s</summary>\n\n%s\n\n</details>\n", c.ID, htmlText(c.Failure.Problem), fenced(text))
	}
	fmt.Fprintf(&b, "\n%.1f s, seed %d, %d random programs, server clock: %s\n", r.Seconds, r.Seed, r.Cases, r.Figures.Clock)
	_, err := io.WriteString(w, b.String())
	return err
}

// totalsTable has a line for each report.
func totalsTable(reports []*leasetest.Report) string {
	var b strings.Builder
	b.WriteString("| backend |")
	for _, v := range leasetest.Verdicts() {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(leasetest.Verdicts())) + "\n")
	for _, r := range reports {
		fmt.Fprintf(&b, "| %s |", cell(r.Backend))
		for _, v := range leasetest.Verdicts() {
			fmt.Fprintf(&b, " %d |", r.Totals[v])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// mark makes what needs a look stand out.
func mark(v leasetest.Verdict) string {
	switch v {
	case leasetest.Fail, leasetest.Error, leasetest.Inconclusive:
		return "**" + string(v) + "**"
	}
	return string(v)
}

// cell is text that stays within its cell of a table, and is shown as it is.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`).Replace(oneLine(text))
}

func htmlText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(oneLine(text))
}

// fenced is text as a code block, whatever it contains.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
