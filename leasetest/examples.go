package leasetest

import (
	"fmt"
	"time"

	"github.com/leasekit/lease/internal/model"
)

// example is a small scenario for one clause that a reader can follow: what
// every step sees on a backend that keeps the contract is written beside it.
// The replies are judged by the model, like those of the random programs, so
// that an example can also find another clause broken than its own.
type example struct {
	clause string
	title  string
	needs  need
	steps  program
}

// need is what an example takes of the harness beyond Connect.
type need int

const (
	needRead   need = 1 << iota // Clock
	needMove                    // Clock.Move
	needFreeze                  // Clock.Freeze
	needSeed                    // SeedToken
)

// missing says what the harness lacks, or "".
func (n need) missing(h *Harness) string {
	kind := kindOf(h.Clock)
	switch {
	case n&needRead != 0 && kind < clockRead:
		return "needs a server clock that can be read: Harness.Clock"
	case n&needMove != 0 && kind < clockMoved:
		return "needs a server clock that can be moved: Harness.Clock with Move"
	case n&needFreeze != 0 && kind < clockFrozen:
		return "needs a server clock that can stand still: Harness.Clock with Move and Freeze"
	case n&needSeed != 0 && h.SeedToken == nil:
		return "needs a counter that can be set: Harness.SeedToken"
	}
	return ""
}

// The workers of the examples.
const (
	workerA = iota
	workerB
	workerC
)

// Ttls of the examples: long is never waited for, short is where it can be.
const long = 10 * time.Minute

func acquire(worker int, holder string, ttl time.Duration) step {
	return step{do: doAcquire, worker: worker, key: "%", holder: holder, ttl: ttl}
}

// acquireShort takes the lease for a time that can be waited for.
func acquireShort(worker int, holder string) step {
	s := acquire(worker, holder, 0)
	s.short = true
	return s
}

// renew renews the lease that the step named as got.
func renew(worker int, as string, ttl time.Duration) step {
	return step{do: doRenew, worker: worker, key: "%", ref: ref{as: as}, ttl: ttl}
}

func release(worker int, as string) step {
	return step{do: doRelease, worker: worker, key: "%", ref: ref{as: as}}
}

func get(worker int) step { return step{do: doGet, worker: worker, key: "%"} }

// pass moves the clock by d.
func pass(d time.Duration) step { return step{do: doMove, move: move{by: d}} }

// end brings the clock to the end of the present grant, and units resolutions
// further; where it can't be moved, it waits.
func end(units int) step {
	return step{do: doMove, key: "%", move: move{toEnd: true, units: units}}
}

// late brings the clock to a moment shortly before the end of a short lease.
func late() step { return step{do: doMove, key: "%", move: move{toEnd: true, early: true}} }

func seed(token int64) step { return step{do: doSeed, key: "%", token: token} }

func (s step) named(as string) step    { s.as = as; return s }
func (s step) on(key string) step      { s.key = key; return s }
func (s step) in(space string) step    { s.space = space; return s }
func (s step) altered(a alter) step    { s.ref.alter = a; return s }
func (s step) is(o model.Outcome) step { s.want = &o; return s }
func (s step) granted() step           { return s.is(model.Granted) }
func (s step) held() step              { return s.is(model.Held) }
func (s step) lost() step              { return s.is(model.Lost) }
func (s step) notHeld() step           { return s.is(model.NotHeld) }
func (s step) done() step              { return s.is(model.Done) }
func (s step) stale() step             { s.lax = true; return s.done() }
func (s step) invalid() step           { return s.is(model.Unknown) }

// examples lists all scenarios in the order in which they run: general clauses
// first, those at the edges later, so that a backend that breaks a simple
// clause is told so by a simple scenario.
func examples(h *Harness) []example {
	var all []example
	all = append(all, getExamples()...)
	all = append(all, expiryReportExamples()...)
	all = append(all, exclusionExamples()...)
	all = append(all, tokenExamples()...)
	all = append(all, renewExamples()...)
	all = append(all, releaseExamples()...)
	all = append(all, expiryExamples()...)
	all = append(all, keyExamples()...)
	all = append(all, argumentExamples(h)...)
	all = append(all, clockExamples()...)
	all = append(all, seedExamples()...)
	return all
}

