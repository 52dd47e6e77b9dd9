package chaos

import (
	"context"
	"time"
)

// step is a clock that somebody has set.
type step struct {
	onClock
	by time.Duration
}

// Step moves a clock by a time, either way. It is not moved back when it is
// healed: a clock that was set goes on from there. It hits the requests that
// are answered from then on until it is healed.
func Step(c Clock, by time.Duration, links ...*Link) Fault {
	return &step{newOnClock(c, links), by}
}

func (f *step) Name() string {
	if f.by < 0 {
		return "clock/back"
	}
	return "clock/forward"
}

func (f *step) Start(context.Context) error {
	f.clock.Move(f.by)
	f.begin()
	return nil
}

func (f *step) Heal(context.Context) error { f.end(); return nil }
