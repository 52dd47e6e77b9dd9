package chaos

import (
	"errors"
	"time"
)

// Clock is a server's clock, as package chaos/clock makes them. It may be used
// by several goroutines.
type Clock interface {
	Now() time.Time
	Move(d time.Duration) // at once, either way
	Freeze(on bool)       // it stands still, or runs on from where it stands
}

var errNoClock = errors.New("the server's clock can't be moved")

// onClock is what the faults of a clock have in common.
type onClock struct {
	traffic
	clock Clock
}

func newOnClock(c Clock, links []*Link) onClock {
	return onClock{traffic{links: links, what: answered}, c}
}

func (f *onClock) Available() error {
	if f.clock == nil {
		return errNoClock
	}
	return nil
}
