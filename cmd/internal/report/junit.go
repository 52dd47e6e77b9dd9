package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/leasekit/lease/leasetest"
)

// The elements of a JUnit file, as its readers know them:
// https://github.com/testmoapp/junitxml.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		counts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string `xml:"name,attr"`
		Timestamp string `xml:"timestamp,attr"`
		counts
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	counts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Time    string       `xml:"time,attr"`
		Failure *junitDetail `xml:"failure,omitempty"`
		Error   *junitDetail `xml:"error,omitempty"`
		Skipped *junitDetail `xml:"skipped,omitempty"`
	}
	junitDetail struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the report as a JUnit file, with a test case for each clause. What
// fails the run is a failure, or an error if nobody knows; a deviation, and what was
// not checked, is skipped, with the reason.
func JUnit(w io.Writer, r *leasetest.Report) error {
	suite := junitSuite{
		Name: r.Backend, Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{{"seed", fmt.Sprint(r.Seed)}, {"checks", fmt.Sprint(r.Cases)}, {"clock", r.Figures.Clock}},
	}
	suite.Time = fmt.Sprintf("%.3f", r.Seconds)
	for _, c := range r.Clauses {
		one := junitCase{Name: c.ID + " " + oneLine(c.Sentence), Class: strings.ReplaceAll(r.Backend, ".", "_") + "." + group(c), Time: "0"}
		detail := &junitDetail{Message: string(c.Verdict) + ": " + oneLine(c.Reason), Type: string(c.Verdict)}
		if c.Failure != nil {
			detail.Text = c.FailureText(r.Backend)
			if c.Reason == "" {
				detail.Message = oneLine(c.Failure.Problem)
			}
		}
		suite.Tests++
		switch failed := c.Failed(r.Strict); {
		case failed && (c.Verdict == leasetest.Error && !c.Stale || c.Verdict == leasetest.Inconclusive):
			one.Error = detail
			suite.Errors++
		case failed:
			one.Failure = detail
			suite.Failures++
		case c.Verdict != leasetest.Pass:
			one.Skipped = detail
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, one)
	}
	all := junitSuites{Name: "leasecheck", counts: suite.counts, Suites: []junitSuite{suite}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return fmt.Errorf("encode the JUnit file: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}
