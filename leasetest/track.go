package leasetest

import (
	"slices"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// keyTrack is what a run knows of one key: the states that the model allows,
// and the facts by which a disagreement is put to its clause.
type keyTrack struct {
	name   string // the key
	space  string
	states []model.State

	// untracked is why replies on this key are not judged for now: a clause
	// that is already known to fail has left its state open. The next grant
	// ends it.
	untracked bool

	// tainted are the clauses, known to fail, that had a part in the present
	// grant. What follows from it is put down to them; the next grant that keeps
	// the contract begins anew.
	tainted []string

	// doubtful says that the expiry of the present grant was reported wrongly:
	// what Get shows of it then speaks against no state.
	doubtful bool

	leases []kept       // every lease that was granted or renewed, in order
	grants []grantFact  // every grant, in order
	first  int64        // token of the first grant
	seeded bool         // its counter was raised
	by     int          // the worker that got the present grant
	setAt  model.Window // when the present expiry was set,
	setTTL time.Duration
	setBy  []string  // the clauses on the calls that set it since the grant, the last one first
	most   time.Time // how far the clock got since then, or since it stepped back
	peak   time.Time // how far it ever got since the last grant
	back   bool      // the clock stepped back since the last grant
	looked bool      // a Get was made
	freed  bool      // a Release was called since then, of whichever lease
	jump   time.Duration
	last   cause // what happened last to this key
}

// kept is a lease as a worker has it in hand.
type kept struct {
	lease  lease.Lease
	worker int
}

// grantFact is one grant, for telling apart why a lease is stale.
type grantFact struct {
	holder   string
	worker   int
	token    int64
	released bool
}

// cause is the last event that may have changed a key, and the clause that is
// broken if it did so wrongly.
type cause struct {
	clauses []string
	release bool // it was a Release of the live grant
}

// state returns the state that a disagreement is explained with: the first of
// those that the model allows.
func (k *keyTrack) state() model.State { return k.states[0] }

// grant returns what is known of the grant that l claims to be, and whether
// there was one.
func (k *keyTrack) grant(l lease.Lease) (fact grantFact, latest, ok bool) {
	for i := len(k.grants) - 1; i >= 0; i-- {
		if g := k.grants[i]; g.token == l.Token && g.holder == l.Holder && l.Key == k.name {
			return g, i == len(k.grants)-1, true
		}
	}
	return grantFact{}, false, false
}

// granted records a lease that worker got from an Acquire or a Renew.
// Where it is no new grant, setBy is the clause on the expiry that it sets.
func (k *keyTrack) granted(l lease.Lease, worker int, w model.Window, ttl time.Duration, fresh bool, setBy string) {
	if fresh {
		if len(k.grants) == 0 {
			k.first = l.Token
		}
		k.setBy, k.freed = nil, false
		k.grants = append(k.grants, grantFact{holder: l.Holder, worker: worker, token: l.Token})
		k.by = worker
		k.back = false
		k.peak = w.Hi
	}
	k.leases = append(k.leases, kept{l, worker})
	k.doubtful = false
	k.setAt, k.setTTL, k.most, k.jump = w, ttl, w.Hi, 0
	if !fresh {
		k.setBy = append([]string{setBy}, k.setBy...)
	}
}

func (k *keyTrack) taint(id string) {
	if !slices.Contains(k.tainted, id) {
		k.tainted = append(k.tainted, id)
	}
}

// adopt takes a reply for the truth, after a clause that is known to fail has
// made the model's state worthless.
func (k *keyTrack) adopt(reply model.Reply, w model.Window) {
	s := model.State{Since: w.Lo}
	if len(k.states) > 0 {
		s.Max = k.state().Max
	}
	if reply.Outcome == model.Granted {
		s = model.State{
			Held: true, Holder: reply.Holder, Token: reply.Token,
			EndLo: reply.Expires, EndHi: reply.Expires, Max: reply.Token, Since: w.Lo,
		}
	}
	k.states = []model.State{s}
	k.untracked = false
}

// doubt takes what a Get says for possible, beside what the model had: after a
// disagreement nobody knows whether the state is wrong or what Get shows of it.
func (k *keyTrack) doubt(reply model.Reply, w model.Window) {
	before := k.states
	k.adopt(reply, w)
	for _, s := range before {
		k.states = addState(k.states, s)
	}
}

// step moves the states on, and says whether the contract allows the reply.
func (k *keyTrack) step(r model.Rules, op model.Op, reply model.Reply, w model.Window) bool {
	var next []model.State
	for _, s := range k.states {
		for _, n := range r.Step(s, op, reply, w) {
			next = addState(next, n)
		}
	}
	if len(next) == 0 {
		return false
	}
	if op.Kind == model.Get && k.doubtful {
		for _, s := range k.states {
			next = addState(next, s)
		}
	}
	k.states = next
	return true
}

// clockMoved tells the key that the server clock went to now.
func (k *keyTrack) clockMoved(r model.Rules, by time.Duration, now time.Time) {
	if by >= 0 {
		k.jump += by
		if now.After(k.most) {
			k.most = now
		}
		if now.After(k.peak) {
			k.peak = now
		}
		return
	}
	var next []model.State
	for _, s := range k.states {
		for _, n := range r.SteppedBack(s, k.most, now) {
			next = addState(next, n)
		}
	}
	k.states = next
	k.back = true
	k.most = now // whether the grant came back is now settled by the next reply
}

func addState(states []model.State, s model.State) []model.State {
	for _, have := range states {
		if have == s {
			return states
		}
	}
	return append(states, s)
}
