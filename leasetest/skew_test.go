package leasetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// onSkew runs the skew check as Run does, in a child process, and returns the
// outcome; in the child it returns false.
func onSkew(t *testing.T, open func(testing.TB) *Harness) (skewOutcome, bool) {
	t.Helper()
	k := knobs{cases: 5}
	k.fill()
	s := newSuite(t, t.Name(), "", open, k)
	s.ordinal = ordinal(t)
	if inSkewChild() {
		if err := s.runSkewChild(); err != nil {
			t.Error(err)
		}
		return skewOutcome{}, false
	}
	s.excuses = newExcuses(&Harness{})
	return s.skewInChild(), true
}

// steady is a store with a server clock that stands still.
func steady() (*memlease.Store, *Clock) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	clock := &Clock{
		Now:    func() time.Time { return now },
		Move:   func(d time.Duration) { now = now.Add(d) },
		Freeze: func(bool) {},
	}
	return memlease.New(&memlease.Options{Now: clock.Now}), clock
}

// TestSkewGood wants a backend that does not look at its workers' clocks
// examined and found good.
func TestSkewGood(t *testing.T) {
	o, ok := onSkew(t, func(testing.TB) *Harness {
		store, clock := steady()
		return &Harness{Connect: func(testing.TB, Worker) lease.Service { return store.Service("") }, Clock: clock}
	})
	if ok && (!o.Examined || len(o.Findings) > 0) {
		t.Errorf("got %+v, want examined without findings", o)
	}
}

// crashing is a client whose own goroutine panics where time is wrong.
type crashing struct{ lease.Service }

func (c crashing) Get(ctx context.Context, key string) (lease.Lease, error) {
	if time.Now().UTC().Year() == 2000 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			panic("a client that can't live in a bubble")
		}()
		<-done
	}
	return c.Service.Get(ctx, key)
}

// TestSkewCrash wants a client that takes its process down to make the check
// "not checked", with its last words, and the run to go on.
func TestSkewCrash(t *testing.T) {
	o, ok := onSkew(t, func(testing.TB) *Harness {
		store, clock := steady()
		return &Harness{Connect: func(testing.TB, Worker) lease.Service { return crashing{store.Service("")} }, Clock: clock}
	})
	if ok && (o.Examined || !strings.Contains(o.NotChecked, "a client that can't live in a bubble")) {
		t.Errorf("got %+v, want not checked with the panic's text", o)
	}
}

// TestSkewHang wants a client that never connects in a bubble to make the check
// "not checked".
func TestSkewHang(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	o, ok := onSkew(t, func(testing.TB) *Harness {
		store, clock := steady()
		return &Harness{Connect: func(testing.TB, Worker) lease.Service {
			if time.Now().UTC().Year() == 2000 {
				<-forever
			}
			return store.Service("")
		}, Clock: clock}
	})
	if ok && (o.Examined || !strings.Contains(o.NotChecked, "did not connect in a bubble")) {
		t.Errorf("got %+v, want not checked with the reason", o)
	}
}

// TestSkewOutsideChannel wants a client that shares channels of the bubble with
// the outside – a panic of the runtime – to be "not checked" as well.
func TestSkewOutsideChannel(t *testing.T) {
	requests := make(chan chan lease.Lease)
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case r := <-requests:
				r <- lease.Lease{}
			case <-done:
				return
			}
		}
	}()
	o, ok := onSkew(t, func(testing.TB) *Harness {
		store, clock := steady()
		return &Harness{Connect: func(testing.TB, Worker) lease.Service {
			reply := make(chan lease.Lease)
			requests <- reply
			<-reply
			return store.Service("")
		}, Clock: clock}
	})
	if ok && (o.Examined || o.NotChecked == "") {
		t.Errorf("got %+v, want not checked", o)
	}
}
