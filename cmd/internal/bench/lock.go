package bench

import (
	"context"
	"time"

	"github.com/leasekit/lease"
)

// lock is one worker's way to the keys of a store, as a lease or as another library's
// lock. It has at most one at a time, and belongs to one goroutine.
type lock interface {
	// acquire takes key, or fails with lease.ErrHeld.
	acquire(ctx context.Context, key string, ttl time.Duration) error

	// renew, get and release are of the key that was acquired last. get asks the
	// store whether it is still held.
	renew(ctx context.Context, ttl time.Duration) error
	get(ctx context.Context) error
	release(ctx context.Context) error
}

// locker makes locks. The name is one that no other lock of the store has.
type locker func(name string) lock

// leaseLock is the lock of a lease.Service.
type leaseLock struct {
	service lease.Service
	holder  string
	held    lease.Lease
}

func leaseLocker(s lease.Service) locker {
	return func(name string) lock { return &leaseLock{service: s, holder: name} }
}

func (l *leaseLock) acquire(ctx context.Context, key string, ttl time.Duration) (err error) {
	got, err := l.service.Acquire(ctx, key, l.holder, ttl)
	if err == nil {
		l.held = got
	}
	return err
}

func (l *leaseLock) renew(ctx context.Context, ttl time.Duration) error {
	_, err := l.service.Renew(ctx, l.held, ttl)
	return err
}

func (l *leaseLock) get(ctx context.Context) error {
	_, err := l.service.Get(ctx, l.held.Key)
	return err
}

func (l *leaseLock) release(ctx context.Context) error { return l.service.Release(ctx, l.held) }
