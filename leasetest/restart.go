package leasetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasekit/lease"
)

// restartLimit is how long a store may take to come back.
const restartLimit = time.Minute

// restartClauses are those that a restart of the store can break.
var restartClauses = []string{"TOKEN-10", "EXPIRY-9", "ERR-5"}

// checkRestart crashes the store between a grant and what follows it.
func (s *suite) checkRestart() {
	if s.h.Restart == nil {
		ofEach(restartClauses, s.notChecked, "needs a store that the test can crash: Harness.Restart")
		return
	}
	s.withStore("ERR-5", func(st *store) {
		// Without a crash nothing of it may go wrong, or a crash proves nothing.
		for _, crash := range []bool{false, true} {
			a := aftermath{st: st, r: newRecorder(st), found: map[string]*finding{}}
			why, err := a.run(crash)
			switch {
			case err != nil:
				ofEach(restartClauses, s.broken, err)
				return
			case why != "":
				ofEach(restartClauses, s.inconclusive, why)
				return
			case crash:
				s.settleRestart(a)
			case len(a.found) > 0:
				for _, f := range a.found {
					ofEach(restartClauses, s.notChecked, "what it looks at goes wrong without a restart too: "+f.problem)
				}
				return
			}
		}
	})
}

// ofEach says the same of several clauses.
func ofEach[T any](ids []string, say func(id string, what T), what T) {
	for _, id := range ids {
		say(id, what)
	}
}

// settleRestart takes over what was found, and says what could not be looked at
// because of it.
func (s *suite) settleRestart(a aftermath) {
	if known := s.excuses.inHistories(); len(known) > 0 && len(a.found) > 0 {
		ofEach(restartClauses, s.notChecked, "can't be told apart from what breaks "+strings.Join(known, ", "))
		return
	}
	for _, id := range restartClauses {
		switch f := a.found[id]; {
		case f != nil:
			s.fail(f, "a restart of the store", s.seed)
		case a.found["ERR-5"] != nil:
			s.notChecked(id, "the service does not work again after a restart (ERR-5)")
		case id == "EXPIRY-9" && a.kept == 0:
			s.notChecked(id, "no grant survived the restart (TOKEN-10)")
		default:
			s.examined(id)
		}
	}
}

// aftermath is what a restart leaves behind.
type aftermath struct {
	st    *store
	r     *recorder
	found map[string]*finding
	kept  int // grants that survived
}

// breaks notes that the last reply breaks a clause.
func (a *aftermath) breaks(id, want, format string, args ...any) {
	if a.found[id] != nil {
		return
	}
	f := &finding{clause: id, problem: fmt.Sprintf(format, args...), events: events(a.r.sorted())}
	f.events[len(f.events)-1].Want = want
	a.found[id] = f
}

// call makes a call on a store that is well.
func (a *aftermath) call(worker int, c call) answer { return a.r.do(a.st.ctx, worker, c).a }

// grant acquires a key; ok is false if that fails, which is judged elsewhere.
func (a *aftermath) grant(key string, ttl time.Duration) (l lease.Lease, ok bool) {
	got := a.r.do(a.st.ctx, 0, acquireCall(key, "alice", ttl))
	l = got.granted()
	return l, got.a.problem == "" && got.a.err == nil && lease.CheckLease(l) == nil
}

// grants are what the store is asked to keep over a restart.
type grants struct {
	ending   lease.Lease // soon over
	released lease.Lease // the last of several
	renewed  lease.Lease
	last     lease.Lease // answered, and then the store crashes
}

// prepare makes the grants, and says whether it could.
func (a *aftermath) prepare(long time.Duration) (g grants, ok bool) {
	st := a.st
	a.call(1, getCall(st.freshName())) // connects
	short := 10 * time.Second
	if !st.clock.movable() {
		short = max(shortWait, 4*st.h.resolution())
	}
	short = st.ttl(short)
	called := time.Now()
	if g.ending, ok = a.grant(st.freshName(), short); !ok {
		return g, false
	}
	st.clock.learn(called, time.Now(), short, g.ending.ExpiresAt)
	key := st.freshName()
	for range 3 {
		if g.released, ok = a.grant(key, long); !ok {
			return g, false
		}
		a.call(0, releaseCall(g.released))
	}
	if g.renewed, ok = a.grant(st.freshName(), st.ttl(time.Minute)); !ok {
		return g, false
	}
	if got := a.r.do(st.ctx, 0, renewCall(g.renewed, long)); got.a.problem == "" && got.a.err == nil {
		g.renewed = got.granted()
	}
	if st.clock.movable() { // a ttl that begins again with the store has to show
		st.clock.move(short / 4)
	}
	g.last, ok = a.grant(st.freshName(), long)
	return g, ok
}

