package chaos

import (
	"context"
	"sync"
	"testing"
	"time"
)

// fakeClock runs with the machine's, and is moved.
type fakeClock struct {
	mu     sync.Mutex
	offset time.Duration
	frozen *time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *fakeClock) now() time.Time {
	if c.frozen != nil {
		return *c.frozen
	}
	return time.Now().Round(0).Add(c.offset)
}

func (c *fakeClock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen != nil {
		*c.frozen = c.frozen.Add(d)
	}
	c.offset += d
}

func (c *fakeClock) Freeze(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.frozen = nil; on {
		c.frozen = &now
	} else {
		c.offset = now.Sub(time.Now().Round(0))
	}
}

func TestStep(t *testing.T) {
	for name, by := range map[string]time.Duration{"clock/forward": time.Hour, "clock/back": -time.Hour} {
		r, c := try(t), &fakeClock{}
		f := Step(c, by, r.link)
		if f.Name() != name {
			t.Errorf("got the name %s, want %s", f.Name(), name)
		}
		r.start(f)
		if got := time.Until(c.Now()); got.Round(time.Minute) != by {
			t.Errorf("%s: the clock is off by %v, want %v", name, got, by)
		}
		r.wantAnswer("a")
		r.heal(f, 1)
	}
	if Step(nil, time.Hour).Available() == nil {
		t.Error("a clock that is not there can be moved")
	}
}

func TestRate(t *testing.T) {
	r, c := try(t), &fakeClock{}
	for times, name := range map[float64]string{0: "clock/slow", 0.5: "clock/slow", 20: "clock/fast"} {
		f := Rate(c, times, r.link)
		if f.Name() != name {
			t.Errorf("got the name %s, want %s", f.Name(), name)
		}
		r.start(f)
		began, first := time.Now(), c.Now()
		for range 100 {
			r.wantAnswer("a")
		}
		real := time.Since(began)
		r.heal(f, 100)
		// Healing has stopped the clock at a tick.
		server := c.Now().Sub(first)
		if most := time.Duration(float64(real+bound/10) * max(times, 1)); server < 0 || server > most {
			t.Errorf("at %v times the rate the clock went by %v in %v", times, server, real)
		}
	}
}

// A clock at 50 times the rate is 1 s ahead within a second.
func TestRateMovesOn(t *testing.T) {
	c := &fakeClock{}
	f := Rate(c, 50)
	if err := f.Start(patient(t)); err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(tick)
	defer again.Stop()
	for over := time.After(bound); time.Until(c.Now()) < time.Second; {
		select {
		case <-again.C:
		case <-over:
			t.Fatal("the clock does not run")
		}
	}
	f.Heal(patient(t))
	if d := time.Until(c.Now()); d < time.Second {
		t.Errorf("after healing the clock is ahead by %v, want at least 1 s", d)
	}
}

func TestStoreFault(t *testing.T) {
	n := 0
	f := &Store{
		Title: "store/x", Begin: func(context.Context) error { n++; return nil }, Count: func() int { return n },
	}
	r := try(t)
	r.start(f)
	r.heal(f, 1)
}
