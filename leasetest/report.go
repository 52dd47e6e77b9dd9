package leasetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ReportVersion is the version of the report's schema. It rises when a field
// changes its meaning or goes; a new field alone does not raise it.
const ReportVersion = 1

// Verdict is what the suite says of one clause. Only Pass counts as passed.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Deviation    Verdict = "deviation"    // fails as Harness.Deviations declares
	NotChecked   Verdict = "not checked"  // the harness lacks what it takes; the reason says what
	Inconclusive Verdict = "inconclusive" // the check did not come to its end
	Error        Verdict = "error"        // the harness itself failed
)

// Verdicts lists the verdicts in the order in which reports count them.
func Verdicts() []Verdict {
	return []Verdict{Pass, Fail, Deviation, NotChecked, Inconclusive, Error}
}

// Report is the outcome of one run of the suite on one backend. Its JSON form
// is what -lease.report writes; the schema is described in CONFORMANCE.md.
type Report struct {
	Version int             `json:"version"` // ReportVersion
	Backend string          `json:"backend"` // the test's name, or Options.Name
	Started time.Time       `json:"started"` // on the machine that ran the suite
	Seconds float64         `json:"seconds"` // how long it took
	Seed    uint64          `json:"seed"`    // of the random programs; -rapid.seed repeats them
	Cases   int             `json:"cases"`   // random programs asked for
	Strict  bool            `json:"strict"`  // clauses that are not checked fail, unless they are permitted to
	Figures Figures         `json:"figures"` // what the harness declared
	Totals  map[Verdict]int `json:"totals"`  // number of clauses by verdict; all six are there
	Clauses []Result        `json:"clauses"` // all clauses, in the order of CONFORMANCE.md
}

// Died is the report of a backend that took the process down in which the suite
// judged it: its death, with the cause in why, breaks ERR-7, and nothing else is
// known. A program that judges backends it doesn't trust runs the suite in a
// child process, and calls Died when that leaves no report.
func Died(backend, why string) *Report { return died(backend, why, clauses, "ERR-7") }

// died is Died for a subject: its clauses, and the one that its death breaks.
func died(name, why string, clauses []Clause, deadly string) *Report {
	r := &Report{Version: ReportVersion, Backend: name, Started: time.Now().UTC()}
	for _, c := range clauses {
		result := Result{ID: c.ID, Level: c.Level, Sentence: c.Sentence, Verdict: NotChecked, Reason: "the process died: " + why}
		if c.ID == deadly {
			result.Verdict, result.Reason = Fail, ""
			result.Failure = &Failure{Problem: name + " ends the process that calls it: " + why, Found: "a process of its own", History: []Event{}}
		}
		r.Clauses = append(r.Clauses, result)
	}
	r.count()
	return r
}

// Figures are what a harness declares of its store. Durations are in the
// notation of time.Duration.
type Figures struct {
	Clock      string `json:"clock"` // "frozen", "moved", "read" or "none": what the suite could do to the server clock
	Resolution string `json:"resolution"`
	MinTTL     string `json:"minTTL,omitempty"`
	MaxTTL     string `json:"maxTTL,omitempty"`
	ExpiryLag  string `json:"expiryLag,omitempty"`
}

// Result is the verdict on one clause.
type Result struct {
	ID        string   `json:"id"`
	Level     Level    `json:"level"`
	Sentence  string   `json:"sentence"`
	Verdict   Verdict  `json:"verdict"`
	Reason    string   `json:"reason,omitempty"`    // why not checked, inconclusive, error or deviation
	Permitted bool     `json:"permitted,omitempty"` // not checked, as Harness.Unchecked permits or because no check exists yet
	Stale     bool     `json:"stale,omitempty"`     // an error because a declaration of the harness is no longer true
	Failure   *Failure `json:"failure,omitempty"`   // of fail and deviation
}

// Failure is the evidence that a clause is broken.
type Failure struct {
	Problem string   `json:"problem"`         // what happened, in one sentence
	Found   string   `json:"found"`           // the check that found it
	History []Event  `json:"history"`         // the shortest history found
	Repeat  string   `json:"repeat"`          // the command that repeats it
	Files   []string `json:"files,omitempty"` // saved histories and pictures
}

// Event is one line of a history.
type Event struct {
	Time   string `json:"time"`   // server clock when the call was answered, UTC, or empty where it can't be read; of concurrent calls, from when to when since the check began
	Worker string `json:"worker"` // A, B, …; empty for a move of the clock
	Call   string `json:"call"`
	Reply  string `json:"reply"`
	Want   string `json:"want,omitempty"` // what the contract expects, where the reply is something else
}

// Failed says whether a report makes a test fail: a MUST clause that fails, an
// inconclusive verdict or an error, and with strict a clause that is not
// checked though Harness.Unchecked does not permit it.
func (r *Report) Failed() bool {
	if r.Totals[Pass]+r.Totals[Deviation] == 0 {
		return true
	}
	for _, c := range r.Clauses {
		if c.Failed(r.Strict) {
			return true
		}
	}
	return false
}

// Failed says whether the verdict makes a test fail, as Report.Failed does.
func (r Result) Failed(strict bool) bool {
	switch r.Verdict {
	case Fail:
		return r.Level == Must
	case NotChecked:
		return strict && !r.Permitted
	case Inconclusive, Error:
		return true
	}
	return false
}

// Result returns the verdict on the clause id.
func (r *Report) Result(id string) (Result, bool) {
	for _, c := range r.Clauses {
		if c.ID == id {
			return c, true
		}
	}
	return Result{}, false
}

// Summary is the report in one line: the backend and the six counts.
func (r *Report) Summary() string {
	var parts []string
	for _, v := range Verdicts() {
		parts = append(parts, fmt.Sprintf("%d %s", r.Totals[v], v))
	}
	return fmt.Sprintf("%s: %s (%.1f s, seed %d)", r.Backend, strings.Join(parts, ", "), r.Seconds, r.Seed)
}

// count fills in the totals.
func (r *Report) count() {
	r.Totals = map[Verdict]int{}
	for _, v := range Verdicts() {
		r.Totals[v] = 0
	}
	for _, c := range r.Clauses {
		r.Totals[c.Verdict]++
	}
}

// write saves the report in dir, as a file of its own: packages are tested in
// parallel, and one file would be overwritten.
func (r *Report) write(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make report folder: %w", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode report: %w", err)
	}
	f, err := os.CreateTemp(dir, fileName(r.Backend)+"-*.json")
	if err != nil {
		return "", fmt.Errorf("create report: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Chmod(0o644) // a report is for others to read
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", fmt.Errorf("write report %s: %w", f.Name(), err)
	}
	return f.Name(), nil
}

// fileName makes a name that is safe for a file from the name of a test.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, filepath.ToSlash(name))
}
