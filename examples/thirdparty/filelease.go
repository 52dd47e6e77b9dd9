// Package filelease keeps leases in a folder, one small JSON file for each key.
//
// The folder may be shared by any number of goroutines and processes of one
// machine: each call holds an flock(2) on one file in it while it reads and
// writes. It runs on Linux and macOS.
//
// Records are never removed, for they carry the counters of the tokens: whoever
// deletes one resets the counter of its key.
package filelease

import (
	"context"
	"fmt"
	"time"

	"github.com/leasekit/lease"
)

// MaxToken is the last token that is granted for a key, 2^53-1. Records are for
// other programs to read too, and many readers of JSON keep a number as a
// double: 2^53 is where two tokens would look the same to them. A key whose
// counter has come this far can't be acquired any more.
const MaxToken = 1<<53 - 1

// Service is a lease.Service on one folder. It has nothing to close.
type Service struct {
	dir string
	now func() time.Time
}

var _ lease.Service = (*Service)(nil)

// New returns a service on the folder dir, which must exist. now is the server
// clock, such as time.Now. All services on one folder must be given the same
// clock, which is why they have to be on the same machine.
func New(dir string, now func() time.Time) *Service {
	return &Service{dir: dir, now: now}
}

// Acquire takes the lease of key for holder, or sets a new expiry if holder has
// it already.
func (s *Service) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if err := lease.CheckAcquire(key, holder, ttl); err != nil {
		return lease.Lease{}, err
	}
	return s.change(ctx, key, func(r *record, now time.Time) error {
		switch {
		case !r.live(now):
			if r.Token >= MaxToken {
				return fmt.Errorf("acquire %q: token %d was the last one", key, r.Token)
			}
			r.Token++
			r.Holder = holder
		case r.Holder != holder:
			return lease.ErrHeld
		}
		r.Expires = expiry(now, ttl)
		return nil
	})
}

// Renew sets the expiry of the live grant l to ttl from now.
func (s *Service) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if err := lease.CheckRenew(l, ttl); err != nil {
		return lease.Lease{}, err
	}
	return s.change(ctx, l.Key, func(r *record, now time.Time) error {
		if !r.live(now) || !r.is(l) {
			return lease.ErrLost
		}
		r.Expires = expiry(now, ttl)
		return nil
	})
}

// Release ends the grant l, and returns nil too if it had ended before.
func (s *Service) Release(ctx context.Context, l lease.Lease) error {
	if err := lease.CheckLease(l); err != nil {
		return err
	}
	_, err := s.change(ctx, l.Key, func(r *record, _ time.Time) error {
		if r.is(l) {
			r.Holder, r.Expires = "", 0
		}
		return nil
	})
	return err
}

// Get returns the live grant of key.
func (s *Service) Get(ctx context.Context, key string) (lease.Lease, error) {
	if err := lease.CheckKey(key); err != nil {
		return lease.Lease{}, err
	}
	return s.change(ctx, key, func(r *record, now time.Time) error {
		if !r.live(now) {
			return lease.ErrNotHeld
		}
		return nil
	})
}

// change calls f with the record of key and the server clock, while no other
// call is at work in the folder, and writes what f has changed. The clock is
// read after the wait for the lock. On an error of f nothing is written.
func (s *Service) change(ctx context.Context, key string, f func(*record, time.Time) error) (lease.Lease, error) {
	unlock, err := lock(ctx, s.dir)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("lock folder: %w", err)
	}
	defer unlock()
	old, err := read(s.dir, key)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("read record of %q: %w", key, err)
	}
	r := old
	if err := f(&r, s.now()); err != nil {
		return lease.Lease{}, err
	}
	if r != old {
		if err := write(s.dir, r); err != nil {
			return lease.Lease{}, fmt.Errorf("write record of %q: %w", key, err)
		}
	}
	return lease.Lease{Key: r.Key, Holder: r.Holder, Token: r.Token, ExpiresAt: time.UnixMilli(r.Expires).UTC()}, nil
}

// expiry is ttl from now in milliseconds since 1970, rounded up.
func expiry(now time.Time, ttl time.Duration) int64 {
	end := now.Add(ttl)
	ms := end.UnixMilli()
	if time.UnixMilli(ms).Before(end) {
		ms++
	}
	return ms
}
