package leasetest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// waitingTime is how long random programs may wait for leases to end, in all,
// where the server clock can't be moved. A coarse store would use up minutes.
const waitingTime = 10 * time.Second

// findingsLimit ends the search for more broken clauses on one backend: by
// then its author has enough to do.
const findingsLimit = 20

// checkProgram runs random programs against the model: the property that
// every reply is one that the contract allows.
func (s *suite) checkProgram() {
	const name = "random programs"
	ids := programClauses
	fail := func(why string) {
		for _, id := range ids {
			s.inconclusive(id, why)
		}
	}
	st, err := s.open(name)
	if err != nil {
		for _, id := range ids {
			s.broken(id, err)
		}
		return
	}
	defer s.close("", st)
	gen := programs(terrainOf(st.h))
	waits := waitingTime
	found, clean := 0, 0
	for i := 0; i < s.knobs.cases; {
		if s.guard.exhausted() {
			fail(fmt.Sprintf("%s: %d calls did not return; stopped after %d of %d cases", name, hangLimit, i, s.knobs.cases))
			return
		}
		if s.ctx.Err() != nil {
			fail(fmt.Sprintf("%s: the run was ended after %d of %d cases", name, i, s.knobs.cases))
			return
		}
		seed := caseSeed(s.seed, i)
		r := newRunner(st, s.excuses)
		r.what, r.waits = name, &waits
		r.run(drawn(gen, seed))
		switch {
		case r.failed != nil:
			for _, id := range ids {
				s.broken(id, fmt.Errorf("%s, seed %d: %w", name, seed, r.failed))
			}
			return
		case r.found == nil:
			i++
			if !r.excused {
				clean++
			}
			s.speaks(r)
		case found == findingsLimit:
			fail(fmt.Sprintf("%s: stopped after %d broken clauses", name, found))
			return
		default:
			f := s.shortest(st, r)
			if f == nil {
				i++ // clauses that are known to fail explain it
				continue
			}
			found++
			s.fail(f, fmt.Sprintf("%s, case %d", name, i+1), seed)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Where nearly every program met a reply that had to be excused, that they
	// found nothing else says little.
	s.programsDone = 10*clean >= s.knobs.cases
}

// speaks counts the replies of a program that spoke for a clause.
func (s *suite) speaks(r *runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range r.seen {
		s.tally(id).spoken += n
	}
}

// enough is how many replies of random programs have to speak for a clause
// whose own scenario could not be followed.
const enough = 20

// programClauses are the clauses that random programs examine.
var programClauses = []string{
	"EXCL-1", "EXCL-2", "EXCL-4", "EXCL-6",
	"TOKEN-1", "TOKEN-2", "TOKEN-3", "TOKEN-4", "TOKEN-6",
	"EXPIRY-3", "RENEW-1", "RENEW-2", "RENEW-3", "RENEW-4", "RENEW-5", "RENEW-6", "RENEW-7",
	"RELEASE-1", "RELEASE-2", "RELEASE-3", "RELEASE-4",
	"GET-1", "GET-2", "GET-3", "KEY-1", "KEY-3", "ARG-1", "ARG-2", "ARG-3", "ARG-4", "ERR-7", "ERR-8",
}

// shortest shrinks the program that r failed. A failure that does not repeat
// is a failure all the same, unshrunk. Nil means that clauses which are known
// to fail explain it.
func (s *suite) shortest(st *store, r *runner) *finding {
	best := r.found
	shrink(r.found.prog, plainerSteps, func(p []step) bool {
		again := r.afresh(st)
		again.run(p)
		if again.found == nil || again.found.clause != r.found.clause {
			return false
		}
		best = again.found
		return true
	})
	small := r.afresh(st)
	small.found = best
	return s.locate(st, small)
}

// caseSeed is the seed of case i: the run's own for the first, so that
// -rapid.seed=N -rapid.checks=1 repeats a case by its seed.
func caseSeed(seed uint64, i int) uint64 {
	if i == 0 {
		return seed
	}
	// Steele, Lea and Flood, Fast splittable pseudorandom number generators
	// (OOPSLA 2014): the finaliser of SplitMix64.
	z := seed + uint64(i)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) >> 1
}

// drawn draws the program of a seed. Generating apart from running keeps a
// run the same however the backend behaves, and leaves rapid's process-wide
// knobs alone.
func drawn(gen *rapid.Generator[program], seed uint64) program {
	return gen.Example(int(seed))
}

// Fuzz feeds the fuzzer's bytes to the generator of random programs and judges
// every reply against the model, as Run does with random bits. open is called
// once; every input uses a fresh key.
//
//	func FuzzLease(f *testing.F) { leasetest.Fuzz(f, open) }
func Fuzz(f *testing.F, open func(testing.TB) *Harness) {
	f.Helper()
	s := newSuite(f, f.Name(), packageOf(open), open, knobs{cases: 1, seed: 1})
	st, err := s.open("fuzz")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := st.close(); err != nil {
			f.Error(err)
		}
	})
	s.h, s.excuses = st.h, newExcuses(st.h)
	gen := programs(terrainOf(st.h))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		r := newRunner(st, s.excuses)
		r.run(gen.Draw(t, "program"))
		switch {
		case r.failed != nil:
			t.Fatal(r.failed)
		case r.found != nil:
			f := s.shortest(st, r)
			if f == nil {
				return
			}
			c, _ := clauseByID(f.clause)
			failure := s.failure(f, "fuzzing", 1)
			failure.Repeat = "the fuzzer's own line below"
			t.Fatal(failureText(s.name, c, failure))
		}
	}))
}
