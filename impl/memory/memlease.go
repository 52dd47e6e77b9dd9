// Package memlease keeps leases in the memory of one process.
//
// It is for programs that are one process, for tests, and as the plainest
// model of the contract: one mutex, one map, one clock. Nothing survives the
// process, tokens included, so a resource that outlives it needs another
// backend.
//
// A Store holds the leases; each Service is a view of it in one namespace, and
// all services of a store may be used from any number of goroutines:
//
//	store := memlease.New(nil)
//	jobs := store.Service("jobs")
//	l, err := jobs.Acquire(ctx, "nightly", "worker-1", time.Minute)
//
// Expiry is exact to the millisecond: a lease ends at the first whole
// millisecond that is at least its ttl away. No goroutine is needed for that;
// a lease is over when somebody looks. A key costs one record for as long as
// the store lives, because the record holds the key's counter; calls on a key
// that is known do not allocate.
package memlease

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/leasekit/lease"
)

// Resolution is the unit to which expiry is rounded up.
const Resolution = time.Millisecond

// Options are the settings of a Store. A nil *Options means the defaults.
type Options struct {
	// Now is the server clock. It must be safe for concurrent use. Default
	// time.Now, whose wall clock is used: a step of the machine's clock is a
	// step of the server clock.
	Now func() time.Time
}

// Store is a set of leases.
type Store struct {
	now func() time.Time

	mu     sync.Mutex
	spaces map[string]space
}

// space is a namespace: its records, by their keys. Each has a map of its own, so
// that no name can be mistaken for another namespace's, whatever the texts are.
type space map[string]*record

// record is one key. It is never deleted: token is also the key's counter.
type record struct {
	holder string
	token  int64 // of the last grant
	end    int64 // in ms since 1970; the grant is live before it, math.MinInt64 if released
}

// New returns an empty store.
func New(o *Options) *Store {
	s := &Store{now: time.Now, spaces: map[string]space{}}
	if o != nil && o.Now != nil {
		s.now = o.Now
	}
	return s
}

// Service returns the leases of a namespace, which may be any string. Services
// of one namespace share their leases, those of different ones never do.
func (s *Store) Service(namespace string) *Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spaces[namespace] == nil {
		s.spaces[namespace] = space{}
	}
	return &Service{store: s, records: s.spaces[namespace]}
}

// Service is a lease.Service on a Store.
type Service struct {
	store   *Store
	records space // under the mutex of store
}

var _ lease.Service = (*Service)(nil)

// Acquire implements lease.Service. Besides the sentinels it fails with the
// context's error, and when the key's counter can't rise any more.
func (s *Service) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if err := lease.CheckAcquire(key, holder, ttl); err != nil {
		return lease.Lease{}, err
	}
	if err := ctx.Err(); err != nil {
		return lease.Lease{}, err
	}
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	now := st.now()
	r := s.records[key]
	switch {
	case r == nil:
		r = &record{}
		s.records[key] = r
	case !r.live(now):
	case r.holder == holder:
		r.end = endOf(now, ttl)
		return r.lease(key), nil
	default:
		return lease.Lease{}, lease.ErrHeld
	}
	if r.token == math.MaxInt64 {
		return lease.Lease{}, fmt.Errorf("acquire %.80q: the counter of fencing tokens is at its end", key)
	}
	r.token++
	r.holder, r.end = holder, endOf(now, ttl)
	return r.lease(key), nil
}

// Renew implements lease.Service.
func (s *Service) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if err := lease.CheckRenew(l, ttl); err != nil {
		return lease.Lease{}, err
	}
	if err := ctx.Err(); err != nil {
		return lease.Lease{}, err
	}
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	now := st.now()
	r := s.records[l.Key]
	if r == nil || !r.grants(l) || !r.live(now) {
		return lease.Lease{}, lease.ErrLost
	}
	r.end = endOf(now, ttl)
	return r.lease(l.Key), nil
}

// Release implements lease.Service. It returns nil for a stale lease.
func (s *Service) Release(ctx context.Context, l lease.Lease) error {
	if err := lease.CheckLease(l); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	if r := s.records[l.Key]; r != nil && r.grants(l) {
		r.end = math.MinInt64
	}
	return nil
}

// Get implements lease.Service.
func (s *Service) Get(ctx context.Context, key string) (lease.Lease, error) {
	if err := lease.CheckKey(key); err != nil {
		return lease.Lease{}, err
	}
	if err := ctx.Err(); err != nil {
		return lease.Lease{}, err
	}
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	r := s.records[key]
	if r == nil || !r.live(st.now()) {
		return lease.Lease{}, lease.ErrNotHeld
	}
	return r.lease(key), nil
}

func (r *record) live(now time.Time) bool { return now.UnixMilli() < r.end }

// grants says whether l is the present grant, live or not.
func (r *record) grants(l lease.Lease) bool { return r.token == l.Token && r.holder == l.Holder }

func (r *record) lease(key string) lease.Lease {
	return lease.Lease{Key: key, Holder: r.holder, Token: r.token, ExpiresAt: time.UnixMilli(r.end).UTC()}
}

// endOf is the first whole millisecond that is at least ttl after now. Whole
// and broken milliseconds are added apart: as nanoseconds the sum overflows
// for the longest ttls.
func endOf(now time.Time, ttl time.Duration) int64 {
	whole, rest := int64(ttl/time.Millisecond), int64(ttl%time.Millisecond)
	rest += int64(now.Nanosecond() % int(time.Millisecond))
	return now.UnixMilli() + whole + (rest+int64(time.Millisecond)-1)/int64(time.Millisecond)
}
