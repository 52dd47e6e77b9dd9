package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// Verdict is what a campaign says about a store.
type Verdict string

// The verdicts. Inconclusive means that no fault hit anything, or that the judge
// could not decide about a key.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
)

// Calls counts calls by their outcome, in the words of Jepsen.
type Calls struct {
	OK   int `json:"ok"`   // it did what it was asked for
	Fail int `json:"fail"` // it was refused, by ErrHeld, ErrLost or ErrNotHeld
	Info int `json:"info"` // its outcome is unknown
}

// Tally counts the faults of one kind.
type Tally struct {
	Injected int `json:"injected"`
	Hit      int `json:"hit"` // of them, those that met live traffic

	Calls Calls `json:"calls"` // that were made while one was on
}

// Violation is a clause that was broken.
type Violation struct {
	Clause  string   `json:"clause"`
	Or      []string `json:"or,omitempty"` // other clauses that would explain it as well
	Key     string   `json:"key,omitempty"`
	Problem string   `json:"problem"`
	Window  string   `json:"window,omitempty"` // the calls that show it
	Files   []string `json:"files,omitempty"`  // the campaign, and porcupine's picture of the key

	window history.History
	blames []blame // what it may be put to, until that is settled
}

// Report is what a campaign found.
type Report struct {
	Target       string            `json:"target"`
	Seed         uint64            `json:"seed"`
	Verdict      Verdict           `json:"verdict"`
	Took         time.Duration     `json:"took"`
	Calls        Calls             `json:"calls"`
	Keys         int               `json:"keys"`
	Unjudged     int               `json:"unjudged"` // keys on which the judge did not finish
	InPart       int               `json:"inPart"`   // keys that were judged up to one call too many of unknown outcome
	Skipped      int               `json:"skipped"`  // keys that were not judged, after so many bad ones
	Schedule     []Event           `json:"schedule"`
	Faults       map[string]Tally  `json:"faults"`
	NotAvailable map[string]string `json:"notAvailable,omitempty"` // kinds of faults, and why
	Violations   []Violation       `json:"violations,omitempty"`
	Deviations   []Violation       `json:"deviations,omitempty"` // those that the target declares
}

func (c *Calls) count(k model.Outcome) {
	switch k {
	case model.Unknown:
		c.Info++
	case model.Granted, model.Done:
		c.OK++
	default:
		c.Fail++
	}
}

// Plus adds up two counts.
func (c Calls) Plus(other Calls) Calls {
	return Calls{c.OK + other.OK, c.Fail + other.Fail, c.Info + other.Info}
}

func (r *Report) tally(s *Saved) {
	r.Faults = map[string]Tally{}
	for _, h := range s.Histories {
		for _, c := range h.Calls {
			if c.During == "" || strings.HasPrefix(c.During, after) || c.Back != nil {
				continue
			}
			for name := range strings.SplitSeq(c.During, ", ") {
				t := r.Faults[name]
				t.Calls.count(c.Reply.Outcome)
				r.Faults[name] = t
			}
		}
	}
	for _, e := range s.Events {
		t := r.Faults[e.Fault]
		t.Injected++
		if e.Hits > 0 {
			t.Hit++
		}
		r.Faults[e.Fault] = t
	}
}

func (r *Report) add(v Violation, declared []string) {
	if len(v.window.Calls) > 0 {
		v.Window = windowText(v.window)
	}
	if slices.Contains(declared, v.Clause) {
		r.Deviations = append(r.Deviations, v)
	} else {
		r.Violations = append(r.Violations, v)
	}
}

// Injected and Hit sum up the faults of all kinds.
func (r *Report) Injected() (n int) {
	for _, t := range r.Faults {
		n += t.Injected
	}
	return n
}

// Hit is how many faults met live traffic.
func (r *Report) Hit() (n int) {
	for _, t := range r.Faults {
		n += t.Hit
	}
	return n
}

// Broken lists the clauses of the violations, each once.
func (r *Report) Broken() []string { return clauses(r.Violations) }

// Deviating lists the clauses that are declared and were broken, each once.
func (r *Report) Deviating() []string { return clauses(r.Deviations) }

func clauses(all []Violation) []string {
	var ids []string
	for _, v := range all {
		ids = append(ids, v.Clause)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (r *Report) finish() {
	switch {
	case len(r.Violations) > 0:
		r.Verdict = Fail
	case r.Hit() == 0, r.Unjudged > 0, r.Calls.OK == 0:
		r.Verdict = Inconclusive
	default:
		r.Verdict = Pass
	}
}

// String is the report as a person reads it.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "campaign on %s with seed %d: %s, in %v\n", r.Target, r.Seed, r.Verdict, r.Took.Round(time.Millisecond))
	fmt.Fprintf(&b, "%d calls ok, %d refused, %d unknown, on %d keys", r.Calls.OK, r.Calls.Fail, r.Calls.Info, r.Keys)
	if r.Unjudged > 0 {
		fmt.Fprintf(&b, ", %d of which the judge could not decide about", r.Unjudged)
	}
	if r.InPart > 0 {
		fmt.Fprintf(&b, ", %d of which were judged in part", r.InPart)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, ", %d of which were not judged after so many bad ones", r.Skipped)
	}
	b.WriteString("\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "    fault\tinjected\thit\tok\trefused\tunknown\n")
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		t := r.Faults[name]
		fmt.Fprintf(w, "    %s\t%d\t%d\t%d\t%d\t%d\n", name, t.Injected, t.Hit, t.Calls.OK, t.Calls.Fail, t.Calls.Info)
	}
	w.Flush()
	for _, name := range slices.Sorted(maps.Keys(r.NotAvailable)) {
		fmt.Fprintf(&b, "    %s is not available: %s\n", name, r.NotAvailable[name])
	}
	list := func(title string, all []Violation) {
		const most = 5
		for i, v := range all {
			if i == most {
				fmt.Fprintf(&b, "\nand %d more\n", len(all)-most)
				break
			}
			fmt.Fprintf(&b, "\n%s %s", v.Clause, title)
			if v.Key != "" {
				fmt.Fprintf(&b, " on %s", v.Key)
			}
			if len(v.Or) > 0 {
				fmt.Fprintf(&b, " (or %s)", strings.Join(v.Or, ", "))
			}
			fmt.Fprintf(&b, ": %s\n%s", v.Problem, v.Window)
			for _, file := range v.Files {
				fmt.Fprintf(&b, "    saved: %s\n", file)
			}
		}
	}
	list("is broken", r.Violations)
	list("is not kept, as declared,", r.Deviations)
	return b.String()
}