// runExample runs one example until it brings nothing new.
func (s *suite) runExample(e example) {
	name := fmt.Sprintf("example %q", e.title)
	st, err := s.open(e.clause)
	if err != nil {
		s.broken(e.clause, err)
		return
	}
	defer s.close(e.clause, st)
	if why := e.needs.missing(st.h); why != "" {
		s.lacks(e.clause, why)
		return
	}
	r := newRunner(st, s.excuses)
	r.what = name
	steps, ok := e.steps, true
	if e.clause != "ARG-3" {
		if steps, ok = fitting(steps, st.h); !ok {
			s.lacks(e.clause, fmt.Sprintf("needs ttls from %v to %v, or other ones as far apart, between MinTTL and MaxTTL", leastOrdinary, mostOrdinary))
			return
		}
	}
	for range 12 {
		r.run(steps)
		if r.failed != nil {
			s.broken(e.clause, r.failed)
			return
		}
		if r.found != nil {
			f := s.shortest(st, r)
			r = r.afresh(st)
			if f == nil {
				// What is known to fail explains it, if one looks closely.
				r.probing = true
				continue
			}
			f.prog = nil
			s.fail(f, name, s.seed)
			if s.guard.exhausted() {
				return
			}
			continue
		}
		if r.offPlan == "" && (!r.excused || r.seen[e.clause] > 0) {
			s.examined(e.clause)
			return
		}
		if r.offPlan == "" {
			r.offPlan = "its end: no reply spoke for the clause alone"
		}
		if st.clock.stuck {
			s.lacks(e.clause, "needs a server clock that goes back when Harness.Clock.Move is told to")
			return
		}
		if st.clock.edge {
			s.lacks(e.clause, "would bring the clock out of the years 1971 to 2200: begin nearer to now")
			return
		}
		if r.tooLong > 0 {
			s.lacks(e.clause, fmt.Sprintf("would have to wait %v for a lease to end: needs Harness.Clock with Move", r.tooLong.Round(time.Second)))
			return
		}
		if st.clock.movable() || r.shortTT > time.Second {
			s.offPlan(e.clause, name, r.offPlan)
			return
		}
		// Where time can only be waited for, a slow machine may have let a
		// short lease expire too early: that proves nothing. Try a longer one.
		r = r.afresh(st)
		r.shortTT *= 2
	}
	s.inconclusive(e.clause, name+": it brought new failures each time it ran")
}

// The ordinary ttls of the scenarios lie between these two.
const (
	leastOrdinary = time.Minute
	mostOrdinary  = 30 * time.Minute
)

// fitting scales the ordinary durations of a scenario to what the store can
// keep apart: well above MinTTL, resolution and lag, and not above MaxTTL. It
// says no where both can't be had, for a scenario that moves between them.
func fitting(p program, h *Harness) (program, bool) {
	factor := 1.0
	if fine := max(h.MinTTL, 4*h.resolution(), 4*h.ExpiryLag); fine > leastOrdinary {
		factor = float64(fine) / float64(leastOrdinary)
	}
	if top := float64(h.maxTTL()); factor*float64(mostOrdinary) > top {
		factor = top / float64(mostOrdinary)
		if fine := max(h.MinTTL, 4*h.resolution(), 4*h.ExpiryLag); float64(fine) > factor*float64(leastOrdinary) && p.paces() {
			return nil, false
		}
	}
	scaled := append(program(nil), p...)
	for i := range scaled {
		s := &scaled[i]
		if ordinary(s.ttl) {
			s.ttl = max(time.Duration(float64(s.ttl)*factor), h.MinTTL)
		}
		if ordinary(s.move.by.Abs()) {
			s.move.by = time.Duration(float64(s.move.by) * factor).Round(time.Microsecond)
		}
		s.ttl = min(s.ttl, h.maxTTL())
	}
	return scaled, true
}

// paces says whether the scenario moves the clock to moments within a lease.
func (p program) paces() bool {
	for _, s := range p {
		if s.do == doMove && !s.move.toEnd && ordinary(s.move.by.Abs()) {
			return true
		}
	}
	return false
}

func ordinary(d time.Duration) bool { return d >= time.Second && d < day }

// afresh is a runner like r that has run nothing yet.
func (r *runner) afresh(st *store) *runner {
	n := newRunner(st, r.excuses)
	n.what, n.shortTT, n.probing, n.waits = r.what, r.shortTT, r.probing, r.waits
	return n
}

// locate runs the program that r failed once more with a look at every key
// after each step, which tells exactly which call was at fault. What the second
// run finds counts, if it finds anything; nil means that clauses which are
// known to fail explain it all.
func (s *suite) locate(st *store, r *runner) *finding {
	again := r.afresh(st)
	again.probing = true
	again.run(r.found.prog)
	switch {
	case again.found != nil && again.found.clause != r.found.clause:
		return again.found
	case again.found == nil && again.excused:
		return nil
	}
	return r.found
}
