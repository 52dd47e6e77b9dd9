package leasetest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/internal/history"
)

// fenceRecorded is one call of a concurrent check with its reply and its times.
type fenceRecorded struct {
	client   int
	c        fenceCall
	a        fenceAnswer
	called   time.Duration // since the round began, monotonic
	returned time.Duration
}

// landed says whether the call is a write that was accepted.
func (r fenceRecorded) landed() bool { return r.c.write && r.a.outcome() == accepted }

// refused says whether the call is a write that was refused as stale.
func (r fenceRecorded) refused() bool { return r.c.write && r.a.outcome() == stale }

// shows is the token that the call shows to be the highest when it returned, or 0:
// its own, if it was accepted, or the one that was read.
func (r fenceRecorded) shows() int64 {
	switch {
	case r.landed():
		return r.c.token
	case !r.c.write:
		return r.a.token
	}
	return 0
}

// checkFenceRaces lets clients write one key at once (FENCE-3, FENCE-2).
func (s *fenceSuite) checkFenceRaces() {
	s.withFence("races", func(st *fenceStore) error {
		var clients []fence.Resource
		for i := range s.knobs.workers {
			c, err := st.client(i)
			if err != nil {
				return err
			}
			clients = append(clients, c)
		}
		met := 0
		s.rounds(func(i int) bool {
			calls := s.fenceRound(st, clients, i)
			met += meetings(calls)
			return s.judgeRound(calls)
		})
		if s.guard.exhausted() {
			return errExhausted
		}
		if met == 0 {
			s.inconclusive("FENCE-3", "no two writes with different tokens were ever out at the same time")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tally("FENCE-3").spoken += met
		return nil
	})
}

// fenceRound lets the clients write and read a fresh key all at once, and reads it
// when all is over.
func (s *fenceSuite) fenceRound(st *fenceStore, clients []fence.Resource, round int) []fenceRecorded {
	key := st.freshName()
	highest := []int64{2, 5, 20}[round%3]
	var mu sync.Mutex
	var calls []fenceRecorded
	began := time.Now()
	do := func(i int, c fenceCall) {
		r := fenceRecorded{client: i, c: c, called: time.Since(began)}
		if rand.IntN(2) == 0 {
			runtime.Gosched() // see recorder.do
		}
		r.a = st.call(clients[i], c)
		r.returned = time.Since(began)
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, r)
	}
	together(len(clients), func(i int) {
		rnd := rand.New(rand.NewPCG(s.seed, uint64(round)<<8|uint64(i)))
		for n := range 4 {
			c := fenceCall{key: key}
			if n == 0 || rnd.IntN(4) > 0 {
				c.write, c.token = true, 1+rnd.Int64N(highest)
				c.value = fmt.Sprintf("%s%d", workerName(i), n+1)
			}
			do(i, c)
		}
	})
	for i := range min(2, len(clients)) {
		do(i, fenceCall{key: key})
	}
	slices.SortStableFunc(calls, func(a, b fenceRecorded) int { return int(a.called - b.called) })
	return calls
}

// meetings counts the pairs of writes with different tokens that were out at the
// same time.
func meetings(calls []fenceRecorded) (n int) {
	for i, a := range calls {
		for _, b := range calls[i+1:] {
			if a.c.write && b.c.write && a.c.token != b.c.token && b.called <= a.returned {
				n++
			}
		}
	}
	return n
}

// judgeRound looks for what is forbidden in the calls of a round, the plainest
// first, and says whether another round is worth its time.
func (s *fenceSuite) judgeRound(calls []fenceRecorded) bool {
	for _, look := range []func([]fenceRecorded) bool{s.lookForErrors, s.lookForOvertaken, s.lookForTorn, s.lookForRefused, s.lookForOrder} {
		if look(calls) {
			break
		}
	}
	return !s.excuses.has("FENCE-2") || !s.excuses.has("FENCE-3")
}

// raced records what a race has shown, unless one of the clauses that would explain
// it is known to fail; then this one can't be judged.
func (s *fenceSuite) raced(clause, problem string, calls []fenceRecorded, files []string, explained ...string) {
	for _, other := range explained {
		if s.excuses.has(other) {
			s.notChecked(clause, "can't be told apart from what breaks "+other)
			return
		}
	}
	var list []Event
	for _, c := range calls {
		list = append(list, Event{
			Time:   fmt.Sprintf("+%v to +%v", c.called.Round(time.Microsecond), c.returned.Round(time.Microsecond)),
			Worker: workerName(c.client), Call: c.c.String(), Reply: c.a.String(),
		})
	}
	s.fail(&finding{clause: clause, problem: problem, events: list, files: files}, fmt.Sprintf("%d clients at once", s.knobs.workers), s.seed)
}

