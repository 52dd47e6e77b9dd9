// Package model is the reference model of the lease contract: what one key may
// be, and which replies a call may have. It is pure – value in, value out, no
// clock, no I/O – so that the same few lines judge a single-step run on a
// frozen clock, where every instant is known exactly, and a concurrent run,
// where it is known only to lie in an interval.
package model

import "time"

// Rules are the figures that a backend declares. All are 0 or more.
type Rules struct {
	Resolution time.Duration // the unit to which expiry is rounded up; more than 0
	MinTTL     time.Duration // a shorter ttl is rounded up to it
	ExpiryLag  time.Duration // how long an expired grant may still look live

	// LateCommit says that the instant from which an expiry is counted need not be
	// that at which a grant becomes visible: both lie between the call and its
	// reply. A database reads its clock and commits later; or it commits, finds
	// that it had waited, and counts anew.
	LateCommit bool
}

// State is one key as the store may have it. It is comparable: two states that
// are equal have the same future.
type State struct {
	// Held says that a grant was made that was neither released nor
	// superseded; it may have expired.
	Held   bool
	Holder string
	Token  int64 // token of the grant; 0 while it is unknown because its reply was lost

	// The grant ends at one instant in [EndLo, EndHi]; the two are equal as
	// soon as a reply has told it.
	EndLo, EndHi time.Time

	Max int64 // the greatest token seen for this key

	// Since is the earliest instant of the last step: time does not run
	// backwards from one step to the next.
	Since time.Time
}

// Kind is the call of an Op.
type Kind int

// The calls of lease.Service.
const (
	Acquire Kind = iota
	Renew
	Release
	Get
)

// String returns the name of the call.
func (k Kind) String() string {
	return [...]string{"Acquire", "Renew", "Release", "Get"}[k]
}

// Op is a valid call on the key.
type Op struct {
	Kind   Kind
	Holder string        // of Acquire, or of the lease given
	Token  int64         // of the lease given
	TTL    time.Duration // of Acquire and Renew
}

// Outcome is the kind of a Reply.
type Outcome int

// The replies. Unknown stands for every call whose reply is not definite.
const (
	Unknown Outcome = iota
	Granted         // a lease
	Done            // nil from Release
	Held            // lease.ErrHeld
	Lost            // lease.ErrLost
	NotHeld         // lease.ErrNotHeld
)

// Reply is what a call returned. Holder, Token and Expires belong to Granted.
type Reply struct {
	Outcome Outcome
	Holder  string
	Token   int64
	Expires time.Time
}

// Window is the closed interval of the server clock in which a call took
// effect. Lo equals Hi when the clock stood still.
type Window struct{ Lo, Hi time.Time }

// Longest returns the latest end that a grant may be given at instant t:
// the ttl, or what the store rounds it up to, plus one resolution (EXPIRY-1,
// ARG-2).
func (r Rules) Longest(t time.Time, ttl time.Duration) time.Time {
	return t.Add(max(ttl, r.MinTTL, r.Resolution)).Add(r.Resolution)
}

// GrantWindow returns the part of w in which a grant of ttl may have been made
// that ends at expires, and whether there is any. A granted reply dates itself.
func (r Rules) GrantWindow(w Window, ttl time.Duration, expires time.Time) (Window, bool) {
	earliest := expires.Add(-max(ttl, r.MinTTL, r.Resolution)).Add(-r.Resolution)
	latest := expires.Add(-ttl)
	return clip(w, earliest, latest)
}

// Step returns the states in which the key may be after op was answered by
// reply, having taken effect at one instant of w. None means that the contract
// does not allow the reply.
func (r Rules) Step(s State, op Op, reply Reply, w Window) []State {
	if r.LateCommit && op.Kind != Get && (reply.Outcome == Granted || reply.Outcome == Unknown) {
		// Whatever only looked at the key meanwhile does not bind the instant.
		next := r.step(s, op, reply, w)
		for i := range next {
			next[i].Since = later(w.Lo, s.Since)
		}
		return next
	}
	w.Lo = later(w.Lo, s.Since)
	if w.Hi.Before(w.Lo) {
		return nil
	}
	return r.step(s, op, reply, w)
}

func (r Rules) step(s State, op Op, reply Reply, w Window) []State {
	if reply.Outcome == Unknown {
		return r.unknown(s, op, w)
	}
	switch op.Kind {
	case Acquire:
		return r.acquire(s, op, reply, w)
	case Renew:
		return r.renew(s, op, reply, w)
	case Release:
		return r.release(s, op, reply, w)
	default:
		return r.get(s, reply, w)
	}
}

func (r Rules) acquire(s State, op Op, reply Reply, w Window) []State {
	switch reply.Outcome {
	case Granted:
		w, ok := r.GrantWindow(w, op.TTL, reply.Expires)
		if !ok || reply.Holder != op.Holder || reply.Token <= 0 {
			return nil
		}
		var next []State
		if live, ok := r.live(s, w); ok && s.Holder == op.Holder && sameGrant(s, reply.Token) {
			next = append(next, granted(s, reply, live))
		}
		if over, ok := r.over(s, w); ok && reply.Token > s.Max {
			next = append(next, granted(s, reply, over))
		}
		return next
	case Held:
		if live, ok := r.live(s, w); ok && s.Holder != op.Holder {
			return []State{r.seenLive(s, live)}
		}
	}
	return nil
}

