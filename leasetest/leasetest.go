package leasetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Run checks a backend against every clause of the contract, one subtest per
// clause, named by its id. open returns one empty store; it is called once per
// example and check, so start servers outside of it. See Harness for what else
// it can offer.
//
// Only a clause that was examined to the end passes. A clause that fails, an
// inconclusive one and an error of the harness fail the test; one that this
// harness can't have checked is skipped with the reason, or fails with
// -lease.strict. -lease.report=DIR writes the Report as JSON. With -lease.isolate
// the suite runs in a child process with limits on time and memory: a backend
// that ends the process (a panic in a goroutine of its own, os.Exit) gets a
// failed report then, and the tests after it run.
//
// Run may be called several times in one process, and from parallel tests.
func Run(t *testing.T, open func(t testing.TB) *Harness) {
	t.Helper()
	if open == nil {
		t.Fatal("leasetest.Run: open is nil: give it a function that returns the Harness of one empty store")
	}
	newSuite(t, t.Name(), packageOf(open), open, flagKnobs()).test(t)
}

// test runs the suite as a test, and reports a subtest for each clause.
func (s *suite) test(t *testing.T) {
	t.Helper()
	k := s.knobs
	s.ordinal = ordinal(t)
	if inSkewChild() {
		if s.openFn == nil {
			return // the child is another run's: this one has no skew to check
		}
		if err := s.runSkewChild(); err != nil {
			t.Error(err)
		}
		return
	}
	if k.report != "" {
		s.dir = filepath.Join(k.report, "histories")
	}
	if inIsolation() {
		if err := s.runIsolated(); err != nil {
			t.Error(err)
		}
		return
	}
	var report *Report
	if k.isolate {
		var err error
		if report, err = s.isolate(); err != nil {
			t.Fatalf("leasetest: -lease.isolate: %v", err)
		}
	} else {
		report = s.run()
	}
	saved := ""
	if k.report != "" {
		file, err := report.write(k.report)
		if err != nil {
			t.Errorf("leasetest: -lease.report: %v", err)
		}
		saved = "\nreport: " + file
	}
	if s.noStart != nil {
		// Once is enough: nothing was checked.
		t.Fatalf("leasetest: %v%s", s.noStart, saved)
	}
	for _, r := range report.Clauses {
		t.Run(r.ID, func(t *testing.T) { r.tell(t, report) })
	}
	if report.Failed() {
		t.Errorf("%s%s", report.Summary(), saved)
	} else {
		t.Logf("%s%s", report.Summary(), saved)
	}
}

// tell reports a verdict in the words of the testing package.
func (r Result) tell(t *testing.T, report *Report) {
	t.Helper()
	c, _ := clauseByID(r.ID)
	switch r.Verdict {
	case Pass:
	case Fail:
		text := failureText(report.Backend, c, r.Failure)
		if r.Failed(report.Strict) {
			t.Error(text)
		} else {
			t.Log("warning: " + text)
		}
	case Deviation:
		t.Logf("%s: deviation, declared: %s", r.ID, r.Reason)
	default:
		text := fmt.Sprintf("%s: %s: %s", r.ID, r.Verdict, r.Reason)
		if r.Failed(report.Strict) {
			t.Error(text)
		} else {
			t.Skip(text)
		}
	}
}

// Options are the settings of Check. Zero fields mean the defaults.
type Options struct {
	Name    string        // of the backend in the report; default "backend"
	Seed    uint64        // of the random programs; default drawn from the clock
	Cases   int           // number of random programs; default 100
	Workers int           // workers in the concurrent checks; default 8
	Strict  bool          // clauses that are not checked fail, unless Harness.Unchecked permits it
	Limit   time.Duration // how long one call may take before it counts as hanging; default 10 s
	Dir     string        // where to save the histories of failed concurrent checks; default a new temporary folder

	// Progress is told, from one goroutine, how many of the checks are made.
	Progress func(made, of int)

	// Repeat returns the command that meets a failure again, for the report: by the
	// clause, the seed and the number of random programs. Default the Options that do.
	Repeat func(clause string, seed uint64, cases int) string
}

// checked returns the options, or the defaults for nil, or what is wrong with
// them.
func (o *Options) checked(where string) (*Options, error) {
	if o == nil {
		o = &Options{}
	}
	if o.Cases < 0 || o.Workers < 0 || o.Limit < 0 {
		return nil, fmt.Errorf("%s: Options{Cases: %d, Workers: %d, Limit: %v}: want 0 for the defaults, or more", where, o.Cases, o.Workers, o.Limit)
	}
	return o, nil
}

func (o *Options) knobs() knobs {
	k := knobs{seed: o.Seed, cases: o.Cases, workers: o.Workers, strict: o.Strict}
	k.fill()
	return k
}

// name is the subject's name, or the other one if none was given.
func (o *Options) name(otherwise string) string {
	if o.Name == "" {
		return otherwise
	}
	return o.Name
}

// Check does what Run does outside of go test, and returns the report. The
// testing.TB that open gets has no test behind it: its failures become the
// verdict "error".
//
// Check judges in this process alone: the check for wrong worker clocks
// (EXPIRY-4) opens clients inside testing/synctest bubbles, and a client whose
// own goroutines panic there ends the process. A command therefore best calls
// Check in a child of itself. The error is not nil if open is nil or ctx ended
// before the run did; what the run found until then is in the report.
func Check(ctx context.Context, open func(testing.TB) *Harness, o *Options) (*Report, error) {
	if open == nil {
		return nil, fmt.Errorf("leasetest.Check: open is nil: give it a function that returns the Harness of one empty store")
	}
	o, err := o.checked("leasetest.Check")
	if err != nil {
		return nil, err
	}
	return newSuite(nil, o.name("backend"), packageOf(open), open, o.knobs()).check(ctx, o)
}

// check runs the suite outside of go test.
func (s *suite) check(ctx context.Context, o *Options) (*Report, error) {
	s.dir, s.progress, s.repeatBy = o.Dir, o.Progress, o.Repeat
	if o.Limit > 0 {
		s.guard.limit = o.Limit
	}
	s.ctx = ctx
	report := s.run()
	if err := ctx.Err(); err != nil {
		return report, fmt.Errorf("check %s: %w", s.name, err)
	}
	return report, nil
}

// saveDir is the folder for saved histories.
func (s *suite) saveDir() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "leasetest-"+fileName(s.name)+"-*")
		if err != nil {
			return "", fmt.Errorf("make folder for histories: %w", err)
		}
		s.dir = dir
	}
	return s.dir, os.MkdirAll(s.dir, 0o755)
}
