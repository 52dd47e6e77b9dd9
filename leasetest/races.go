package leasetest

import (
	"fmt"
	"strings"
	"time"
)

// The concurrent checks run at least leastRounds and at most mostRounds
// rounds of each kind, and stop in between when their time is up.
const (
	leastRounds = 10
	mostRounds  = 60
	roundsTime  = 400 * time.Millisecond
)

// rounds calls f until it returns false or the budget of rounds and time is
// used up.
func (s *suite) rounds(f func(i int) bool) {
	deadline := time.Now().Add(roundsTime)
	for i := 0; i < mostRounds && (i < leastRounds || time.Now().Before(deadline)); i++ {
		if s.guard.exhausted() || s.ctx.Err() != nil || !f(i) {
			return
		}
	}
}

// checkRaces lets workers race for keys that are free, released or expired
// (EXCL-3), and take and release one key as fast as they can (TOKEN-7).
func (s *suite) checkRaces() {
	const what = "races of several workers"
	ids := []string{"EXCL-3", "TOKEN-7", "ERR-7"}
	st, err := s.open("races")
	if err == nil {
		defer s.close("EXCL-3", st)
		err = st.connectAll(s.knobs.workers)
	}
	if err != nil {
		for _, id := range ids {
			s.broken(id, err)
		}
		return
	}
	overlapped := 0
	for _, p := range []struct {
		what    string
		prepare func(*store, string) (int64, bool)
	}{{"a free key", prepareFree}, {"a released key", prepareReleased}, {"an expired key", prepareExpired}} {
		raced := false
		s.rounds(func(int) bool {
			over, more := s.race(st, p.prepare)
			if over {
				overlapped++
			}
			raced = raced || more
			return more
		})
		if !raced && s.tally("EXCL-3").failure == nil {
			s.lacks("EXCL-3", "races for "+p.what+", which could not be had")
		}
	}
	s.rounds(func(int) bool { return s.relay(st) })
	if s.guard.exhausted() {
		for _, id := range ids {
			s.inconclusive(id, what+": too many calls did not return")
		}
		return
	}
	if overlapped == 0 {
		s.inconclusive("EXCL-3", what+": no two calls were ever out at the same time")
	}
	s.examined(ids...)
}

// prepareFree and the others bring a fresh key into the state to race from.
// They return the greatest token granted so far, and false where that state
// can't be reached.
func prepareFree(*store, string) (int64, bool) { return 0, true }

func prepareReleased(st *store, key string) (int64, bool) {
	r := newRecorder(st)
	got := r.do(st.ctx, 0, acquireCall(key, "before", st.ttl(time.Hour)))
	if got.a.problem != "" || got.a.err != nil {
		return 0, false
	}
	freed := r.do(st.ctx, 0, releaseCall(got.granted())).a
	return got.a.lease.Token, freed.problem == "" && freed.err == nil
}

func prepareExpired(st *store, key string) (int64, bool) {
	ttl := time.Hour
	if !st.clock.movable() {
		ttl = max(2*time.Millisecond, st.h.resolution())
	}
	ttl = st.ttl(ttl)
	called := time.Now()
	a := newRecorder(st).do(st.ctx, 0, acquireCall(key, "before", ttl)).a
	if a.problem != "" || a.err != nil {
		return 0, false
	}
	st.clock.learn(called, time.Now(), ttl, a.lease.ExpiresAt)
	return a.lease.Token, st.clock.passes(st.ctx, plain(a.lease.ExpiresAt).Add(st.h.ExpiryLag+st.h.resolution()))
}

// race lets all workers ask for one key at once. It says whether calls
// overlapped, and whether another round is worth its time.
func (s *suite) race(st *store, prepare func(*store, string) (int64, bool)) (overlapped, more bool) {
	key := st.freshName()
	before, ok := prepare(st, key)
	if !ok {
		return false, false
	}
	r := newRecorder(st)
	ttl := st.ttl(time.Hour)
	together(s.knobs.workers, func(i int) { r.do(st.ctx, i, acquireCall(key, holderOf(i), ttl)) })
	calls := r.sorted()
	unsure := s.contention(calls)
	if st.clock.kind != clockFrozen && time.Since(r.began) > ttl/2 {
		return false, true // the winner's lease may have ended before the last call
	}
	var winners []string
	for _, c := range calls {
		if c.a.err == nil {
			winners = append(winners, fmt.Sprintf("%s (token %d)", c.c.holder, c.a.lease.Token))
			if c.a.lease.Token <= before {
				s.concurrent("TOKEN-7", fmt.Sprintf("a grant won in a race has token %d, and %d was granted before", c.a.lease.Token, before),
					calls, "TOKEN-1", "TOKEN-2", "TOKEN-4", "TOKEN-5")
			}
		}
	}
	if len(winners) > 1 || len(winners) == 0 && !unsure {
		s.concurrent("EXCL-3", fmt.Sprintf("of %d concurrent Acquires of one key by different holders %d were granted%s, where exactly one has to be",
			len(calls), len(winners), strings.TrimSuffix(": "+strings.Join(winners, ", "), ": ")),
			calls, "EXCL-1", "EXPIRY-1", "EXPIRY-3", "EXPIRY-5", "RELEASE-1", "ARG-3")
		return true, false
	}
	return overlapping(calls), true
}

