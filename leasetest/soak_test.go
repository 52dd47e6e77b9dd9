package leasetest_test

import (
	"context"
	"flag"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/fencezoo"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

var soak = flag.Duration("zoo.soak", 0, "how long TestSoak runs the odd but correct backends")

// counting counts the calls of a service.
type counting struct {
	lease.Service
	calls *atomic.Int64
}

func (c counting) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	c.calls.Add(1)
	return c.Service.Acquire(ctx, key, holder, ttl)
}

func (c counting) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	c.calls.Add(1)
	return c.Service.Renew(ctx, l, ttl)
}

func (c counting) Release(ctx context.Context, l lease.Lease) error {
	c.calls.Add(1)
	return c.Service.Release(ctx, l)
}

func (c counting) Get(ctx context.Context, key string) (lease.Lease, error) {
	c.calls.Add(1)
	return c.Service.Get(ctx, key)
}

// TestSoak runs the odd but correct animals of all zoos over and over, each time
// with another seed, and says how many calls the backends took and how many false
// alarms there were. TestOdd and its like run each of them once, so without a time
// there is nothing to do.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("no time was given: make soak SOAK=1m")
	}
	var calls atomic.Int64
	runs, found := 0, 0
	began := time.Now()
	judge := func(a zoo.Animal, judged func() *leasetest.Report) {
		if time.Since(began) >= *soak {
			return
		}
		runs++
		for _, problem := range alarms(judged(), a.Unseen) {
			found++
			t.Errorf("%s: %s", a.Name, problem)
		}
	}
	for time.Since(began) < *soak {
		for _, a := range append(zoo.Odd(), zoo.Base()) {
			judge(a, func() *leasetest.Report { return soaked(t, a, &calls) })
		}
		for _, a := range append(zoo.OddHelpers(), zoo.BaseHelper()) {
			judge(a, func() *leasetest.Report { return judgedHold(t, a, 0) })
		}
		for _, r := range append(fencezoo.Odd(), fencezoo.Base()) {
			judge(r.Animal, func() *leasetest.Report { return judgedFence(t, r, 0) })
		}
	}
	t.Logf("%d runs, %d calls, %d false alarms in %v", runs, calls.Load(), found, time.Since(began).Round(time.Second))
}

// soaked judges a backend, in the default settings, and counts its calls.
func soaked(t *testing.T, a zoo.Animal, calls *atomic.Int64) *leasetest.Report {
	t.Helper()
	open := func(t testing.TB) *leasetest.Harness {
		h := a.Open(t)
		connect := h.Connect
		h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service {
			return counting{connect(t, w), calls}
		}
		return h
	}
	report, err := leasetest.Check(context.Background(), open, &leasetest.Options{Name: a.Name, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
