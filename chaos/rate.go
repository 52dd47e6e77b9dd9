package chaos

import (
	"context"
	"time"
)

// rate is a clock that runs fast or slow.
type rate struct {
	onClock
	times   float64
	stop    chan struct{}
	stopped chan struct{}
}

// tick is how often the clock is moved on while its rate is wrong.
const tick = time.Millisecond

// Rate lets a clock run so many times as fast as it should, 0 or more: it stands
// and is moved on each ms. Healing lets it run as it should, from where it is.
func Rate(c Clock, times float64, links ...*Link) Fault {
	return &rate{onClock: newOnClock(c, links), times: times}
}

func (f *rate) Name() string {
	if f.times < 1 {
		return "clock/slow"
	}
	return "clock/fast"
}

func (f *rate) Start(context.Context) error {
	f.clock.Freeze(true)
	f.stop, f.stopped = make(chan struct{}), make(chan struct{})
	go f.run()
	f.begin()
	return nil
}

func (f *rate) run() {
	defer close(f.stopped)
	again := time.NewTicker(tick)
	defer again.Stop()
	last := time.Now()
	for {
		select {
		case <-f.stop:
			return
		case now := <-again.C:
			if d := time.Duration(float64(now.Sub(last)) * f.times); d > 0 {
				f.clock.Move(d)
			}
			last = now
		}
	}
}

func (f *rate) Heal(context.Context) error {
	f.end()
	if f.stop == nil {
		return nil
	}
	close(f.stop)
	<-f.stopped
	f.stop = nil
	f.clock.Freeze(false)
	return nil
}