// relay lets all workers take and release one key in turn, and write to a fenced
// sink while they hold it and too late; it compares the tokens of their grants.
func (s *suite) relay(st *store) bool {
	key, ttl := st.freshName(), st.ttl(time.Hour)
	r, sink := newRecorder(st), &sink{key: "k"}
	together(s.knobs.workers, func(i int) {
		for range 6 {
			got := r.do(st.ctx, i, acquireCall(key, holderOf(i), ttl))
			if got.a.problem != "" || got.a.err != nil {
				continue
			}
			g := sink.hold(st.ctx, got)
			sink.end(g)
			if freed := r.do(st.ctx, i, releaseCall(got.granted())).a; freed.problem != "" || freed.err != nil {
				return // the next Acquire may find the grant that was not released
			}
			sink.write(st.ctx, g)
		}
	})
	calls := r.sorted()
	s.contention(calls) // a call that failed may have been granted; its token is unknown, and not needed
	var grants []recorded
	for _, c := range calls {
		if c.c.do == doAcquire && c.a.err == nil {
			grants = append(grants, c)
		}
	}
	for i, a := range grants {
		for _, b := range grants[i+1:] {
			problem := ""
			switch {
			case a.a.lease.Token == b.a.lease.Token:
				problem = fmt.Sprintf("two grants have the token %d", a.a.lease.Token)
			case a.returned < b.called && b.a.lease.Token < a.a.lease.Token:
				problem = fmt.Sprintf("a grant has the token %d, though %d was granted before it was asked for", b.a.lease.Token, a.a.lease.Token)
			}
			if problem != "" {
				s.concurrent("TOKEN-7", problem, []recorded{a, b}, "TOKEN-1", "TOKEN-2", "TOKEN-4", "EXCL-1", "EXCL-3", "RELEASE-1")
				return false
			}
		}
	}
	if st.clock.kind != clockFrozen && time.Since(r.began) > ttl/2 {
		return true // a lease may have ended while its holder wrote
	}
	g, both := sink.judge()
	switch {
	case g == nil:
		return true
	case both:
		s.concurrent("EXCL-3", g.String()+"; both leases are live", []recorded{g.other.acquired, g.acquired},
			"EXCL-1", "EXPIRY-1", "EXPIRY-3", "EXPIRY-5", "RELEASE-1", "RELEASE-2", "ARG-3")
	default:
		s.concurrent("TOKEN-7", g.String(), []recorded{g.other.acquired, g.acquired},
			"TOKEN-1", "TOKEN-2", "TOKEN-4", "EXCL-1", "EXCL-3", "RELEASE-1")
	}
	return false
}

// contention blames a call that had no definite reply on a healthy store, and
// says whether there was one.
func (s *suite) contention(calls []recorded) bool {
	c := indefinite(calls)
	if c == nil {
		return false
	}
	problem := fmt.Sprintf("a valid call under contention %s", c.a.problem)
	if c.a.problem == "" {
		problem = fmt.Sprintf("a valid call under contention fails: %v", c.a.err)
	}
	s.concurrent("ERR-7", problem, []recorded{*c})
	return true
}

// concurrent records what a concurrent check found, unless one of the clauses
// that would explain it is known to fail; then this one can't be judged.
func (s *suite) concurrent(id, problem string, calls []recorded, explained ...string) {
	for _, other := range explained {
		if s.excuses.has(other) {
			s.notChecked(id, fmt.Sprintf("can't be told apart from what breaks %s", other))
			return
		}
	}
	found := fmt.Sprintf("%d workers at once", s.knobs.workers)
	if id == "TOKEN-2" || id == "TOKEN-4" {
		found = "many grants in a row"
	}
	s.fail(&finding{clause: id, problem: problem, events: events(calls)}, found, s.seed)
}
