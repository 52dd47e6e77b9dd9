package integration

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
)

// TestFaults shows of each fault that a store offers that it hits live traffic,
// and that the same service works again once it is healed (ERR-5).
func TestFaults(t *testing.T) {
	redis.SetLogger(silence{})
	for _, s := range chaosStores {
		if len(s.gives) > 0 {
			continue // the same faults as those of the mode that keeps everything
		}
		t.Run(s.name, func(t *testing.T) {
			target := s.open(t, s.name)()
			for _, k := range target.Faults {
				t.Run(k.Name, func(t *testing.T) { testFault(t, target, k) })
			}
		})
	}
}

func testFault(t *testing.T, target chaos.Target, k chaos.Kind) {
	link, err := chaos.NewLink("test")
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	s, closing, err := target.Connect(link.Dial)
	if err != nil {
		t.Fatal(err)
	}
	defer closing()
	// Some faults are noticed by an Acquire of a free key alone.
	n := 0
	call := func() error {
		n++
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_, err := s.Acquire(ctx, "key-"+k.Name+string(rune('a'+n%26)), "a", time.Millisecond)
		return ignore(err, lease.ErrHeld)
	}
	insist(t, "before the fault", func() bool { return call() == nil })

	f := k.Make(chaos.Scene{Links: []*chaos.Link{link}, Clock: target.Clock, Match: target.Match}, rand.New(rand.NewPCG(1, 1)))
	if err := f.Available(); err != nil {
		t.Fatal(err)
	}
	if f.Name() != k.Name {
		t.Errorf("the fault is called %s, its kind %s", f.Name(), k.Name)
	}
	ctx := patient(t)
	if err := f.Start(ctx); err != nil {
		t.Fatal(err)
	}
	// One that ends connections hits those that there were.
	if call(); f.Hits() == 0 {
		insist(t, "until the fault hits", func() bool { call(); return f.Hits() > 0 })
	}
	if err := f.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	insist(t, "after healing", func() bool { return call() == nil })
}

// insist tries until ok, within the time that servers get.
func insist(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx := patient(t)
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("%s: it does not come to pass", what)
		}
	}
}
