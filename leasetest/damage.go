package leasetest

import (
	"fmt"
	"sort"
	"time"

	"github.com/leasekit/lease"
)

// checkDamage makes records unreadable, in every way that the harness offers,
// and looks whether the service takes them for free keys (ERR-9).
func (s *suite) checkDamage() {
	if len(s.h.Damage) == 0 {
		s.notChecked("ERR-9", "needs a record that the test can damage: Harness.Damage")
		return
	}
	var ways []string
	for way := range s.h.Damage {
		ways = append(ways, way)
	}
	sort.Strings(ways)
	for _, way := range ways {
		s.withStore("ERR-9", func(st *store) { s.checkOneDamage(st, way) })
	}
}

func (s *suite) checkOneDamage(st *store, way string) {
	r := newRecorder(st)
	got := r.do(st.ctx, 0, acquireCall(st.freshName(), "alice", st.ttl(time.Hour)))
	if got.a.problem != "" || got.a.err != nil {
		s.inconclusive("ERR-9", "no lease could be acquired to damage its record: "+got.a.String())
		return
	}
	l := got.granted()
	if err := lease.CheckLease(l); err != nil {
		s.notChecked("ERR-9", "no well-formed lease could be acquired to damage its record")
		return
	}
	if err := st.tb.setUp(st.guard, func() { st.h.Damage[way](st.tb, l.Key) }); err != nil {
		s.broken("ERR-9", fmt.Errorf("damage %q: %w", way, err))
		return
	}
	for _, c := range []call{
		getCall(l.Key),
		renewCall(l, st.ttl(time.Minute)),
		acquireCall(l.Key, "bob", st.ttl(time.Minute)),
		acquireCall(l.Key, "alice", st.ttl(time.Minute)),
	} {
		a := r.do(st.ctx, 1, c).a
		if a.problem == "" && a.err != nil && !definite(a.err) && a.lease == (lease.Lease{}) {
			continue
		}
		f := &finding{
			clause:  "ERR-9",
			problem: fmt.Sprintf("%s of a record that can't be read (%s) answers %s", c.op().Kind, way, a),
			events:  events(r.sorted()),
		}
		f.events[len(f.events)-1].Want = "an error that is none of the sentinels"
		s.fail(f, fmt.Sprintf("a record damaged in the way %q", way), s.seed)
		return
	}
	s.examined("ERR-9")
}
