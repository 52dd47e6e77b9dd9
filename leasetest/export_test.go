package leasetest

import (
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// HistoryText shows the history of a failure.
func HistoryText(f *Failure) string { return historyTable(f.History) }

// Later says whether the checks of a clause come later.
func Later(id string) bool { return laterClauses[id] != "" }

// FindByProgram runs the random programs alone, and returns the failure of a
// clause that they found, or nil.
func FindByProgram(t *testing.T, open func(testing.TB) *Harness, clause string) *Failure {
	t.Helper()
	k := knobs{seed: 5} // one that is known to find them: a test is no game of chance
	k.fill()
	s := newSuite(nil, t.Name(), "", open, k)
	st, err := s.open("figures")
	if err != nil {
		t.Fatal(err)
	}
	s.h, s.excuses = st.h, newExcuses(st.h)
	s.close("", st)
	s.checkProgram()
	return s.tally(clause).failure
}

// FailHistory judges a history in which two holders have one key at once.
func FailHistory(t *testing.T) *Failure {
	t.Helper()
	k := knobs{}
	k.fill()
	s := newSuite(nil, t.Name(), "", nil, k)
	s.dir = t.TempDir()
	s.excuses = newExcuses(&Harness{})
	grant := func(worker int, holder string, token int64) recorded {
		return recorded{
			worker: worker, c: acquireCall("k", holder, time.Hour),
			a:      answer{lease: lease.Lease{Key: "k", Holder: holder, Token: token, ExpiresAt: time.UnixMilli(0).Add(time.Hour)}},
			called: time.Duration(worker), returned: time.Duration(worker + 5),
		}
	}
	calls := []recorded{grant(0, "alice", 1), grant(1, "bob", 2)}
	for i := range calls {
		calls[i].w.Lo, calls[i].w.Hi = plain(time.UnixMilli(0)), plain(time.UnixMilli(0))
	}
	if s.judgeHistory(&store{h: &Harness{}}, "EXCL-5", "k", calls) {
		t.Fatal("the judge accepts two holders at once")
	}
	return s.tally("EXCL-5").failure
}

// FindByStory puts a helper through random schedules alone, and returns the failure
// of a clause that they found, or nil.
func FindByStory(t *testing.T, hold HoldFunc, clause string) *Failure {
	t.Helper()
	for seed := range uint64(10) { // from which they are known to be found
		k := knobs{seed: seed + 1}
		k.fill()
		s := Helper{Hold: hold}.suite(nil, t.Name(), "", k)
		s.randomStories(hold)
		if f := s.tally(clause).failure; f != nil {
			return f
		}
	}
	return nil
}
