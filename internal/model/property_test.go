package model_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasekit/lease/internal/model"
)

// plainStore is one key of a store that is plainly right: one clock, one
// record, no uncertainty. Where the contract leaves a store free, it is drawn
// what this one does.
type plainStore struct {
	rules   model.Rules
	now     time.Time
	lag     time.Duration // how late an expired grant is seen to be over
	gap     int64         // between tokens
	roundUp bool          // a short ttl is first rounded up to the resolution

	held   bool
	holder string
	token  int64 // of the last grant
	end    time.Time
}

func drawStore(t *rapid.T, lags []time.Duration) *plainStore {
	s := &plainStore{
		rules: model.Rules{
			Resolution: rapid.SampledFrom([]time.Duration{ms, 10 * ms}).Draw(t, "resolution"),
			MinTTL:     rapid.SampledFrom([]time.Duration{0, 7 * ms}).Draw(t, "MinTTL"),
			ExpiryLag:  rapid.SampledFrom(lags).Draw(t, "ExpiryLag"),
		},
		now:     at(0),
		gap:     rapid.Int64Range(1, 3).Draw(t, "gap"),
		roundUp: rapid.Bool().Draw(t, "round up"),
	}
	s.lag = time.Duration(rapid.Int64Range(0, int64(s.rules.ExpiryLag)).Draw(t, "lag"))
	return s
}

func (s *plainStore) live() bool { return s.held && s.now.Before(s.end.Add(s.lag)) }

func (s *plainStore) owns(op model.Op) bool { return s.holder == op.Holder && s.token == op.Token }

func (s *plainStore) endOf(ttl time.Duration) time.Time {
	ttl = max(ttl, s.rules.MinTTL)
	if s.roundUp {
		ttl = max(ttl, s.rules.Resolution)
	}
	end := s.now.Add(ttl)
	if whole := end.Truncate(s.rules.Resolution); whole.Before(end) {
		return whole.Add(s.rules.Resolution)
	}
	return end
}

func (s *plainStore) lease() model.Reply {
	return model.Reply{Outcome: model.Granted, Holder: s.holder, Token: s.token, Expires: s.end}
}

func (s *plainStore) do(op model.Op) model.Reply {
	switch op.Kind {
	case model.Acquire:
		if s.live() && s.holder != op.Holder {
			return refused
		}
		if !s.live() {
			s.held, s.holder, s.token = true, op.Holder, s.token+s.gap
		}
		s.end = s.endOf(op.TTL)
		return s.lease()
	case model.Renew:
		if !s.live() || !s.owns(op) {
			return lost
		}
		s.end = s.endOf(op.TTL)
		return s.lease()
	case model.Release:
		if s.owns(op) {
			s.held = false
		}
		return done
	default:
		if !s.live() {
			return notHeld
		}
		return s.lease()
	}
}

// drawOp draws a call; most leases given are the present grant, or nearly.
func (s *plainStore) drawOp(t *rapid.T) model.Op {
	kind := rapid.SampledFrom([]model.Kind{model.Acquire, model.Renew, model.Release, model.Get}).Draw(t, "call")
	op := model.Op{Kind: kind}
	if kind != model.Get {
		op.Holder = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "holder")
	}
	if kind == model.Renew || kind == model.Release {
		op.Token = max(1, s.token-rapid.Int64Range(-1, 2).Draw(t, "token below the last"))
	}
	if kind == model.Acquire || kind == model.Renew {
		op.TTL = rapid.SampledFrom([]time.Duration{1, ms, 5*ms + 1, 20 * ms, longest}).Draw(t, "ttl")
	}
	return op
}

// pass moves the clock on, by preference to where a grant ends.
func (s *plainStore) pass(t *rapid.T) {
	to := rapid.SampledFrom([]time.Time{
		s.now, s.now.Add(1), s.now.Add(3 * ms), s.end.Add(-1), s.end, s.end.Add(s.lag - 1), s.end.Add(s.lag),
	}).Draw(t, "clock")
	if to.After(s.now) && to.Before(at(0).AddDate(100, 0, 0)) {
		s.now = to
	}
}

// track is what the model makes of the replies: all states that are possible.
type track struct {
	t      *rapid.T
	rules  model.Rules
	states []model.State
}

// step takes a reply that is right.
func (k *track) step(op model.Op, reply model.Reply, w model.Window) {
	next := k.after(op, reply, w)
	if len(next) == 0 {
		k.t.Fatalf("%v %+v in %v: the right reply %+v is forbidden after %+v", op.Kind, op, w, reply, k.states)
	}
	k.states = next
}

