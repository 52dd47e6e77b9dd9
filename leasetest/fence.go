package leasetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/leasekit/lease/fence"
)

// RunFence checks a protected resource against the clauses FENCE-1 to FENCE-5, one
// subtest per clause, named by its id. open returns one empty resource; it is
// called a few times, so start servers outside of it.
//
// Verdicts, flags and the report are those of Run. It may be called in the same
// test as Run, and several times.
func RunFence(t *testing.T, open func(t testing.TB) *FenceHarness) {
	t.Helper()
	if open == nil {
		t.Fatal("leasetest.RunFence: open is nil: give it a function that returns the FenceHarness of one empty resource")
	}
	newFenceSuite(newSuite(t, t.Name(), packageOf(open), nil, flagKnobs()), open).test(t)
}

// CheckFence does what RunFence does outside of go test, and returns the report.
// Its arguments and its error are those of Check.
func CheckFence(ctx context.Context, open func(testing.TB) *FenceHarness, o *Options) (*Report, error) {
	if open == nil {
		return nil, fmt.Errorf("leasetest.CheckFence: open is nil: give it a function that returns the FenceHarness of one empty resource")
	}
	o, err := o.checked("leasetest.CheckFence")
	if err != nil {
		return nil, err
	}
	return newFenceSuite(newSuite(nil, o.name("resource"), packageOf(open), nil, o.knobs()), open).check(ctx, o)
}

// FenceHarness is one empty protected resource, and what the suite may do to it.
//
// Only Connect is required. Without Restart FENCE-4 is "not checked", with that as
// the reason; it never passes.
type FenceHarness struct {
	// Connect opens one more client of this resource, as another process would
	// have. Register what has to be closed with t.Cleanup; it runs when the suite
	// is done with the resource. Connect may be called from several goroutines.
	Connect func(t testing.TB) fence.Resource

	// Restart ends the resource and brings it back with what it keeps: best by
	// a crash, since that is how it ends when nobody looks. It is called some
	// dozens of times, while no call is out; what was connected before is not
	// used any more.
	Restart func(t testing.TB)

	// Deviations declares clauses that this resource does not keep, and Unchecked
	// those that this harness can't have checked, by id, with the reason, as in
	// Harness.
	Deviations map[string]string
	Unchecked  map[string]string
}

// check reports what is wrong with the harness, as a person who wrote it wants
// to read it, or nil.
func (h *FenceHarness) check() error {
	if h == nil {
		return fmt.Errorf("open returned a nil *FenceHarness: return one with at least Connect set")
	}
	if h.Connect == nil {
		return fmt.Errorf("the harness's Connect is nil: set it to a function that opens one more client of the resource and returns its fence.Resource")
	}
	return checkDeclared(h.Deviations, h.Unchecked)
}

// fenceSuite is one run of all checks on one protected resource.
type fenceSuite struct {
	*suite
	open      func(testing.TB) *FenceHarness
	restarts  int             // how many more random programs may make
	noRestart bool            // the harness asked to be excused
	hidden    map[string]bool // clauses, known to fail, that change a key in silence
}

// mostRestarts bounds the restarts in random programs: each may take a second.
const mostRestarts = 10

func newFenceSuite(s *suite, open func(testing.TB) *FenceHarness) *fenceSuite {
	f := &fenceSuite{suite: s, open: open, restarts: mostRestarts, hidden: map[string]bool{}}
	s.subject = subject{
		clauses: fenceClauses, examine: f.examine,
		died: func(why string) *Report { return died(s.name, why, fenceClauses, "FENCE-2") },
	}
	return f
}

// examine makes the checks of RunFence: plain situations first, since what they
// find is excused in those that follow.
func (s *fenceSuite) examine(*Report) {
	st, err := s.openFence("set-up")
	if err != nil {
		s.notStarted(err)
		return
	}
	s.h = &Harness{Deviations: st.h.Deviations, Unchecked: st.h.Unchecked}
	s.excuses = newExcuses(s.h)
	if st.h.Restart == nil {
		s.lacks("FENCE-4", "the harness has no Restart")
	}
	err = s.findEmpty(st)
	s.closeFence(st)
	if err != nil {
		s.notStarted(err)
		return
	}
	for _, check := range []func(){s.checkFenceExamples, s.checkFencePrograms, s.checkFenceRaces} {
		if s.ctx.Err() != nil {
			s.cutShort()
			return
		}
		check()
	}
	s.weigh()
}

// findEmpty makes sure that a fresh resource can be read, and is empty: whatever
// else comes back says nothing about fencing.
func (s *fenceSuite) findEmpty(st *fenceStore) error {
	c, err := st.client(0)
	if err != nil {
		return err
	}
	a := st.call(c, fenceCall{key: st.freshName()})
	if a.problem == "" && a.err == nil && a.token == 0 && a.value == "" {
		return nil
	}
	return fmt.Errorf(`read a key of a fresh resource that was never written: got %s, want the value "", the token 0 and no error, as fence.Resource says: mind it in the code behind Connect`, a)
}

// weigh decides what the replies amount to: a clause that none of them spoke for
// was not examined.
func (s *fenceSuite) weigh() {
	for _, c := range s.clauses {
		s.mu.Lock()
		v := s.tally(c.ID)
		spoken, silent := v.spoken, v.lacking != "" || v.failure != nil
		s.mu.Unlock()
		known := s.excuses.any()
		switch {
		case spoken > 0:
			s.examined(c.ID)
		case silent:
		case len(known) > 0:
			s.notChecked(c.ID, fmt.Sprintf("no reply spoke for it, with %s in the way", strings.Join(known, ", ")))
		}
	}
}
