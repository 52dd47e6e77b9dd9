package leasetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/history"
)

// checkContexts is about contexts that end before or during a call.
func (s *suite) checkContexts() {
	s.withStore("ERR-1", s.checkDoneContexts)
	s.withStore("ERR-1", s.checkHangingStore)
	s.withStore("ERR-3", s.checkLostReplies)
	s.withStore("ERR-4", s.checkRefusingStore)
	s.withStore("ERR-2", s.checkOneEffect)
	s.withStore("ERR-2", s.checkUnknownOutcomes)
}

// withStore opens a store for one check of a clause.
func (s *suite) withStore(id string, check func(*store)) {
	st, err := s.open(id)
	if err != nil {
		s.broken(id, err)
		return
	}
	defer s.close(id, st)
	if err := st.connectAll(s.knobs.workers); err != nil {
		s.broken(id, err)
		return
	}
	check(st)
}

// seen records a failure of a check that makes its calls by hand.
func (s *suite) seen(id, problem, want string, calls []recorded) {
	f := &finding{clause: id, problem: problem, events: events(calls)}
	if n := len(f.events); n > 0 {
		f.events[n-1].Want = want
	}
	s.fail(f, "calls with contexts that end", s.seed)
}

// callsOn are one valid call of each kind on the key of l.
func (s *store) callsOn(l lease.Lease) []call {
	return []call{
		acquireCall(l.Key, l.Holder, s.ttl(time.Minute)),
		renewCall(l, s.ttl(time.Minute)),
		releaseCall(l),
		getCall(l.Key),
	}
}

// checkDoneContexts begins every call with a context that is done already.
func (s *suite) checkDoneContexts(st *store) {
	cancelled, cancel := context.WithCancel(st.ctx)
	cancel()
	expired, cancel := context.WithDeadline(st.ctx, time.Now().Add(-time.Hour))
	defer cancel()
	for _, ctx := range []context.Context{cancelled, expired} {
		r := newRecorder(st)
		got := r.do(st.ctx, 0, acquireCall(st.freshName(), "alice", st.ttl(time.Minute)))
		if got.a.err != nil || got.a.problem != "" {
			s.inconclusive("ERR-1", "no lease could be acquired to try with: "+got.a.String())
			return
		}
		if err := lease.CheckLease(got.granted()); err != nil {
			s.notChecked("ERR-1", "no well-formed lease could be acquired to try with")
			return
		}
		for _, c := range st.callsOn(got.granted()) {
			a := r.do(ctx, 0, c).a
			want := fmt.Sprintf("an error for which errors.Is(err, %q)", ctx.Err())
			switch {
			case a.problem != "" || !errors.Is(a.err, ctx.Err()):
				s.seen("ERR-1", fmt.Sprintf("%s with a context that was done before the call does not fail with its error", c.op().Kind), want, r.sorted())
				return
			case a.lease != (lease.Lease{}):
				s.seen("ERR-8", "a call returns a lease and an error", "the zero Lease with the error", r.sorted())
				return
			}
		}
	}
	s.examined("ERR-1")
}

// checkHangingStore ends the context of a call while the store does not
// answer: a worker whose connections lead into a black hole.
func (s *suite) checkHangingStore(st *store) {
	hole := newBlackHole()
	defer hole.close()
	const unseen = "contexts that are done before a call were checked; for those that end during one "
	svc, err := st.dial(st.tb, Worker{Dial: hole.dial})
	if err != nil {
		s.notChecked("ERR-1", unseen+"the client could not be made while the store hangs: "+err.Error())
		return
	}
	l := lease.Lease{Key: st.freshName(), Holder: "alice", Token: 1}
	for _, c := range st.callsOn(l) {
		select {
		case <-hole.reached: // left over from the call before
		default:
		}
		ctx, cancel := context.WithCancel(st.ctx)
		done := make(chan answer, 1)
		go func() {
			done <- st.call(ctx, func(ctx context.Context, c call) answer { return c.on(ctx, svc) }, c)
		}()
		var a answer
		select {
		case <-hole.reached:
			cancel()
			a = <-done
		case a = <-done:
			cancel()
			if hole.dials.Load() == 0 {
				s.notChecked("ERR-1", unseen+"the client would have to dial through Worker.Dial")
				return
			}
		}
		rec := []recorded{{c: c, a: a}}
		if a.problem != "" || !errors.Is(a.err, context.Canceled) {
			s.seen("ERR-1", fmt.Sprintf("%s of a store that hangs does not return with its context's error when the context ends", c.op().Kind),
				fmt.Sprintf("an error for which errors.Is(err, %q), before the store answers", context.Canceled), rec)
			return
		}
	}
}