// run makes grants, restarts the store if crash, and looks what is left. It
// returns why nothing can be said, or "", and the error of a harness that failed.
func (a *aftermath) run(crash bool) (why string, err error) {
	st := a.st
	long := st.ttl(time.Hour)
	g, ok := a.prepare(long)
	if !ok {
		return "no lease could be acquired to try with", nil
	}
	if crash {
		if err := st.tb.setUp(&guard{limit: restartLimit}, func() { st.h.Restart(st.tb) }); err != nil {
			return "", fmt.Errorf("restart the store: %w", err)
		}
	}
	if !a.worksAgain(long) {
		return "", nil
	}
	for _, l := range []lease.Lease{g.last, g.renewed} {
		a.survives(l, long)
	}
	if next := a.call(1, acquireCall(g.released.Key, "bob", long)); next.err != nil || next.lease.Token <= g.released.Token {
		a.breaks("TOKEN-10", fmt.Sprintf("a new grant, its token > %d", g.released.Token),
			"after the restart a key that was released, last with token %d, is answered %s", g.released.Token, next)
	}
	if !st.clock.passes(st.ctx, plain(g.ending.ExpiresAt).Add(st.h.ExpiryLag+st.h.resolution())) {
		return "the server clock could not be brought to the end of a lease", nil
	}
	switch next := a.call(1, acquireCall(g.ending.Key, "bob", long)); {
	case errors.Is(next.err, lease.ErrHeld):
		a.breaks("EXPIRY-9", "a new grant: the lease is over", "the restart prolonged a grant that ended at %s", shownTime(g.ending.ExpiresAt))
	case next.err != nil || next.lease.Token <= g.ending.Token:
		a.breaks("TOKEN-10", fmt.Sprintf("a new grant, its token > %d", g.ending.Token),
			"after the restart a key that expired, last with token %d, is answered %s", g.ending.Token, next)
	}
	return "", nil
}

// worksAgain says whether both workers, which were connected before, get definite
// replies (ERR-5).
func (a *aftermath) worksAgain(ttl time.Duration) bool {
	for worker := range 2 {
		key := a.st.freshName()
		got := a.untilDefinite(worker, acquireCall(key, "carol", ttl))
		l := got.lease
		l.Key, l.Holder = key, "carol"
		for _, c := range []call{getCall(key), renewCall(l, ttl), releaseCall(l)} {
			if got.problem == "" && (got.err == nil || definite(got.err)) {
				got = a.untilDefinite(worker, c)
			}
		}
		if got.problem != "" || got.err != nil && !definite(got.err) {
			a.breaks("ERR-5", "a definite reply: the store is back",
				"%v after the store is back a call of a service that was there before still fails: %s", a.st.guard.limit/2, got)
			return false
		}
	}
	return true
}

// untilDefinite repeats a call until it has a definite reply: a client may first
// meet connections that the crash has broken.
func (a *aftermath) untilDefinite(worker int, c call) answer {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	limit := time.After(a.st.guard.limit / 2)
	for {
		got := a.call(worker, c)
		if got.problem == "" && (got.err == nil || definite(got.err)) {
			return got
		}
		select {
		case <-limit:
			return got
		case <-again.C:
		}
	}
}

// survives looks for a grant that was answered before the restart, and is live.
func (a *aftermath) survives(l lease.Lease, ttl time.Duration) {
	want := fmt.Sprintf("%s token %d until %s", shown(l.Holder), l.Token, shownTime(l.ExpiresAt))
	shows := a.call(1, getCall(l.Key))
	if shows.problem != "" || shows.err != nil || shows.lease.Token != l.Token || shows.lease.Holder != l.Holder {
		next := a.call(1, acquireCall(l.Key, "bob", ttl))
		if next.problem == "" && next.err == nil && next.lease.Token > l.Token {
			a.kept++ // its counter did
			a.breaks("EXPIRY-9", "ErrHeld: "+want, "the restart ended a grant")
			return
		}
		a.breaks("TOKEN-10", "ErrHeld: "+want, "the restart forgot an answered grant")
		return
	}
	a.kept++
	if !plain(shows.lease.ExpiresAt).Equal(plain(l.ExpiresAt)) {
		a.breaks("EXPIRY-9", want, "the restart moved the end of a grant: Get answers %s", shows)
		return
	}
	if again := a.call(0, renewCall(l, ttl)); again.err != nil || again.problem != "" || again.lease.Token != l.Token {
		a.breaks("EXPIRY-9", fmt.Sprintf("the same grant, token %d", l.Token), "a live grant can't be renewed after the restart: %s", again)
	}
}
