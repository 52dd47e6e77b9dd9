package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/leasekit/lease/leasetest"
)

// matrix is what the template of many reports sees.
type matrix struct {
	Verdicts []leasetest.Verdict
	Reports  []page
	Lines    []matrixLine
}

// matrixLine is a clause, with a cell for each report.
type matrixLine struct {
	ID, Sentence string
	Cells        []matrixCell
}

type matrixCell struct {
	Verdict leasetest.Verdict
	Mark    string
	Why     string
}

// marks are the verdicts in one character.
var marks = map[leasetest.Verdict]string{
	leasetest.Pass: "✓", leasetest.Fail: "✗", leasetest.Deviation: "≠",
	leasetest.NotChecked: "–", leasetest.Inconclusive: "?", leasetest.Error: "!",
}

func newMatrix(reports []*leasetest.Report) matrix {
	m := matrix{Verdicts: leasetest.Verdicts()}
	for _, r := range reports {
		p := page{Report: r, Outcome: OutcomeOf(r)}
		for _, v := range m.Verdicts {
			p.Counts = append(p.Counts, count{v, r.Totals[v]})
		}
		m.Reports = append(m.Reports, p)
	}
	for _, c := range leasetest.Clauses() {
		line, some := matrixLine{ID: c.ID, Sentence: c.Sentence}, false
		for _, r := range reports {
			got, ok := r.Result(c.ID)
			if !ok {
				line.Cells = append(line.Cells, matrixCell{Verdict: "not asked", Mark: " "})
				continue
			}
			some = true
			why := oneLine(got.Reason)
			if got.Failure != nil {
				why = oneLine(got.Failure.Problem)
			}
			line.Cells = append(line.Cells, matrixCell{got.Verdict, marks[got.Verdict], why})
		}
		if some {
			m.Lines = append(m.Lines, line)
		}
	}
	return m
}

// MatrixHTML writes many reports as one page that needs nothing else.
func MatrixHTML(w io.Writer, reports []*leasetest.Report) error {
	if err := matrixPage.Execute(w, newMatrix(reports)); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	return nil
}

// MatrixMarkdown writes many reports as two tables.
func MatrixMarkdown(w io.Writer, reports []*leasetest.Report) error {
	var b strings.Builder
	b.WriteString(totalsTable(reports))
	b.WriteString("\n| clause |")
	m := newMatrix(reports)
	for _, r := range reports {
		fmt.Fprintf(&b, " %s |", cell(r.Backend))
	}
	b.WriteString("\n| --- |" + strings.Repeat(" :---: |", len(reports)) + "\n")
	for _, line := range m.Lines {
		fmt.Fprintf(&b, "| %s |", line.ID)
		for _, c := range line.Cells {
			fmt.Fprintf(&b, " %s |", c.Mark)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n✓ pass, ✗ fail, ≠ declared deviation, – not checked, ? inconclusive, ! error\n")
	_, err := io.WriteString(w, b.String())
	return err
}