// lookForErrors wants a clear answer to every call: the resource is healthy.
func (s *fenceSuite) lookForErrors(calls []fenceRecorded) bool {
	for _, c := range calls {
		if !c.landed() && !c.refused() && (c.c.write || c.a.problem != "" || c.a.err != nil) {
			var explained []string
			if c.c.write && mayBeStale(c, calls) {
				explained = append(explained, "FENCE-1")
			}
			s.raced("FENCE-2", fmt.Sprintf("a call under contention answers %s", c.a), []fenceRecorded{c}, nil, explained...)
			return true
		}
	}
	return false
}

// mayBeStale says whether a higher token could have been shown before the write c.
func mayBeStale(c fenceRecorded, calls []fenceRecorded) bool {
	return slices.ContainsFunc(calls, func(other fenceRecorded) bool {
		return other.c.write && !other.refused() && other.c.token > c.c.token && other.called <= c.returned
	})
}

// lookForOvertaken wants no lower token after a higher one.
func (s *fenceSuite) lookForOvertaken(calls []fenceRecorded) bool {
	for _, high := range calls {
		for _, low := range calls {
			if high.returned >= low.called || low.shows() >= high.shows() || low.refused() {
				continue
			}
			what := "is read"
			if low.c.write {
				what = "is accepted"
			}
			s.raced("FENCE-3", fmt.Sprintf("token %d %s after %d had been seen", low.shows(), what, high.shows()), []fenceRecorded{high, low}, nil, "FENCE-1", "FENCE-2")
			return true
		}
	}
	return false
}

// lookForTorn wants each value read with the token that it was written with.
func (s *fenceSuite) lookForTorn(calls []fenceRecorded) bool {
	tokens := map[string]fenceRecorded{"": {}}
	for _, c := range calls {
		if c.c.write {
			tokens[c.c.value] = c
		}
	}
	for _, c := range calls {
		if c.c.write {
			continue
		}
		w, known := tokens[c.a.value]
		switch {
		case !known:
			s.raced("FENCE-2", fmt.Sprintf("a read shows the value %q, which nobody wrote", c.a.value), []fenceRecorded{c}, nil)
		case w.refused():
			s.raced("FENCE-1", fmt.Sprintf("a read shows the value %q, whose write was refused", c.a.value), []fenceRecorded{w, c}, nil, "FENCE-3")
		case w.c.token != c.a.token:
			s.raced("FENCE-2", fmt.Sprintf("a read shows the value %q with the token %d, and it was written with %d", c.a.value, c.a.token, w.c.token), []fenceRecorded{w, c}, nil, "FENCE-1")
		default:
			continue
		}
		return true
	}
	return false
}

// lookForRefused wants no write refused to which no higher token could have been
// shown before.
func (s *fenceSuite) lookForRefused(calls []fenceRecorded) bool {
	for _, c := range calls {
		if c.refused() && !mayBeStale(c, calls) {
			s.raced("FENCE-2", fmt.Sprintf("a write with token %d is refused, and no higher one was accepted before", c.c.token), []fenceRecorded{c}, nil, "FENCE-1")
			return true
		}
	}
	return false
}

// lookForOrder asks whether any sequential order explains the calls.
func (s *fenceSuite) lookForOrder(calls []fenceRecorded) bool {
	var h history.Resource
	for _, c := range calls {
		w := history.Write{Client: c.client, Read: !c.c.write, Token: c.c.token, Value: c.c.value, Refused: c.refused(), Called: c.called, Returned: c.returned}
		if w.Read {
			w.Token, w.Value = c.a.token, c.a.value
		}
		h = append(h, w)
	}
	switch history.JudgeResource(h, judgeTime) {
	case history.Ok:
		return false
	case history.Unknown:
		s.inconclusive("FENCE-3", fmt.Sprintf("the judge did not finish a history of %d calls within %v", len(h), judgeTime))
		return true
	}
	h = history.ShortenResource(h, judgeTime)
	// That writes take effect in one step is FENCE-2; that they do so in the order
	// of their tokens is FENCE-3.
	clause := "FENCE-2"
	var kept []fenceRecorded
	for _, w := range h {
		if !w.Read && w.Token != h[0].Token {
			clause = "FENCE-3"
		}
		i := slices.IndexFunc(calls, func(c fenceRecorded) bool { return c.called == w.Called && c.client == w.Client })
		kept = append(kept, calls[i])
	}
	problem := fmt.Sprintf("no sequential order of these %d calls explains their replies", len(h))
	var files []string
	dir, err := s.saveDir()
	if err == nil {
		files, err = history.SaveResource(h, dir, fileName(s.name)+"-"+clause, judgeTime)
	}
	if err != nil {
		problem += fmt.Sprintf(" (not saved: %v)", err)
	}
	s.raced(clause, problem, kept, files, "FENCE-1", "FENCE-2")
	return true
}