// checkOneEffect lets a context end during an Acquire. If the grant was seen, it
// has to be whole: it ends when it says, and once it was released it does not
// come again (ERR-2).
func (s *suite) checkOneEffect(st *store) {
	ttl := st.ttl(time.Hour)
	if !st.clock.movable() {
		ttl = st.ttl(max(20*time.Millisecond, 2*st.h.resolution()))
	}
	for look := range 12 {
		r := newRecorder(st)
		c := acquireCall(st.freshName(), "alice", ttl)
		ctx, cancel := endingContext(st.ctx, look)
		called := time.Now()
		first := r.do(ctx, 0, c)
		cancel()
		now := r.do(st.ctx, 1, getCall(c.key))
		if first.a.err == nil || now.a.problem != "" || now.a.err != nil {
			continue
		}
		if look%2 == 0 {
			freed := r.do(st.ctx, 1, releaseCall(now.granted()))
			after := r.do(st.ctx, 1, getCall(c.key))
			if freed.a.problem == "" && freed.a.err == nil && after.a.problem == "" && after.a.err == nil && !s.excuses.has("RELEASE-1") && !s.excuses.has("RELEASE-4") {
				s.seen("ERR-2", "an Acquire whose caller gave up took effect, and again after that grant was released", "ErrNotHeld: the grant was released", r.sorted())
				return
			}
			continue
		}
		st.clock.learn(called, time.Now(), ttl, now.a.lease.ExpiresAt)
		if !st.clock.passes(st.ctx, plain(now.a.lease.ExpiresAt).Add(st.h.ExpiryLag+st.h.resolution())) {
			continue
		}
		next := r.do(st.ctx, 1, acquireCall(c.key, "bob", ttl))
		if errors.Is(next.a.err, lease.ErrHeld) && !s.excuses.has("EXPIRY-3") && !s.excuses.has("EXPIRY-1") && !s.excuses.has("GET-1") {
			s.seen("ERR-2", "an Acquire whose caller gave up took half of its effect: the key is held past the expiry that Get showed", "a grant: the lease is over", r.sorted())
			return
		}
	}
}

// checkUnknownOutcomes makes concurrent calls whose contexts may end at any
// moment, and asks whether a history explains the replies in which each of
// them took effect once or never (ERR-2).
func (s *suite) checkUnknownOutcomes(st *store) {
	unknown, judged := 0, false
	s.rounds(func(i int) bool {
		var cut atomic.Int32
		judged = true
		key, calls := s.randomRound(st, i, func(rnd *rand.Rand) (context.Context, context.CancelFunc) {
			if rnd.IntN(4) > 0 {
				return context.WithCancel(st.ctx)
			}
			switch n := cut.Add(1); {
			case n == 1: // done before the call, so that no round is without
				return endingContext(st.ctx, 0)
			case n <= maxCut:
				return endingContext(st.ctx, rnd.IntN(8))
			}
			return context.WithCancel(st.ctx)
		})
		here := 0
		for _, c := range calls {
			switch {
			case c.a.problem != "":
				s.afterwards(c.a, calls)
				s.inconclusive("ERR-2", "a call "+c.a.problem)
				return false
			case c.a.err != nil && !definite(c.a.err):
				here++
			}
		}
		unknown += here
		switch {
		case here > history.MaxUnknown && s.excuses.has("ERR-7"):
			s.notChecked("ERR-2", "can't be told apart from what breaks ERR-7")
			return false
		case here > history.MaxUnknown:
			s.inconclusive("ERR-2", fmt.Sprintf("%d calls of one history had no definite reply, though only %d contexts ended", here, maxCut))
			return false
		}
		judged = s.judgeHistory(st, "ERR-2", key, calls)
		return judged
	})
	switch {
	case unknown > 0 || !judged:
	case s.excuses.has("ERR-1"):
		s.notChecked("ERR-2", "no call had an unknown outcome: contexts that end are not looked at (ERR-1)")
	default:
		s.inconclusive("ERR-2", "no call had an unknown outcome, though contexts ended before and during them")
	}
	s.examined("ERR-2")
}

