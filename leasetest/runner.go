package leasetest

import (
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// witnessBase is where the numbers of the workers begin that are asked when a Get
// is in doubt.
const witnessBase = 1000

// runner takes a program, one step at a time, and judges every reply against
// the model. It stops at the first reply that breaks a clause which is not
// excused.
type runner struct {
	st      *store
	rules   model.Rules
	excuses *excuses
	probing bool // look at every key after every step, to see which step was at fault
	base    int  // added to the number of every worker: the skew check has two sets of them
	shortTT time.Duration
	waits   *time.Duration // how long may still be waited in all, where the clock can't be moved; nil: no limit
	tooLong time.Duration  // a wait that was not made because of its length

	what   string // the check that runs, for the report
	fresh  string
	keys   map[string]*keyTrack
	order  []*keyTrack
	names  map[string]kept
	lastOn *keyTrack // the key of the last event
	at     *keyTrack // the key of the reply that is being judged

	events  []Event
	replies []traced // every reply, for comparing two runs of one program
	found   *finding
	seen    map[string]int // by clause: replies that were judged on a key in order, and kept it
	excused bool           // a reply was put down to a clause that is known to fail,
	clear   int            // and so many came before it
	offPlan string         // why a hand-written example did not go as written
	failed  error          // the harness failed
	took    []bool         // which moves of the clock could be made
	began   time.Time      // on a frozen clock
}

// newRunner makes a runner that works on fresh keys.
func newRunner(st *store, x *excuses) *runner {
	return &runner{
		st: st, rules: st.h.rules(), excuses: x,
		shortTT: min(max(20*time.Millisecond, 2*st.h.resolution(), st.h.MinTTL), st.h.maxTTL()),
		fresh:   st.freshName(), keys: map[string]*keyTrack{}, names: map[string]kept{}, seen: map[string]int{},
	}
}

// run takes the steps of p until one breaks a clause. Where the server clock
// can be moved, it begins at the instant at which the store was opened, so that
// a program meets the same situation whenever it is run.
func (r *runner) run(p program) {
	r.st.clock.rewind()
	r.began = r.st.clock.now
	for i, s := range p {
		r.take(i, s)
		if r.found != nil {
			r.found.prog = p[:i+1]
			return
		}
		if r.failed != nil {
			return
		}
	}
}

func (r *runner) take(i int, s step) {
	switch s.do {
	case doMove:
		ok := r.move(s)
		r.took = append(r.took, ok)
		if !ok {
			r.offScript(i, s, "the clock could not be brought there")
		}
	case doSeed:
		r.seed(s)
	default:
		c := r.concrete(s)
		k := r.track(s.space, c.key)
		reply := r.call(s.worker, k, c, s.as)
		if s.want != nil && reply.Outcome != *s.want && (!s.lax || reply.Outcome != model.Lost) {
			r.offScript(i, s, "the reply was another one")
		}
	}
}

func (r *runner) offScript(i int, s step, why string) {
	if r.offPlan == "" {
		text := "move of the clock"
		if s.do != doMove {
			text = r.concrete(s).String()
		}
		r.offPlan = fmt.Sprintf("step %d, %s: %s", i+1, text, why)
	}
}

// concrete makes the call that a step stands for.
func (r *runner) concrete(s step) call {
	c := call{do: s.do, key: keyName(s.key, r.fresh), holder: keyName(s.holder, r.fresh), ttl: s.ttl}
	if s.short {
		c.ttl = r.shortTT
	}
	if s.do == doRenew || s.do == doRelease {
		c.lease = s.ref.alter.altered(r.leaseFor(s))
		if s.ref.alter == otherKey {
			c.lease.Key = c.key + "/other"
		}
		c.key, c.holder = c.lease.Key, c.lease.Holder
	}
	return c
}

// leaseFor is the lease that a step's ref names, or a made-up one where no
// such lease was granted.
func (r *runner) leaseFor(s step) lease.Lease {
	if k, ok := r.names[s.ref.as]; ok && s.ref.as != "" {
		return k.lease
	}
	name := keyName(s.key, r.fresh)
	if k, ok := r.keys[s.space+"\x00"+name]; ok && len(k.leases) > 0 {
		return k.leases[len(k.leases)-1-s.ref.back%len(k.leases)].lease
	}
	holder := keyName(s.holder, r.fresh)
	if holder == "" {
		holder = "nobody"
	}
	return lease.Lease{Key: name, Holder: holder, Token: 1}
}

// track returns what is known of a key.
func (r *runner) track(space, name string) *keyTrack {
	id := space + "\x00" + name
	k, ok := r.keys[id]
	if !ok {
		k = &keyTrack{name: name, space: space, states: []model.State{{}}}
		r.keys[id] = k
		r.order = append(r.order, k)
	}
	return k
}

// call makes one call, writes it into the history and judges the reply.
func (r *runner) call(worker int, k *keyTrack, c call, as string) model.Reply {
	w, err := r.st.worker(worker+r.base, k.space)
	if err != nil {
		r.failed = err
		return model.Reply{}
	}
	lo := r.st.clock.earliest()
	called := time.Now()
	a := r.st.call(r.st.ctx, w, c)
	returned := time.Now()
	if a.err == nil && a.problem == "" && (c.do == doAcquire || c.do == doRenew) {
		r.st.clock.learn(called, returned, c.ttl, a.lease.ExpiresAt)
	}
	var hi time.Time
	if r.st.clock.kind == clockNone {
		lo, _ = r.st.clock.estimate(called)
		_, hi = r.st.clock.estimate(returned)
	} else {
		hi = r.st.clock.latest()
	}
	if hi.Before(lo) {
		lo = hi
	}
	if r.st.clock.kind != clockFrozen {
		// A clock that nobody holds may step back by itself, a little; the model
		// is told of steps that the suite makes, and of no others.
		for _, s := range k.states {
			if hi.Before(s.Since) {
				hi = s.Since
			}
		}
	}
	if err := r.st.clock.failure(); err != nil {
		r.failed = err
		return model.Reply{}
	}
	e := Event{Worker: r.workerText(worker, k.space), Call: c.String(), Reply: a.String()}
	if r.st.clock.kind != clockNone {
		e.Time = shownTime(hi)
	}
	r.events = append(r.events, e)
	at := len(r.events) - 1
	j := judgement{r: r, k: k, c: c, a: a, w: model.Window{Lo: lo, Hi: hi}, worker: worker, as: as}
	r.at = k
	j.judge()
	r.spread(k)
	r.lastOn = k
	reply := a.reply(c.do)
	r.replies = append(r.replies, traced{reply, j.w, at})
	if r.found == nil && r.failed == nil {
		r.probe(k, worker)
	}
	return reply
}

// spread gives up on the keys that a call on k may have changed, if it is known
// that keys are not independent.
func (r *runner) spread(k *keyTrack) {
	for _, other := range r.order {
		if other != k && (r.excuses.has("KEY-1") && other.space == k.space || r.excuses.has("KEY-2") && other.space != k.space) {
			other.untracked = true
		}
	}
}

func (r *runner) workerText(n int, space string) string {
	name := workerName(n)
	if note := r.st.notes[n+r.base]; note != "" {
		name += note
	}
	if space == "" {
		return name
	}
	return fmt.Sprintf("%s in %s", name, shown(space))
}

// probe looks at the key that was used, and then at the others, so that a
// silent change is seen right after the call that made it.
func (r *runner) probe(used *keyTrack, worker int) {
	if !r.probing {
		return
	}
	r.probing = false
	for _, k := range append([]*keyTrack{used}, r.order...) {
		if r.found == nil && r.failed == nil && !k.untracked && lease.CheckKey(k.name) == nil {
			last := k.last
			r.call(worker, k, call{do: doGet, key: k.name}, "")
			k.last = last
			r.lastOn = used
		}
	}
	r.probing = true
}

// move moves the clock, or waits for it, and says whether it got there.
func (r *runner) move(s step) bool {
	c := r.st.clock
	by := s.move.by + time.Duration(s.move.units)*r.rules.Resolution
	if s.move.early {
		by -= r.shortTT / 4
	}
	from, ok := c.earliest(), false
	if s.move.toEnd {
		k := r.track(s.space, keyName(s.key, r.fresh))
		if k.untracked || !k.state().Held || k.state().EndLo.IsZero() {
			return false
		}
		to := k.state().EndLo.Add(by)
		if by >= 0 {
			to = to.Add(r.rules.ExpiryLag)
		}
		if !c.movable() {
			return r.wait(to)
		}
		d := to.Sub(from)
		if d > 1<<62 || d < -1<<62 {
			return false
		}
		ok = c.moveTo(to, by >= 0)
	} else {
		ok = c.move(by)
	}
	// A move that did not get all the way is one too: the keys have to know. A
	// clock that runs on goes a little further by itself.
	now := c.earliest()
	if !ok && (now.Equal(from) || c.kind != clockFrozen && now.Sub(from).Abs() < time.Second) {
		return false
	}
	for _, k := range r.order {
		k.clockMoved(r.rules, now.Sub(from), now)
	}
	r.events = append(r.events, Event{Time: shownTime(now), Call: fmt.Sprintf("the server clock moves by %v", now.Sub(from))})
	r.lastOn = nil
	return ok
}

// longestWait is how long one step may wait for a lease to end.
const longestWait = 15 * time.Second

// wait waits for an instant of a server clock that can't be moved. It does so
// for leases that were taken for the short ttl, and no others.
func (r *runner) wait(to time.Time) bool {
	if r.waits != nil && *r.waits <= 0 {
		return false
	}
	left := to.Sub(r.st.clock.earliest())
	limit := 2*r.shortTT + r.rules.ExpiryLag + 4*r.rules.Resolution + 50*time.Millisecond
	if left > longestWait && left <= limit {
		r.tooLong = left
	}
	began := time.Now()
	ok := r.st.clock.wait(r.st.ctx, to, min(limit, longestWait))
	if r.waits != nil {
		*r.waits -= time.Since(began)
	}
	return ok
}

func (r *runner) seed(s step) {
	k := r.track(s.space, keyName(s.key, r.fresh))
	if r.st.h.SeedToken == nil || len(k.grants) > 0 || k.seeded {
		return
	}
	if err := r.st.tb.setUp(r.st.guard, func() { r.st.h.SeedToken(r.st.tb, k.name, s.token) }); err != nil {
		r.failed = fmt.Errorf("seed the counter: %w", err)
		return
	}
	k.seeded = true
	k.states[0].Max = s.token
	r.events = append(r.events, Event{Call: fmt.Sprintf("the counter of %s is raised to %d", shown(k.name), s.token)})
}

// resync takes the store's own word for a key, after clause id, which is known to
// fail, may have changed it; "" if it has been noted already.
func (r *runner) resync(k *keyTrack, worker int, w model.Window, id string) {
	for _, id := range []string{"GET-1", "GET-2", "GET-3", "KEY-1", "KEY-3", "ERR-8", "TOKEN-1"} {
		if r.excuses.has(id) {
			k.untracked = true
			return
		}
	}
	wk, err := r.st.worker(worker+r.base, k.space)
	if err != nil || lease.CheckKey(k.name) != nil {
		k.untracked = true
		return
	}
	a := r.st.call(r.st.ctx, wk, call{do: doGet, key: k.name})
	e := Event{Worker: r.workerText(worker, k.space), Call: call{do: doGet, key: k.name}.String(), Reply: a.String()}
	if r.st.clock.kind != clockNone {
		e.Time = shownTime(w.Hi)
	}
	r.events = append(r.events, e)
	reply := a.reply(doGet)
	switch {
	case reply.Outcome == model.NotHeld && k.step(r.rules, model.Op{Kind: model.Get}, reply, w):
		// A grant that is over may come back if the clock steps back, or have
		// been cleared.
		free := model.State{Max: k.state().Max, Since: k.state().Since}
		k.states = addState(k.states, free)
	case reply.Outcome == model.Granted && reply.Token > 0, reply.Outcome == model.NotHeld:
		if !k.step(r.rules, model.Op{Kind: model.Get}, reply, w) {
			k.doubt(reply, w)
			if id != "" {
				k.taint(id)
			}
		}
	default:
		k.untracked = true
	}
}

// blame puts a disagreement to the first of clauses, unless one of them is
// already known to fail, or one that is has upset the present grant; then the
// reply is excused and blame returns true.
func (r *runner) blame(want, problem string, clauses ...string) bool {
	last := &r.events[len(r.events)-1]
	last.Want = want
	f := &finding{clause: clauses[0], problem: problem, events: r.events, foundBy: r.what}
	for _, id := range append(clauses, r.at.tainted...) {
		if r.excuses.has(id) {
			f.clause = id
			f.events = append([]Event(nil), r.events...)
			if !r.excused {
				r.excused, r.clear = true, len(r.replies)
			}
			if id != clauses[0] {
				r.excuses.obscured[clauses[0]] = id
			}
			if upsetting[id] {
				r.at.taint(id)
			}
			r.excuses.used(f)
			return true
		}
	}
	r.found = f
	return false
}
