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
	needTop                     // MaxTTL below the largest Duration
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
		s.notChecked(e.clause, why)
		return
	}
	shortTT := time.Duration(0)
	for range 12 {
		r := newRunner(st, s.excuses)
		if shortTT > 0 {
			r.shortTT = shortTT
			r.waitFor = 4 * shortTT
		}
		r.run(e.steps)
		switch {
		case r.failed != nil:
			s.broken(e.clause, r.failed)
			return
		case r.found != nil:
			f := s.locate(st, r)
			f.prog = nil
			s.fail(f, name, s.seed)
			if s.guard.exhausted() {
				return
			}
		case r.offPlan == "":
			s.examined(e.clause)
			return
		case !st.clock.movable() && shortTT < time.Second:
			// Where time can only be waited for, a slow machine may have let a
			// short lease expire too early: that proves nothing. Try a longer one.
			shortTT = max(shortTT, r.shortTT) * 2
		default:
			s.offPlan(e.clause, name, r.offPlan)
			return
		}
	}
	s.inconclusive(e.clause, name+": it brought new failures each time it ran")
}

// locate runs the program that r failed once more with a look at every key
// after each step, which tells exactly which call was at fault. What the second
// run finds counts, if it finds anything.
func (s *suite) locate(st *store, r *runner) *finding {
	again := newRunner(st, s.excuses)
	again.shortTT, again.waitFor, again.probing = r.shortTT, r.waitFor, true
	again.run(r.found.prog)
	if again.found != nil && again.found.clause != r.found.clause {
		return again.found
	}
	return r.found
}
