package zoo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// Hostile returns backends that do not play by any rule. What they break is
// not the point: the suite has to give them a verdict, and go on. Clause is one
// that must not pass.
func Hostile() []Animal {
	list := []Animal{
		{Name: "answers-at-random", Clause: "GET-1", Fault: "Every reply is drawn by lot.", Open: hostile(func(s lease.Service) lease.Service { return random{s} })},
		{Name: "foreign-leases", Clause: "KEY-3", Fault: "Every lease that comes back is somebody else's.", Open: hostile(func(s lease.Service) lease.Service { return foreign{s} })},
		{Name: "empty-leases", Clause: "ERR-8", Fault: "Every call that succeeds returns the zero Lease.", Open: hostile(func(s lease.Service) lease.Service { return empty{s} })},
		{Name: "dies-half-way", Clause: "ERR-7", Fault: "After 500 calls nothing works any more.", Open: hostileStore(func() func(lease.Service) lease.Service {
			var calls atomic.Int64
			return func(s lease.Service) lease.Service { return dying{s, &calls} }
		})},
		{Name: "leaks-goroutines", Clause: "", Fault: "Every call leaves a goroutine behind; nothing in the contract forbids it yet.", Open: func(t testing.TB) *leasetest.Harness {
			end := make(chan struct{})
			t.Cleanup(func() { close(end) })
			return hostile(func(s lease.Service) lease.Service { return leaking{s, end} })(t)
		}},
		{Name: "exits-its-goroutine", Clause: "ERR-7", Fault: "A call ends the goroutine that makes it.", Open: func(t testing.TB) *leasetest.Harness {
			return hostile(func(s lease.Service) lease.Service { return fatal{s, t} })(t)
		}},
		{Name: "waits-for-itself", Clause: "ERR-7", Fault: "A refused Acquire keeps the mutex, and the next call waits for ever.", Open: hostileStore(func() func(lease.Service) lease.Service {
			var mu sync.Mutex
			return func(s lease.Service) lease.Service { return locking{s, &mu} }
		})},
		{Name: "blocks-in-connect", Clause: "TOKEN-2", Fault: "Connect never returns.", Open: func(t testing.TB) *leasetest.Harness {
			end := make(chan struct{})
			t.Cleanup(func() { close(end) })
			h := Base().Open(t)
			h.Connect = func(testing.TB, leasetest.Worker) lease.Service { <-end; return nil }
			return h
		}},
	}
	for _, call := range []string{acquiring, renewing, releasing, getting} {
		list = append(list,
			Animal{Name: "hangs-in-" + call, Clause: "ERR-7", Fault: "The call never returns: " + call + ".", Open: func(t testing.TB) *leasetest.Harness {
				end := make(chan struct{})
				t.Cleanup(func() { close(end) })
				return hostile(func(s lease.Service) lease.Service {
					return acting{s, call, func() { <-end }}
				})(t)
			}},
			Animal{Name: "panics-in-" + call, Clause: "ERR-7", Fault: "The call panics: " + call + ".", Open: hostile(func(s lease.Service) lease.Service {
				return acting{s, call, func() { panic("hostile") }}
			})})
	}
	return list
}

// hostile puts a wrapper around every worker of the base.
func hostile(wrap func(lease.Service) lease.Service) func(testing.TB) *leasetest.Harness {
	return hostileStore(func() func(lease.Service) lease.Service { return wrap })
}

// hostileStore makes the wrapper once per store.
func hostileStore(make func() func(lease.Service) lease.Service) func(testing.TB) *leasetest.Harness {
	return func(t testing.TB) *leasetest.Harness {
		wrap := make()
		h := Base().Open(t)
		connect := h.Connect
		h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service { return wrap(connect(t, w)) }
		return h
	}
}

// acting does something else first in one of its calls.
type acting struct {
	lease.Service
	call string
	act  func()
}

func (a acting) before(call string) {
	if a.call == call {
		a.act()
	}
}

func (a acting) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	a.before(acquiring)
	return a.Service.Acquire(ctx, key, holder, ttl)
}

func (a acting) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	a.before(renewing)
	return a.Service.Renew(ctx, l, ttl)
}

func (a acting) Release(ctx context.Context, l lease.Lease) error {
	a.before(releasing)
	return a.Service.Release(ctx, l)
}

func (a acting) Get(ctx context.Context, key string) (lease.Lease, error) {
	a.before(getting)
	return a.Service.Get(ctx, key)
}

type random struct{ lease.Service }

func (r random) roll(l lease.Lease) (lease.Lease, error) {
	switch rand.IntN(8) {
	case 0:
		return lease.Lease{}, lease.ErrHeld
	case 1:
		return lease.Lease{}, lease.ErrLost
	case 2:
		return lease.Lease{}, lease.ErrNotHeld
	case 3:
		return lease.Lease{}, errors.New("no luck")
	case 4:
		return l, errors.New("a bit of both")
	case 5:
		return lease.Lease{}, nil
	}
	l.Token, l.ExpiresAt = rand.Int64(), time.Unix(rand.Int64N(1<<33), rand.Int64N(1e9))
	return l, nil
}

func (r random) Acquire(_ context.Context, key, holder string, _ time.Duration) (lease.Lease, error) {
	return r.roll(lease.Lease{Key: key, Holder: holder})
}

func (r random) Renew(_ context.Context, l lease.Lease, _ time.Duration) (lease.Lease, error) {
	return r.roll(l)
}

func (r random) Release(_ context.Context, l lease.Lease) error {
	_, err := r.roll(l)
	return err
}

func (r random) Get(_ context.Context, key string) (lease.Lease, error) {
	return r.roll(lease.Lease{Key: key, Holder: "somebody"})
}

type foreign struct{ lease.Service }

func (f foreign) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	l, err := f.Service.Acquire(ctx, key, holder, ttl)
	if err == nil {
		l.Key, l.Holder = "another key", "another holder"
	}
	return l, err
}

type empty struct{ lease.Service }

func (e empty) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	_, err := e.Service.Acquire(ctx, key, holder, ttl)
	return lease.Lease{}, err
}

type dying struct {
	lease.Service
	calls *atomic.Int64
}

func (d dying) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if n := d.calls.Add(1); n > 500 {
		return lease.Lease{}, fmt.Errorf("the store died at its %dth Acquire", n)
	}
	return d.Service.Acquire(ctx, key, holder, ttl)
}

type leaking struct {
	lease.Service
	end <-chan struct{}
}

func (l leaking) Get(ctx context.Context, key string) (lease.Lease, error) {
	go func() { <-l.end }()
	return l.Service.Get(ctx, key)
}

// fatal calls FailNow of the test that it was opened with.
type fatal struct {
	lease.Service
	t testing.TB
}

func (f fatal) Renew(context.Context, lease.Lease, time.Duration) (lease.Lease, error) {
	f.t.Fatal("called back into the suite")
	return lease.Lease{}, nil
}

type locking struct {
	lease.Service
	mu *sync.Mutex
}

func (l locking) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	l.mu.Lock()
	got, err := l.Service.Acquire(ctx, key, holder, ttl)
	if !errors.Is(err, lease.ErrHeld) {
		l.mu.Unlock()
	}
	return got, err
}