func (k *track) after(op model.Op, reply model.Reply, w model.Window) []model.State {
	var next []model.State
	for _, s := range k.states {
		next = append(next, k.rules.Step(s, op, reply, w)...)
	}
	return distinct(next)
}

var noLag, anyLag = []time.Duration{0}, []time.Duration{0, 5 * ms}

// rightIsAllowed runs a right store on a clock that is known exactly or in
// bounds only, with replies that get lost.
func rightIsAllowed(t *rapid.T) {
	s := drawStore(t, anyLag)
	k := &track{t, s.rules, []model.State{{}}}
	for range rapid.IntRange(1, 30).Draw(t, "steps") {
		s.pass(t)
		op := s.drawOp(t)
		before := time.Duration(rapid.Int64Range(0, int64(4*ms)).Draw(t, "window before"))
		after := time.Duration(rapid.Int64Range(0, int64(4*ms)).Draw(t, "window after"))
		w := model.Window{Lo: s.now.Add(-before), Hi: s.now.Add(after)}
		switch rapid.IntRange(0, 9).Draw(t, "fate") {
		case 0: // the request is lost
			k.step(op, unknown, w)
		case 1: // the reply is
			s.do(op)
			k.step(op, unknown, w)
		default:
			k.step(op, s.do(op), w)
		}
	}
}

func TestRightIsAllowed(t *testing.T) { rapid.Check(t, rightIsAllowed) }

// steppedBackIsAllowed lets the clock step back. A store may then have dropped
// what had expired before, or not.
func steppedBackIsAllowed(t *rapid.T) {
	s := drawStore(t, anyLag)
	k := &track{t, s.rules, []model.State{{}}}
	most := s.now // how far the clock got since it last stepped back
	for range rapid.IntRange(1, 30).Draw(t, "steps") {
		s.pass(t)
		if s.now.After(most) {
			most = s.now
		}
		if rapid.IntRange(0, 3).Draw(t, "step back") == 0 {
			if !most.Before(s.end) && rapid.Bool().Draw(t, "drop") {
				s.held = false
			}
			s.now = s.now.Add(-rapid.SampledFrom([]time.Duration{1, ms, 10 * ms, time.Hour}).Draw(t, "back"))
			var next []model.State
			for _, st := range k.states {
				next = append(next, s.rules.SteppedBack(st, most, s.now)...)
			}
			k.states, most = distinct(next), s.now
		}
		op := s.drawOp(t)
		k.step(op, s.do(op), model.Window{Lo: s.now, Hi: s.now})
	}
}

func TestSteppedBackIsAllowed(t *testing.T) { rapid.Check(t, steppedBackIsAllowed) }

// wrongIsForbidden alters the replies of a right store on a clock that is
// known exactly.
func wrongIsForbidden(t *rapid.T) {
	s := drawStore(t, noLag)
	k := &track{t, s.rules, []model.State{{}}}
	for range rapid.IntRange(1, 30).Draw(t, "steps") {
		s.pass(t)
		op, was := s.drawOp(t), *s
		reply, w := s.do(op), model.Window{Lo: s.now, Hi: s.now}
		for name, wrong := range was.wrong(op, reply) {
			if next := k.after(op, wrong, w); len(next) > 0 {
				t.Fatalf("%v %+v: %s, %+v instead of %+v, is allowed after %+v", op.Kind, op, name, wrong, reply, k.states)
			}
		}
		k.step(op, reply, w)
	}
}

func TestWrongIsForbidden(t *testing.T) { rapid.Check(t, wrongIsForbidden) }

