package leasetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// shortWait is the ttl of a lease that has to end while a call waits, where the
// server clock can't be moved.
const shortWait = 200 * time.Millisecond

// lateCall is a call that reaches the store while its lease is live, and gets its
// turn there when it is over.
type lateCall struct {
	name string
	make func(l lease.Lease, ttl time.Duration) call
	lost bool // the reply has to be ErrLost; otherwise a new grant
}

var lateCalls = []lateCall{
	{"a Renew", renewCall, true},
	{"an Acquire by another holder", func(l lease.Lease, ttl time.Duration) call { return acquireCall(l.Key, "bob", ttl) }, false},
	{"an Acquire by its former holder", func(l lease.Lease, ttl time.Duration) call { return acquireCall(l.Key, l.Holder, ttl) }, false},
}

// checkWaits makes calls wait inside the store until the lease that they are
// about is over (EXPIRY-8).
func (s *suite) checkWaits() {
	const id = "EXPIRY-8"
	switch {
	case s.h.Block == nil:
		s.notChecked(id, "needs calls that the test can make wait inside the store: Harness.Block")
	case kindOf(s.h.Clock) == clockNone:
		s.notChecked(id, "needs a server clock that the test can read: Harness.Clock")
	default:
		s.withStore(id, s.checkLateCalls)
	}
}

func (s *suite) checkLateCalls(st *store) {
	const id = "EXPIRY-8"
	waited := 0
	for _, l := range lateCalls {
		for _, blocked := range []bool{false, true} {
			got := l.late(st, blocked)
			switch {
			case got.err != nil:
				s.broken(id, got.err)
				return
			case got.why != "":
				s.inconclusive(id, got.why)
				return
			case got.problem != "" && !blocked:
				s.notChecked(id, fmt.Sprintf("%s that waits for nothing goes wrong too: %s", l.name, got.problem))
				return
			case got.problem != "" && len(s.excuses.inHistories()) > 0:
				s.notChecked(id, "can't be told apart from what breaks "+strings.Join(s.excuses.inHistories(), ", "))
				return
			case got.problem != "":
				f := &finding{clause: id, problem: got.problem, events: events(got.calls)}
				f.events[len(f.events)-1].Want = got.want
				s.fail(f, "calls that wait inside the store", s.seed)
				return
			case got.waited:
				waited++
			}
		}
	}
	if waited == 0 {
		s.broken(id, errors.New("the harness's Block made no call wait: want every call that would write to the key to wait until unblock is called"))
		return
	}
	s.examined(id)
}

// lateReply is what became of a late call.
type lateReply struct {
	err     error  // the harness failed, or asked to be excused
	why     string // nothing can be said, because of this
	waited  bool
	problem string // what is wrong with the reply
	want    string
	calls   []recorded
}

// late lets a lease end, while the call waits inside the store if blocked, and
// before it otherwise.
func (l lateCall) late(st *store, blocked bool) (got lateReply) {
	ttl := 10 * time.Second
	if !st.clock.movable() {
		ttl = max(shortWait, 4*st.h.resolution())
	}
	ttl = st.ttl(ttl)
	r := newRecorder(st)
	first := r.do(st.ctx, 0, acquireCall(st.freshName(), "alice", ttl))
	if first.a.problem != "" || first.a.err != nil || lease.CheckLease(first.granted()) != nil {
		got.why = "no lease could be acquired to try with: " + first.a.String()
		return got
	}
	worker, err := st.worker(1, "")
	if err != nil {
		got.err = err
		return got
	}
	c := l.make(first.granted(), ttl)
	waiting, unblock, err := st.block(c.key, blocked)
	if err != nil {
		got.err = fmt.Errorf("block a key: %w", err)
		return got
	}
	reply := make(chan answer, 1)
	if blocked {
		go func() { reply <- st.call(st.ctx, worker, c) }()
		got.waited = st.seenWaiting(waiting, reply)
	}
	over := plain(first.a.lease.ExpiresAt).Add(st.h.ExpiryLag + st.h.resolution())
	passed := st.clock.passes(st.ctx, over)
	w := model.Window{Lo: st.clock.earliest()}
	if err := st.tb.setUp(st.guard, unblock); err != nil {
		got.err = fmt.Errorf("unblock a key: %w", err)
		return got
	}
	if !blocked {
		reply <- st.call(st.ctx, worker, c)
	}
	a := <-reply
	w.Hi = st.clock.latest()
	got.calls = append(r.sorted(), recorded{worker: 1, c: c, a: a, w: w, called: first.returned, returned: time.Since(r.began)})
	switch {
	case !passed:
		got.why = fmt.Sprintf("the server clock could not be brought to %s, where the lease is over", shownTime(over))
	case blocked && !got.waited:
	case a.problem != "" || a.err != nil && !definite(a.err):
		got.why = fmt.Sprintf("%s that waited inside the store got no definite reply: %s", l.name, a)
	default:
		got.problem, got.want = l.judge(st, first.a.lease.Token, got.calls[len(got.calls)-1])
	}
	return got
}

// judge says what is wrong with the reply to a call that came when the lease with
// the token was over, and what it should have been.
func (l lateCall) judge(st *store, token int64, late recorded) (problem, want string) {
	a := late.a
	what := l.name + ", judged when the lease was over, "
	if l.lost {
		if !errors.Is(a.err, lease.ErrLost) {
			problem = what + "is answered " + a.String()
		}
		return problem, "ErrLost: the lease is over"
	}
	want = fmt.Sprintf("a new grant, its token > %d, for %s from %s on", token, shownTTL(late.c.ttl), shownTime(late.w.Lo))
	switch _, inTime := st.clock.rules.GrantWindow(late.w, late.c.ttl, plain(a.lease.ExpiresAt)); {
	case a.err != nil:
		problem = what + "is refused: " + a.String()
	case a.lease.Token <= token:
		problem = what + "gets the grant that was over: " + a.String()
	case !inTime:
		problem = what + "gets a grant that is not counted from then: " + a.String()
	}
	return problem, want
}

// block makes calls that write to key wait, unless not blocked.
func (s *store) block(key string, blocked bool) (waiting func() bool, unblock func(), err error) {
	if !blocked {
		return nil, func() {}, nil
	}
	err = s.tb.setUp(s.guard, func() { waiting, unblock = s.h.Block(s.tb, key) })
	if err == nil && (waiting == nil || unblock == nil) {
		err = errors.New("the harness's Block returned a nil function: return one that says whether a call waits, and one that lets it go on")
	}
	return waiting, unblock, err
}

// seenWaiting says whether a call came to wait inside the store, rather than to
// return.
func (s *store) seenWaiting(waiting func() bool, reply chan answer) bool {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	limit := time.After(s.guard.limit / 2)
	for {
		select {
		case a := <-reply:
			reply <- a
			return false
		case <-limit:
			return false
		case <-look.C:
		}
		now := false
		if s.tb.setUp(s.guard, func() { now = waiting() }) == nil && now {
			return true
		}
	}
}
