package leasetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/internal/model"
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

// stealing is a client that lets its own clock decide whether a lease is over.
type stealing struct {
	lease.Service
	now func() time.Time
}

func (s stealing) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if l, err := s.Get(ctx, key); err == nil && l.ExpiresAt.Before(s.now()) {
		if err := s.Release(ctx, l); err != nil {
			return lease.Lease{}, err
		}
	}
	return s.Service.Acquire(ctx, key, holder, ttl)
}

// TestSkewByHarness wants a harness that makes the clocks of its workers wrong to be
// asked for that, and what it then sees to count.
func TestSkewByHarness(t *testing.T) {
	offs := map[time.Duration]bool{}
	harness := func(steal bool) func(testing.TB) *Harness {
		return func(testing.TB) *Harness {
			store, clock := steady()
			return &Harness{
				Connect: func(testing.TB, Worker) lease.Service { return store.Service("") },
				ConnectSkewed: func(_ testing.TB, _ Worker, off time.Duration) lease.Service {
					offs[off] = true
					if !steal {
						return store.Service("")
					}
					return stealing{store.Service(""), func() time.Time { return clock.Now().Add(off) }}
				},
				Clock: clock,
			}
		}
	}
	for _, steal := range []bool{false, true} {
		r, err := Check(t.Context(), harness(steal), &Options{Seed: 1, Cases: 5})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := r.Result("EXPIRY-4")
		want := Pass
		if steal {
			want = Fail
		}
		if got.Verdict != want {
			t.Errorf("stealing %v: got %s %s, want %s", steal, got.Verdict, got.Reason, want)
		}
		if steal && (got.Failure == nil || !strings.Contains(historyTable(got.Failure.History), "B (clock 1 h fast)")) {
			t.Errorf("got %+v, want a history with the worker whose clock is fast", got.Failure)
		}
	}
	if !offs[time.Hour] || !offs[-time.Hour] || len(offs) != 2 {
		t.Errorf("got workers off by %v, want one an hour fast and one an hour slow", offs)
	}
}

// TestSkewBetweenTicks has two runs that began at different moments between two ticks
// of a clock that stands still: the same move took one of them past the expiry.
func TestSkewBetweenTicks(t *testing.T) {
	began := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	run := func(after time.Duration, o model.Outcome) *runner {
		at := began.Add(after)
		reply := model.Reply{Outcome: o, Holder: "a", Token: 1, Expires: at.Add(time.Minute)}
		return &runner{began: began, replies: []traced{{reply: reply, w: model.Window{Lo: at, Hi: at}}}}
	}
	st := &store{h: &Harness{}, clock: &serverClock{kind: clockFrozen}}
	if f, whole := difference(st, run(38*time.Second, model.Granted), run(39*time.Second, model.Lost)); f != nil || whole {
		t.Errorf("got %+v and %v, want nothing to compare", f, whole)
	}
}