// maxCut is how many contexts of one history end.
const maxCut = history.MaxUnknown

// afterwards blames a call that hangs or panics once contexts have ended on the
// store, for it may have left a lock behind.
func (s *suite) afterwards(a answer, calls []recorded) {
	if !s.excuses.has("ERR-7") {
		s.seen("ERR-7", "after a call whose context ended, a call "+a.problem, "a definite reply", calls)
	}
}

// checkLostReplies repeats an Acquire whose reply the holder never got,
// because its context ended during the call (ERR-3).
func (s *suite) checkLostReplies(st *store) {
	for look := range 12 {
		r := newRecorder(st)
		c := acquireCall(st.freshName(), "alice", time.Hour)
		c.ttl = st.ttl(c.ttl)
		ctx, cancel := endingContext(st.ctx, look)
		first := r.do(ctx, 0, c)
		cancel()
		now := r.do(st.ctx, 1, getCall(c.key))
		again := r.do(st.ctx, 0, c)
		for _, rec := range []recorded{first, now, again} {
			if rec.a.problem != "" {
				s.afterwards(rec.a, r.sorted())
				s.inconclusive("ERR-3", "a call "+rec.a.problem)
				return
			}
		}
		switch {
		case again.a.err != nil && (s.excuses.has("EXCL-4") || s.excuses.has("ERR-7") || s.excuses.has("GET-3") || s.excuses.has("KEY-1")):
			s.notChecked("ERR-3", "can't be told apart from what breaks EXCL-4, ERR-7, GET-3 or KEY-1")
			return
		case again.a.err != nil:
			s.seen("ERR-3", "an Acquire whose reply was lost, and that is repeated by the same holder, is not granted",
				"the grant: nobody else asked for the key", r.sorted())
			return
		case now.a.err == nil && now.a.lease.Token != again.a.lease.Token && !s.excuses.has("EXCL-4"):
			s.seen("ERR-3", fmt.Sprintf("the repeated Acquire gets the token %d, though the first one's grant, token %d, is live", again.a.lease.Token, now.a.lease.Token),
				fmt.Sprintf("the same grant, token %d", now.a.lease.Token), r.sorted())
			return
		}
	}
	s.examined("ERR-3")
}

// checkRefusingStore uses a worker whose connections are refused.
func (s *suite) checkRefusingStore(st *store) {
	var dials atomic.Int32
	svc, err := st.dial(st.tb, Worker{Dial: refuse(&dials)})
	if err != nil {
		s.notChecked("ERR-4", "the client could not be made while the store refuses connections: "+err.Error())
		return
	}
	r := newRecorder(st)
	for _, c := range st.callsOn(lease.Lease{Key: st.freshName(), Holder: "alice", Token: 1}) {
		// Some clients try again until their context ends.
		ctx, cancel := context.WithTimeout(st.ctx, st.guard.limit/4)
		a := st.call(ctx, func(ctx context.Context, c call) answer { return c.on(ctx, svc) }, c)
		cancel()
		rec := recorded{c: c, a: a}
		r.calls = append(r.calls, rec)
		switch {
		case dials.Load() == 0:
			s.notChecked("ERR-4", "the client does not dial through Worker.Dial, so its store can't be made unreachable")
			return
		case a.problem != "":
			s.seen("ERR-4", fmt.Sprintf("%s of a store that refuses connections %s", c.op().Kind, a.problem), "an error", r.calls)
			return
		case a.err == nil || definite(a.err):
			s.seen("ERR-4", fmt.Sprintf("%s of a store that refuses connections answers %s", c.op().Kind, a),
				"an error that is none of the sentinels: the store was never asked", r.calls)
			return
		}
	}
	s.examined("ERR-4")
}

// errRefused is what a refused connection gives.
var errRefused = errors.New("connection refused (by the suite)")
