package leasetest

// checkApart looks whether workers see each other at all. Where each of two holds
// the same key and sees itself as its only holder, they have stores of their
// own: a harness whose Connect makes a new store, or a backend that maps keys
// differently in each client. Every clause about two workers would fail, and
// none of the failures would tell why.
func (s *suite) checkApart() (apart bool) {
	s.withStore("EXCL-1", func(st *store) {
		r := newRecorder(st)
		key, ttl := st.freshName(), st.ttl(long)
		calls := []recorded{
			r.do(st.ctx, 0, acquireCall(key, "alice", ttl)),
			r.do(st.ctx, 1, acquireCall(key, "bob", ttl)),
			r.do(st.ctx, 0, getCall(key)),
			r.do(st.ctx, 1, getCall(key)),
		}
		for i, c := range calls {
			if c.a.problem != "" || c.a.err != nil || c.a.lease.Holder != []string{"alice", "bob"}[i%2] {
				return
			}
		}
		apart = true
		const problem = "two workers hold the same key at once, and each sees itself as its only holder: they share no store"
		f := &finding{clause: "EXCL-1", problem: problem, events: events(calls)}
		f.events[1].Want = "ErrHeld: Harness.Connect has to connect all workers to one store"
		s.fail(f, "two workers on one key", s.seed)
	})
	return apart
}
