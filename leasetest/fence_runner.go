package leasetest

import (
	"fmt"
	"slices"
)

// fenceKey is what the model knows of a key: the reference model of a resource is
// no more than the highest token and the value that came with it.
type fenceKey struct {
	name  string
	mark  int64 // the highest token seen; 0: never written
	value string

	open      bool     // the value is not known: a restart may lose it
	restarted bool     // since then no reply has shown whether the mark survived
	last      string   // clause that the last call on the key would break by changing it wrongly
	tainted   []string // clauses, known to fail, by which it may be in another state than it shows
	lost      bool     // it can't be read: nothing is known of it
}

// fenceRunner runs one program and judges every reply.
type fenceRunner struct {
	s    *fenceSuite
	st   *fenceStore
	what string

	// watch makes it read all keys after each step: what was changed in silence
	// is then put to the step that did it.
	watch bool
	cause string // clause that the last step would break by changing a key wrongly

	tag     string // of the program's keys
	keys    map[string]*fenceKey
	order   []string // patterns, as they come in the program
	events  []Event
	writes  int
	seen    map[string]int // replies that spoke for a clause
	found   *finding
	silent  bool   // it was seen in a Read
	at      int    // number of the step that showed it
	excused string // the clause, known to fail, that a reply was put down to
	failed  error  // the harness's fault
}

func (s *fenceSuite) newFenceRunner(st *fenceStore, what string, watch bool) *fenceRunner {
	return &fenceRunner{s: s, st: st, what: what, watch: watch, tag: st.freshName(), keys: map[string]*fenceKey{}, seen: map[string]int{}, cause: "FENCE-2"}
}

// run executes the program until a reply breaks a clause that is not known to
// fail.
func (r *fenceRunner) run(p []fenceStep) {
	for _, step := range p {
		if r.keys[step.key] == nil {
			r.keys[step.key] = &fenceKey{name: keyName(step.key, r.tag), last: "FENCE-2"}
			r.order = append(r.order, step.key)
		}
	}
	for i, step := range p {
		r.at = i
		r.step(step)
		for _, key := range r.order {
			if r.watch && step.do != fenceRead && r.found == nil && r.failed == nil {
				r.read(step.client, r.keys[key])
			}
		}
		if r.found != nil || r.failed != nil || r.st.guard.exhausted() {
			return
		}
	}
}

func (r *fenceRunner) step(step fenceStep) {
	k := r.keys[step.key]
	switch step.do {
	case fenceRead:
		r.read(step.client, k)
	case fenceWrite:
		r.write(step.client, k, step.tokenOf(k.mark), step.what)
	case fenceRestart:
		r.restart()
	}
}

// ask makes a call and notes it.
func (r *fenceRunner) ask(client int, c fenceCall) (fenceAnswer, bool) {
	conn, err := r.st.client(client)
	if err != nil {
		r.failed = err
		return fenceAnswer{}, false
	}
	a := r.st.call(conn, c)
	r.events = append(r.events, Event{Worker: workerName(client), Call: c.String(), Reply: a.String()})
	return a, true
}

