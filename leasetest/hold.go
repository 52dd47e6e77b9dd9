package leasetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// HoldFunc is a hold helper: lease.Hold itself, or an adapter of another one. An
// adapter passes on what its helper has a setting for. Where there is none for an
// option that is not zero, it returns lease.ErrInvalid before the store is called:
// what needs that option is not checked then, and the report says so.
type HoldFunc func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(ctx context.Context, l lease.Lease) error) error

// Helper is a hold helper, and what is declared of it.
type Helper struct {
	Hold HoldFunc // required

	// Deviations declares clauses that this helper does not keep, and Unchecked
	// those that it can't have checked, as in Harness.
	Deviations map[string]string
	Unchecked  map[string]string
}

// RunHold checks a hold helper against the HOLD clauses, one subtest per clause,
// named by its id. It is short for Helper{Hold: hold}.Run(t).
//
//	func TestHold(t *testing.T) { leasetest.RunHold(t, lease.Hold) }
func RunHold(t *testing.T, hold HoldFunc) {
	t.Helper()
	Helper{Hold: hold}.run(t, callerPackage())
}

// Run checks the helper against the HOLD clauses. The helper lives in
// testing/synctest bubbles, where hours take no time: its calls go to a store that
// answers, delays, hangs, fails and loses leases at instants that a schedule says,
// those of examples first and then random ones. A failure shows the shortest
// schedule found as a history.
//
// Run judges in a child process, as Run of backends does with -lease.isolate: a
// helper may run the body on a goroutine of its own, and a panic there ends the
// process. The flags are those of Run.
func (h Helper) Run(t *testing.T) {
	t.Helper()
	h.run(t, callerPackage())
}

func (h Helper) run(t *testing.T, pkg string) {
	t.Helper()
	if err := h.check(); err != nil {
		t.Fatalf("leasetest: %v", err)
	}
	k := flagKnobs()
	k.isolate = true
	h.suite(t, t.Name(), pkg, k).test(t)
}

// Check does what Run does outside of go test, in this process, and returns the
// report. A nil *Options means the defaults; Workers and Dir play no part.
func (h Helper) Check(ctx context.Context, o *Options) (*Report, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("leasetest.Helper.Check: %w", err)
	}
	o, err := o.checked("leasetest.Helper.Check")
	if err != nil {
		return nil, err
	}
	return h.suite(nil, o.name("helper"), "", o.knobs()).check(ctx, o)
}

// check reports what is wrong with the declarations.
func (h Helper) check() error {
	if h.Hold == nil {
		return fmt.Errorf("the helper's Hold is nil: set it to the function that holds a lease while a body runs")
	}
	if err := (&Harness{Connect: nowhere, Deviations: h.Deviations, Unchecked: h.Unchecked}).check(); err != nil {
		return err
	}
	for _, entries := range []map[string]string{h.Deviations, h.Unchecked} {
		for _, id := range slices.Sorted(maps.Keys(entries)) {
			if !strings.HasPrefix(id, "HOLD-") {
				return fmt.Errorf("the helper declares something of %s, which is not about hold helpers", id)
			}
		}
	}
	return nil
}

// nowhere is the Connect of a harness that has no store.
func nowhere(testing.TB, Worker) lease.Service { return nil }

// suite is a suite that judges a helper by the clauses that are about it.
func (h Helper) suite(parent testing.TB, name, pkg string, k knobs) *suite {
	s := newSuite(parent, name, pkg, nil, k)
	s.subject = subject{
		clauses: holdClauses,
		died:    func(why string) *Report { return holdDied(name, why) },
		examine: func(r *Report) {
			r.Figures = Figures{Clock: "bubble", Resolution: (1 * time.Nanosecond).String()}
			s.checkHold(h.Hold)
		},
	}
	s.h = &Harness{Deviations: h.Deviations, Unchecked: h.Unchecked}
	s.excuses = newExcuses(s.h)
	return s
}

// holdDied is the report of a helper that took its process down. If the body's own
// panic did, the helper let it go where nobody can catch it; else it is not known
// which clause was tried.
func holdDied(name, why string) *Report {
	r := &Report{Version: ReportVersion, Backend: name, Started: time.Now().UTC(), Figures: Figures{Clock: "bubble"}}
	for _, c := range holdClauses {
		result := Result{ID: c.ID, Level: c.Level, Sentence: c.Sentence, Verdict: Inconclusive, Reason: "the process died: " + why}
		if c.ID == "HOLD-7" && strings.Contains(why, bodyPanic) {
			result.Verdict, result.Reason = Fail, ""
			result.Failure = &Failure{
				Problem: "the body's panic does not reach the caller, and ends the process: " + why,
				Found:   "a process of its own", History: []Event{},
			}
		}
		r.Clauses = append(r.Clauses, result)
	}
	r.count()
	return r
}
