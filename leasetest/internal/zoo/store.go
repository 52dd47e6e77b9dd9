package zoo

import (
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// store keeps the records of all namespaces, in one process.
type store struct {
	rules *rules

	// mu is held only while a decision is made, never while a call waits: a
	// worker inside a testing/synctest bubble may share it with one outside.
	mu      sync.Mutex
	now     time.Time // the server clock; it stands until it is moved,
	opened  time.Time // unless it runs on since then
	records map[string]*record
	workers int
	blocks  map[string]chan struct{} // records whose writers wait until it is closed
	waiting int                      // calls that wait so

	// What follows is kept for the faults.
	backs  int // how often the clock stepped back
	boots  int // how often the store was restarted
	grants int
}

// record is all that the store knows of a key. It is never deleted, since it
// carries the counter.
type record struct {
	holder   string
	token    int64 // of the present grant, or of the last one
	expires  int64 // milliseconds since 1970
	released bool
	damage   string // how it was made unreadable; "" while it is whole

	// What follows is kept for the faults; no decision of the base reads it.
	ttl      time.Duration    // as last asked for
	order    int              // of the grant, among all grants of the store
	boots    int              // restarts of the store before the grant
	written  time.Time        // when the expiry was last set
	backs    int              // how often the clock had stepped back then
	granted  time.Time        // when the grant began
	acquired int              // Acquires of this grant
	renewed  int              // Renews of this grant
	past     map[int64]string // all grants, present one included: token to holder
}

// The ways in which a record can be made unreadable.
const (
	foreignType   = "foreign type"
	newerSchema   = "newer schema"
	negativeToken = "negative token"
)

// start is the server clock of a new store: away from the machine's clock, so
// that a backend that looks at the latter is found out, and not on a whole
// millisecond.
var start = time.Date(2031, 5, 6, 7, 8, 9, 123_000, time.UTC)

func newStore(r *rules) *store {
	return &store{rules: r, now: start, records: map[string]*record{}, blocks: map[string]chan struct{}{}}
}

// clock reads the server clock, which ticks in microseconds. The caller holds mu.
func (s *store) clock() time.Time {
	now := s.now
	if !s.opened.IsZero() {
		now = now.Add(time.Since(s.opened))
	}
	return now.Truncate(time.Microsecond)
}

// harness offers all of the store that a harness can.
func (s *store) harness() *leasetest.Harness {
	return &leasetest.Harness{
		Connect: func(_ testing.TB, w leasetest.Worker) lease.Service {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.workers++
			return s.rules.service(&worker{id: s.workers, boots: s.boots, namespace: w.Namespace, dial: w.Dial, store: s, rules: s.rules})
		},
		Clock: &leasetest.Clock{
			Now: func() time.Time {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.clock()
			},
			Move: func(d time.Duration) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.now = s.now.Add(d)
				if d < 0 {
					s.backs++
				}
			},
			Freeze: func(bool) {},
		},
		SeedToken: func(_ testing.TB, key string, token int64) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.rules.seed(s, s.rules.recordOf("", key), token)
		},
		Damage: map[string]func(t testing.TB, key string){
			foreignType:   s.damager(foreignType),
			newerSchema:   s.damager(newerSchema),
			negativeToken: s.damager(negativeToken),
		},
		Restart: func(testing.TB) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.boots++
			s.rules.restart(s)
		},
		Block: s.block,
	}
}

// block makes calls that would write to a record wait.
func (s *store) block(_ testing.TB, key string) (waiting func() bool, unblock func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, gate := s.rules.recordOf("", key), make(chan struct{})
	s.blocks[id] = gate
	waiting = func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.waiting > 0
	}
	return waiting, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.blocks, id)
		close(gate)
	}
}

func (s *store) damager(how string) func(t testing.TB, key string) {
	return func(t testing.TB, key string) {
		t.Helper()
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.records[s.rules.recordOf("", key)]
		if r == nil {
			t.Fatalf("damage %q: no record, want a key that is held", key)
		}
		r.damage = how
	}
}

// seed raises the counter of a record, which it makes if need be.
func seed(s *store, id string, token int64) {
	r := s.records[id]
	if r == nil {
		r = &record{released: true, past: map[int64]string{}}
		s.records[id] = r
	}
	r.token = max(r.token, token)
}