func (r *fenceRunner) write(client int, k *fenceKey, token int64, what content) {
	r.writes++
	c := fenceCall{write: true, key: k.name, token: token}
	switch what {
	case newValue:
		c.value = fmt.Sprintf("v%d", r.writes)
	case sameValue:
		c.value = k.value
	}
	a, ok := r.ask(client, c)
	if !ok || k.lost {
		return
	}
	got := a.outcome()
	switch {
	case token <= 0:
		r.changes(k, "FENCE-5")
		if got != invalid {
			r.blame(k, client, "ErrInvalid: a token is greater than 0", fmt.Sprintf("a write with token %d answers %s, where the contract expects ErrInvalid", token, a), "FENCE-5")
			return
		}
		r.seen["FENCE-5"]++
	case token < k.mark:
		r.changes(k, "FENCE-1")
		switch {
		case got == stale:
			r.seen["FENCE-1"]++
			if k.restarted {
				r.seen["FENCE-4"]++
			}
			k.restarted = false
		case got == accepted && k.restarted:
			r.blame(k, client, fmt.Sprintf("ErrStale: %d was seen before the restart", k.mark),
				fmt.Sprintf("a write with token %d is accepted after a restart, and %d was seen before it", token, k.mark), "FENCE-4", "FENCE-1")
		default:
			r.blame(k, client, fmt.Sprintf("ErrStale: %d was seen", k.mark),
				fmt.Sprintf("a write with token %d answers %s, where the contract expects ErrStale: %d was seen", token, a, k.mark), "FENCE-1")
		}
	default:
		r.changes(k, "FENCE-2")
		if got != accepted {
			r.blame(k, client, fmt.Sprintf("nil: the highest token seen is %d", k.mark),
				fmt.Sprintf("a write with token %d answers %s, where the contract expects it to be accepted: the highest token seen is %d", token, a, k.mark), "FENCE-2")
			return
		}
		r.seen["FENCE-2"]++
		k.mark, k.value, k.open, k.restarted = token, c.value, false, false
	}
}

func (r *fenceRunner) read(client int, k *fenceKey) {
	a, ok := r.ask(client, fenceCall{key: k.name})
	if !ok || k.lost {
		return
	}
	want := fmt.Sprintf("%q, token %d", k.value, k.mark)
	if k.open {
		want = fmt.Sprintf("token %d", k.mark)
	}
	r.silent = true
	defer func() { r.silent = r.silent && r.found != nil }()
	if a.problem != "" || a.err != nil {
		r.blame(k, client, want, fmt.Sprintf("a read answers %s, where the contract expects %s", a, want), "FENCE-2")
		return
	}
	cause := k.last
	if r.watch {
		cause = r.cause
	}
	switch {
	case a.token == k.mark && (k.open || a.value == k.value):
		k.value, k.open = a.value, false
		return
	case a.token != k.mark && k.restarted:
		r.blame(k, client, want, fmt.Sprintf("after a restart the highest token seen is %d, and before it was %d", a.token, k.mark), "FENCE-4", cause)
	default:
		r.blame(k, client, want, fmt.Sprintf("a read answers %s, where the contract expects %s%s", a, want, because[cause]), cause)
	}
}

// because says what a key that is not as it should be has been through.
var because = map[string]string{
	"FENCE-1": ": the write before it was refused as stale",
	"FENCE-2": ": that is what was written last",
	"FENCE-4": ": there was a restart before it",
	"FENCE-5": ": the write before it had no valid token",
}

func (r *fenceRunner) restart() {
	if r.st.h.Restart == nil || r.s.noRestart {
		return
	}
	if err := r.st.restart(); err != nil {
		if why, ok := isSkipped(err); ok {
			r.s.notChecked("FENCE-4", string(why))
			r.s.noRestart = true
			return
		}
		r.failed = err
		return
	}
	r.events = append(r.events, Event{Call: "the resource restarts"})
	for _, key := range r.order {
		k := r.keys[key]
		r.changes(k, "FENCE-4")
		k.restarted, k.open = k.mark > 0, true
	}
}

// changes notes that a step may change keys, and which clause it breaks if it does
// so wrongly. A clause that is known to fail in silence taints them all.
func (r *fenceRunner) changes(k *fenceKey, clause string) {
	r.cause, k.last = clause, clause
	if !r.s.excuses.has(clause) || !r.s.hidden[clause] && !r.s.excuses.declared[clause] {
		return
	}
	for _, k := range r.keys {
		k.taint(clause)
	}
}

func (k *fenceKey) taint(clause string) {
	if !slices.Contains(k.tainted, clause) {
		k.tainted = append(k.tainted, clause)
	}
}

