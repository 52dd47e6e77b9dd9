package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/leasekit/lease/leasetest"
)

//go:embed style.css
var style string

//go:embed page.html
var pageText string

//go:embed matrix.html
var matrixText string

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":  func() template.CSS { return template.CSS(style) },
	"class":  class,
	"link":   safeLink,
	"number": func(i int) int { return i + 1 },
}).Parse(pageText))

var matrixPage = template.Must(template.Must(pages.Clone()).New("matrix").Parse(matrixText))

// mostTimelines bounds how many calls of one history are drawn: the table has all.
const mostTimelines = 60

// page is what the template of a report sees.
type page struct {
	*leasetest.Report
	Outcome  Outcome
	Counts   []count
	Rows     []pageRow
	Failures []failure
}

type count struct {
	Verdict leasetest.Verdict
	N       int
}

type pageRow struct {
	Name, Why string
	Verdict   leasetest.Verdict
	Sentence  string
	Detailed  bool // there is a section on it
}

type failure struct {
	leasetest.Result
	Clause   leasetest.Clause
	Timeline *timeline
}

// HTML writes the report as one page that needs nothing else.
func HTML(w io.Writer, r *leasetest.Report) error {
	p := page{Report: r, Outcome: OutcomeOf(r)}
	for _, v := range leasetest.Verdicts() {
		p.Counts = append(p.Counts, count{v, r.Totals[v]})
	}
	known := map[string]leasetest.Clause{}
	for _, c := range leasetest.Clauses() {
		known[c.ID] = c
	}
	for _, c := range rows(r) {
		p.Rows = append(p.Rows, pageRow{
			Name: c.name, Why: c.why, Verdict: c.verdict, Sentence: c.result.Sentence, Detailed: c.result.Failure != nil,
		})
	}
	for _, c := range r.Clauses {
		if c.Failure == nil {
			continue
		}
		f := failure{Result: c, Clause: known[c.ID]}
		if len(c.Failure.History) <= mostTimelines {
			f.Timeline = newTimeline(c.Failure.History)
		}
		p.Failures = append(p.Failures, f)
	}
	if err := pages.Execute(w, p); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	return nil
}

// class is the style of a verdict.
func class(v any) string { return strings.ReplaceAll(fmt.Sprint(v), " ", "-") }

// safeLink lets only web addresses become links.
func safeLink(address string) bool { return strings.HasPrefix(address, "https://") }
