package leasetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// store is one opened harness with the workers connected to it.
type store struct {
	guard *guard
	tb    *caseTB
	h     *Harness
	clock *serverClock
	ctx   context.Context

	// connect makes worker n in a namespace; the skew check puts its workers
	// into bubbles here.
	connect func(n int, w Worker) (caller, error)

	notes map[int]string // added to the names of workers in histories

	mu      sync.Mutex
	workers map[workerID]caller
	fresh   atomic.Int64 // number of fresh key names handed out
}

type workerID struct {
	n     int
	space string
}

// caller makes a call as one worker, wherever that worker lives.
type caller func(ctx context.Context, c call) answer

// openStore opens a fresh harness. The error is the harness's fault.
func openStore(parent testing.TB, name string, g *guard, open func(testing.TB) *Harness) (*store, error) {
	tb := newCaseTB(parent, name)
	s := &store{guard: g, tb: tb, ctx: tb.ctx, workers: map[workerID]caller{}}
	err := tb.setUp(g, func() { s.h = open(tb) })
	if err != nil {
		err = fmt.Errorf("open the store: %w", err)
	} else {
		err = s.h.check()
	}
	if err == nil {
		s.clock = newServerClock(s.h, g)
		err = s.clock.failure()
		tb.Cleanup(s.clock.release)
	}
	if err != nil {
		tb.finish(g)
		return nil, err
	}
	s.connect = func(n int, w Worker) (caller, error) {
		svc, err := s.dial(tb, w)
		if err != nil {
			return nil, err
		}
		return callerOf(svc), nil
	}
	return s, nil
}

func callerOf(svc lease.Service) caller {
	return func(ctx context.Context, c call) answer { return c.on(ctx, svc) }
}

// dial connects a worker through the harness.
func (s *store) dial(tb *caseTB, w Worker) (lease.Service, error) {
	return s.obtain(tb, "Connect", func() lease.Service { return s.h.Connect(tb, w) })
}

// obtain gets a worker from a function of the harness.
func (s *store) obtain(tb *caseTB, field string, connect func() lease.Service) (svc lease.Service, err error) {
	if err := tb.setUp(s.guard, func() { svc = connect() }); err != nil {
		return nil, connectError(err)
	}
	if svc == nil {
		return nil, fmt.Errorf("connect a worker: Harness.%s returned a nil lease.Service: return the client of the worker, or call t.Fatal with what went wrong", field)
	}
	return svc, nil
}

func connectError(err error) error {
	if s, ok := err.(skipped); ok {
		return s
	}
	return fmt.Errorf("connect a worker: %w", err)
}

// close ends everything that belongs to the store.
func (s *store) close() error { return s.tb.finish(s.guard) }

// ttl is d, or the nearest to it that the store takes.
func (s *store) ttl(d time.Duration) time.Duration {
	return min(max(d, s.h.MinTTL), s.h.maxTTL())
}

// worker returns worker n of a namespace, connected when it is first used.
func (s *store) worker(n int, space string) (caller, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := workerID{n, space}
	if c, ok := s.workers[id]; ok {
		return c, nil
	}
	c, err := s.connect(n, Worker{Namespace: space})
	if err != nil {
		return nil, err
	}
	s.workers[id] = c
	return c, nil
}

// connectAll connects the first n workers, for checks that use them all at once.
func (s *store) connectAll(n int) error {
	for i := range n {
		if _, err := s.worker(i, ""); err != nil {
			return err
		}
	}
	return nil
}

// call makes a call with the guard.
func (s *store) call(ctx context.Context, w caller, c call) answer {
	var a answer
	result := make(chan answer, 1) // so that a call that comes back late writes into nobody's answer
	if end := s.guard.run(func() { result <- w(ctx, c) }); !end.ok() {
		a.problem, a.hung = end.text, end.hung
		return a
	}
	return <-result
}

// freshName returns a key name that was not used on this store before.
func (s *store) freshName() string { return fmt.Sprintf("k%d", s.fresh.Add(1)) }

// workerName is how histories call worker n.
func workerName(n int) string {
	if n < 26 {
		return string(rune('A' + n))
	}
	return fmt.Sprintf("W%d", n)
}