// blame puts a disagreement to the first of clauses, unless one of them is known
// to fail, or one that is may have upset the key; then the reply is excused, and
// the key is taken as it shows itself.
func (r *fenceRunner) blame(k *fenceKey, client int, want, problem string, clauses ...string) {
	r.events[len(r.events)-1].Want = want
	f := &finding{clause: clauses[0], problem: problem, events: r.events, foundBy: r.what}
	for _, id := range slices.Concat(clauses, k.tainted) {
		if !r.s.excuses.has(id) {
			continue
		}
		if id != clauses[0] {
			r.s.excuses.obscured[clauses[0]] = id
		}
		f.clause, f.events, r.excused = id, slices.Clone(r.events), id
		r.s.excuses.used(f)
		k.taint(id)
		r.resync(k, client)
		return
	}
	r.found = f
}

// resync takes the key as it shows itself.
func (r *fenceRunner) resync(k *fenceKey, client int) {
	a, ok := r.ask(client, fenceCall{key: k.name})
	k.lost = !ok || a.problem != "" || a.err != nil
	k.mark, k.value, k.open, k.restarted = a.token, a.value, false, false
}

// attempt runs a program over and over, until nothing is found in it but what is
// known to fail.
func (s *fenceSuite) attempt(st *fenceStore, p []fenceStep, what string, seed uint64) error {
	for range len(s.clauses) + 1 {
		r := s.newFenceRunner(st, what, false)
		r.run(p)
		switch {
		case r.failed != nil:
			return fmt.Errorf("%s: %w", what, r.failed)
		case s.guard.exhausted():
			return errExhausted
		case r.found == nil:
			s.mu.Lock()
			for id, n := range r.seen {
				s.tally(id).spoken += n
			}
			s.mu.Unlock()
			return nil
		}
		f, silent := s.pin(st, p[:r.at+1], r)
		if s.excuses.has(f.clause) {
			return nil
		}
		s.hidden[f.clause] = silent
		s.fail(f, what, seed)
	}
	return nil
}

// pin looks for the shortest program that shows the same, and for the clause that
// is really broken: one that is known to be, if that explains it.
func (s *fenceSuite) pin(st *fenceStore, p []fenceStep, r *fenceRunner) (f *finding, silent bool) {
	best := r
	again := func(p []fenceStep, watch bool, clause string) *fenceRunner {
		r := s.newFenceRunner(st, best.what, watch)
		r.run(p)
		if r.found == nil || r.found.clause != clause {
			return nil
		}
		return r
	}
	shorter := func(p []fenceStep, watch bool) []fenceStep {
		clause := best.found.clause
		return shrink(p, plainerFenceSteps, func(q []fenceStep) bool {
			r := again(q, watch, clause)
			if r == nil {
				return false
			}
			best = r
			return true
		})
	}
	p = shorter(p, false)
	// A change in silence shows late, and as something else. Reading all keys after
	// each step puts it to the step that made it.
	watched := s.newFenceRunner(st, best.what, true)
	watched.run(p)
	switch {
	case watched.found == nil && watched.excused != "":
		s.excuses.obscured[best.found.clause] = watched.excused
		best.found.clause = watched.excused
		return best.found, true
	case watched.found != nil && watched.found.clause != best.found.clause:
		best = watched
		shorter(p[:watched.at+1], true)
		return best.found, true
	}
	f, silent = s.upset(p, best, again)
	return f, silent || watched.found != nil && watched.silent
}

// upset looks whether a step that should have changed nothing made the last one of
// a program fail, by leaving it out; then that is the clause that is broken.
func (s *fenceSuite) upset(p []fenceStep, best *fenceRunner, again func([]fenceStep, bool, string) *fenceRunner) (f *finding, silent bool) {
	f, silent = best.found, best.silent
	for i := len(p) - 2; i >= 0; i-- {
		probe := s.newFenceRunner(best.st, best.what, false)
		probe.run(p[:i+1])
		clause := probe.cause
		if p[i].do == fenceRead || clause == "FENCE-2" || clause == "FENCE-4" || clause == f.clause {
			continue
		}
		if again(p, false, f.clause) != nil && again(slices.Delete(slices.Clone(p), i, i+1), false, f.clause) == nil {
			f.clause = clause
			f.problem += because[clause] + ", and without it the answer is right"
			return f, true
		}
	}
	return f, silent
}
