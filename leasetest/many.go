package leasetest

import (
	"fmt"
	"time"
)

// Counters are lost by stores that keep only so many records, and wrap where
// their type is small. The check goes as far as its time allows.
const (
	manyKeys   = 1500
	manyGrants = 300
	manyTime   = time.Second
)

// checkMany takes and releases one key many times (TOKEN-2), and returns to a
// key after many others were in use (TOKEN-4).
func (s *suite) checkMany() {
	s.withStore("TOKEN-2", s.checkManyGrants)
	s.withStore("TOKEN-4", s.checkManyKeys)
}

// cycle takes and releases a key, and returns the token; ok is false if either
// call fails, which is judged elsewhere.
func (s *suite) cycle(r *recorder, key string) (token int64, ok bool) {
	r.calls = r.calls[:0]
	got := r.do(r.st.ctx, 0, acquireCall(key, "alice", r.st.ttl(time.Minute)))
	if got.a.problem != "" || got.a.err != nil {
		return 0, false
	}
	freed := r.do(r.st.ctx, 0, releaseCall(got.granted())).a
	return got.a.lease.Token, freed.problem == "" && freed.err == nil
}

func (s *suite) checkManyGrants(st *store) {
	r, key := newRecorder(st), st.freshName()
	last := int64(0)
	for i := 0; i < manyGrants && time.Since(r.began) < manyTime; i++ {
		token, ok := s.cycle(r, key)
		if !ok {
			return
		}
		if token <= last {
			s.concurrent("TOKEN-2", fmt.Sprintf("grant %d of one key has the token %d, and the grant before it %d", i+1, token, last), r.sorted(), "TOKEN-1", "TOKEN-4", "RELEASE-1")
			return
		}
		last = token
	}
}

func (s *suite) checkManyKeys(st *store) {
	r, key := newRecorder(st), st.freshName()
	first, ok := s.cycle(r, key)
	keys := 0
	for ; ok && keys < manyKeys && time.Since(r.began) < manyTime; keys++ {
		_, ok = s.cycle(r, st.freshName())
	}
	if !ok {
		return
	}
	if token, ok := s.cycle(r, key); ok && token <= first {
		s.concurrent("TOKEN-4", fmt.Sprintf("after %d other keys were in use, the token is %d, and %d was granted before", keys, token, first), r.sorted(), "TOKEN-1", "TOKEN-2", "RELEASE-1")
	}
}