// wrong returns replies that the contract forbids where right is right; s is
// the store before the call.
func (s *plainStore) wrong(op model.Op, right model.Reply) map[string]model.Reply {
	all := map[string]model.Reply{}
	for _, o := range []model.Outcome{model.Done, model.Held, model.Lost, model.NotHeld} {
		tolerated := op.Kind == model.Release && o == model.Lost && !(s.live() && s.owns(op)) // RELEASE-3
		if o != right.Outcome && !tolerated {
			all["other outcome"+string(rune('0'+o))] = model.Reply{Outcome: o}
		}
	}
	alter := func(name string, f func(*model.Reply)) {
		r := right
		f(&r)
		all[name] = r
	}
	if right.Outcome != model.Granted {
		lease := model.Reply{Outcome: model.Granted, Holder: op.Holder, Token: s.token + 1, Expires: s.endOf(op.TTL)}
		switch op.Kind {
		case model.Renew:
			lease.Token = op.Token
		case model.Get:
			lease = s.lease()
		}
		all["lease"] = lease
		if op.Kind == model.Acquire {
			lease.Token = s.token
			all["lease of the same token"] = lease
		}
		return all
	}
	alter("other holder", func(r *model.Reply) { r.Holder += " " })
	alter("token 0", func(r *model.Reply) { r.Token = 0 })
	alter("negative token", func(r *model.Reply) { r.Token = -r.Token })
	if fresh := op.Kind == model.Acquire && !s.live(); fresh {
		alter("last token", func(r *model.Reply) { r.Token = s.token })
	} else {
		alter("token + 1", func(r *model.Reply) { r.Token++ })
		alter("token - 1", func(r *model.Reply) { r.Token-- })
	}
	if op.Kind == model.Get {
		alter("later expiry", func(r *model.Reply) { r.Expires = r.Expires.Add(1) })
		alter("earlier expiry", func(r *model.Reply) { r.Expires = r.Expires.Add(-1) })
	} else {
		alter("later expiry", func(r *model.Reply) { r.Expires = s.rules.Longest(s.now, op.TTL).Add(1) })
		alter("earlier expiry", func(r *model.Reply) { r.Expires = s.now.Add(op.TTL - 1) })
	}
	return all
}

// windowIsItsInstants takes any state and reply, right or wrong. On a clock
// that ticks in nanoseconds, a window allows what one of its instants allows,
// and no less: so a wider one never forbids more.
func windowIsItsInstants(t *rapid.T) {
	instant := rapid.Map(rapid.IntRange(0, 9), func(n int) time.Time { return at(0).Add(time.Duration(n)) })
	small := rapid.Map(rapid.IntRange(0, 3), func(n int) time.Duration { return time.Duration(n) })
	holder, token := rapid.SampledFrom([]string{"a", "b"}), rapid.Int64Range(1, 4)

	r := model.Rules{Resolution: 1, MinTTL: small.Draw(t, "MinTTL"), ExpiryLag: small.Draw(t, "ExpiryLag")}
	s := model.State{Max: rapid.Int64Range(0, 4).Draw(t, "max"), Since: instant.Draw(t, "since")}
	if rapid.Bool().Draw(t, "held") {
		s.Held, s.Holder = true, holder.Draw(t, "state's holder")
		s.Token = rapid.Int64Range(0, s.Max).Draw(t, "state's token")
		s.EndLo = instant.Draw(t, "end")
		s.EndHi = s.EndLo.Add(small.Draw(t, "end's range"))
	}
	op := model.Op{Kind: model.Kind(rapid.IntRange(0, 3).Draw(t, "call"))}
	op.Holder, op.Token, op.TTL = holder.Draw(t, "holder"), token.Draw(t, "token"), 1+small.Draw(t, "ttl")
	reply := model.Reply{Outcome: model.Outcome(rapid.IntRange(0, 5).Draw(t, "outcome"))}
	if reply.Outcome == model.Granted {
		reply.Holder, reply.Token = holder.Draw(t, "reply's holder"), token.Draw(t, "reply's token")
		reply.Expires = instant.Draw(t, "expires")
	}
	w := model.Window{Lo: instant.Draw(t, "from")}
	w.Hi = w.Lo.Add(small.Draw(t, "width"))

	wide := r.Step(s, op, reply, w)
	possible := false
	for now := w.Lo; !now.After(w.Hi); now = now.Add(1) {
		for _, narrow := range r.Step(s, op, reply, model.Window{Lo: now, Hi: now}) {
			possible = true
			if !covered(narrow, wide) {
				t.Fatalf("at %v the state %+v is possible, but in %v only %+v", now, narrow, w, wide)
			}
		}
	}
	if !possible && len(wide) > 0 {
		t.Fatalf("no instant of %v allows the reply %+v, but the window does: %+v", w, reply, wide)
	}
}

func TestWindowIsItsInstants(t *testing.T) { rapid.Check(t, windowIsItsInstants) }

// covered says whether one of the states leaves open all that s does.
func covered(s model.State, states []model.State) bool {
	for _, c := range states {
		if c.Held == s.Held && c.Holder == s.Holder && c.Token == s.Token && c.Max == s.Max &&
			!c.Since.After(s.Since) && !c.EndLo.After(s.EndLo) && !c.EndHi.Before(s.EndHi) {
			return true
		}
	}
	return false
}
