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
			got := s.late(st, l, blocked)
			switch {
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
	why     string // nothing can be said, because of this
	waited  bool
	problem string // what is wrong with the reply
	want    string
	calls   []recorded
}

// late lets a lease end, while the call waits inside the store if blocked, and
// before it otherwise.
func (s *suite) late(st *store, l lateCall, blocked bool) (got lateReply) {
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
	over := plain(first.a.lease.ExpiresAt).Add(st.h.ExpiryLag + st.h.resolution())
	c := l.make(first.granted(), ttl)

	unblock := func() {}
	waiting := func() bool { return false }
	if blocked {
		err := st.tb.setUp(st.guard, func() { waiting, unblock = st.h.Block(st.tb, c.key) })
		if err == nil && (waiting == nil || unblock == nil) {
			err = errors.New("the harness's Block returned a nil function: return one that says whether a call waits, and one that lets it go on")
		}
		if err != nil {
			got.why = "the key can't be blocked: " + err.Error()
			return got
		}
	}
	worker, err := st.worker(1, "")
	if err != nil {
		got.why = err.Error()
		return got
	}
	reply := make(chan answer, 1)
	if blocked {
		go func() { reply <- st.call(st.ctx, worker, c) }()
		got.waited = s.seenWaiting(st, waiting, reply)
	}
	passed := st.clock.passes(st.ctx, over)
	w := model.Window{Lo: st.clock.earliest()}
	if err := st.tb.setUp(st.guard, unblock); err != nil {
		got.why = "the key can't be unblocked: " + err.Error()
		return got
	}
	if !blocked {
		reply <- st.call(st.ctx, worker, c)
	}
	a := <-reply
	w.Hi = st.clock.latest()
	got.calls = append(r.sorted(), recorded{worker: 1, c: c, a: a, called: first.returned, returned: time.Since(r.began)})
	switch {
	case !passed:
		got.why = fmt.Sprintf("the server clock could not be brought to %s, where the lease is over", shownTime(over))
		return got
	case blocked && !got.waited:
		return got
	case a.problem != "" || a.err != nil && !definite(a.err):
		got.why = fmt.Sprintf("%s that waited inside the store got no definite reply: %s", l.name, a)
		return got
	}
	what := l.name
	if blocked {
		what += " that waited inside the store until the lease was over"
	}
	if l.lost {
		if !errors.Is(a.err, lease.ErrLost) {
			got.problem, got.want = what+" is answered "+a.String(), "ErrLost: the lease is over"
		}
		return got
	}
	got.want = fmt.Sprintf("a new grant, its token > %d, for %s from %s on", first.a.lease.Token, shownTTL(ttl), shownTime(w.Lo))
	switch _, inTime := st.clock.rules.GrantWindow(w, ttl, plain(a.lease.ExpiresAt)); {
	case a.err != nil:
		got.problem = what + " is refused: " + a.String()
	case a.lease.Token <= first.a.lease.Token:
		got.problem = what + " gets the grant that was over: " + a.String()
	case !inTime:
		got.problem = what + " gets a grant that is not counted from then: " + a.String()
	}
	return got
}

// seenWaiting says whether the call came to wait inside the store, rather than
// to return.
func (s *suite) seenWaiting(st *store, waiting func() bool, reply chan answer) bool {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	limit := time.After(st.guard.limit / 2)
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
		if st.tb.setUp(st.guard, func() { now = waiting() }) == nil && now {
			return true
		}
	}
}