func (r Rules) renew(s State, op Op, reply Reply, w Window) []State {
	own := s.Holder == op.Holder && sameGrant(s, op.Token)
	switch reply.Outcome {
	case Granted:
		w, ok := r.GrantWindow(w, op.TTL, reply.Expires)
		if !ok || !own || reply.Holder != op.Holder || reply.Token != op.Token {
			return nil
		}
		if live, ok := r.live(s, w); ok {
			return []State{granted(s, reply, live)}
		}
	case Lost:
		if !s.Held || s.Holder != op.Holder || s.Token != op.Token {
			return []State{at(s, w)}
		}
		if over, ok := r.over(s, w); ok {
			return []State{seenOver(s, over)}
		}
	}
	return nil
}

func (r Rules) release(s State, op Op, reply Reply, w Window) []State {
	if reply.Outcome != Done && reply.Outcome != Lost {
		return nil
	}
	own := s.Held && s.Holder == op.Holder && sameGrant(s, op.Token)
	var next []State
	if live, ok := r.live(s, w); ok && own && reply.Outcome == Done {
		next = append(next, released(s, live))
	}
	if over, ok := r.over(s, w); ok && own {
		// A store may clear a grant that is over, or leave it as it is; one
		// that was left may come back if the clock steps back (EXPIRY-7).
		next = append(next, at(s, over), released(s, over))
	}
	if !own || s.Token == 0 {
		next = append(next, at(s, w))
	}
	return next
}

func (r Rules) get(s State, reply Reply, w Window) []State {
	switch reply.Outcome {
	case Granted:
		live, ok := r.live(s, w)
		if !ok || reply.Holder != s.Holder || !sameGrant(s, reply.Token) ||
			reply.Expires.Before(s.EndLo) || reply.Expires.After(s.EndHi) {
			return nil
		}
		if !live.Lo.Before(reply.Expires.Add(r.ExpiryLag)) {
			return nil
		}
		return []State{granted(s, reply, live)}
	case NotHeld:
		if over, ok := r.over(s, w); ok {
			return []State{seenOver(s, over)}
		}
	}
	return nil
}

// unknown forks: the call never took effect, or did in w. The caller chooses w
// wide enough, for the effect may come at any later moment (ERR-2).
func (r Rules) unknown(s State, op Op, w Window) []State {
	next := []State{s}
	own := s.Held && s.Holder == op.Holder && sameGrant(s, op.Token)
	switch op.Kind {
	case Acquire:
		if live, ok := r.live(s, w); ok && s.Holder == op.Holder {
			next = append(next, r.stretched(at(s, live), op, live))
		}
		if over, ok := r.over(s, w); ok {
			fresh := at(s, over)
			fresh.Held, fresh.Holder, fresh.Token = true, op.Holder, 0
			next = append(next, r.stretched(fresh, op, over))
		}
	case Renew:
		if live, ok := r.live(s, w); ok && own {
			next = append(next, r.stretched(at(s, live), op, live))
		}
	case Release:
		if own {
			next = append(next, released(s, w))
		}
	}
	return next
}

// stretched gives the grant of s an end of which only the bounds are known.
func (r Rules) stretched(s State, op Op, w Window) State {
	s.EndLo, s.EndHi = w.Lo.Add(op.TTL), r.Longest(w.Hi, op.TTL)
	return s
}

// live returns the part of w in which the grant of s may be live.
func (r Rules) live(s State, w Window) (Window, bool) {
	end := s.EndHi.Add(r.ExpiryLag)
	if !s.Held || !w.Lo.Before(end) {
		return w, false
	}
	if w.Hi.After(end) {
		w.Hi = end
	}
	return w, true
}

// over returns the part of w in which there may be no live grant in s.
func (r Rules) over(s State, w Window) (Window, bool) {
	if !s.Held {
		return w, true
	}
	return clip(w, s.EndLo, w.Hi)
}

// SteppedBack returns what may have become of s when the server clock steps
// back to now, after it had been at most. A grant whose end the clock had
// reached, and that nobody superseded, may be over for good or live again
// (EXPIRY-7).
func (r Rules) SteppedBack(s State, most, now time.Time) []State {
	s.Since = now
	if !s.Held || most.Before(s.EndLo) {
		return []State{s}
	}
	return []State{s, forget(s)}
}

// sameGrant says whether token may be that of the grant of s. A token that is
// unknown is greater than all that were seen before.
func sameGrant(s State, token int64) bool {
	if s.Token == 0 {
		return token > s.Max
	}
	return s.Token == token
}

func granted(s State, reply Reply, w Window) State {
	return State{
		Held: true, Holder: reply.Holder, Token: reply.Token,
		EndLo: reply.Expires, EndHi: reply.Expires,
		Max: max(s.Max, reply.Token), Since: w.Lo,
	}
}

// seenLive is s after a reply that its grant was live in w: an end of which only
// the bounds are known lies after that.
func (r Rules) seenLive(s State, w Window) State {
	s = at(s, w)
	s.EndLo = later(s.EndLo, w.Lo.Add(1-r.ExpiryLag))
	return s
}

// seenOver is s after a reply that its grant was over in w.
func seenOver(s State, w Window) State {
	s = at(s, w)
	if s.Held && w.Hi.Before(s.EndHi) {
		s.EndHi = w.Hi
	}
	return s
}

func released(s State, w Window) State {
	return forget(at(s, w))
}

// forget is s without its grant. It clears all that plays no part then, so that
// equal futures are equal states.
func forget(s State) State {
	return State{Max: s.Max, Since: s.Since}
}

func at(s State, w Window) State {
	s.Since = w.Lo
	return s
}

func clip(w Window, lo, hi time.Time) (Window, bool) {
	w.Lo = later(w.Lo, lo)
	if hi.Before(w.Hi) {
		w.Hi = hi
	}
	return w, !w.Hi.Before(w.Lo)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
