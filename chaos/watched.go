package chaos

import (
	"sync"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// watched is the server clock of a campaign. It knows when the clock stepped
// back: everywhere else, time has gone forward.
type watched struct {
	now   func() time.Time // nil: it can't be read
	clock Clock            // nil: it can't be moved
	began time.Time        // of the campaign, monotonic

	mu    sync.Mutex
	steps []backStep
}

// backStep is a step of the clock back, at some moment from called to returned.
type backStep struct {
	called, returned time.Duration
	history.Back
}

func watch(t Target, began time.Time) *watched {
	w := &watched{now: t.Now, clock: t.Clock, began: began}
	if w.clock != nil {
		w.now = w.clock.Now
	}
	return w
}

// Now implements [Clock].
func (w *watched) Now() time.Time { return w.clock.Now() }

// Freeze implements [Clock].
func (w *watched) Freeze(on bool) { w.clock.Freeze(on) }

// Move implements [Clock].
func (w *watched) Move(d time.Duration) {
	if d >= 0 {
		w.clock.Move(d)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	called := time.Since(w.began)
	before := w.clock.Now()
	w.clock.Move(d)
	after := w.clock.Now()
	returned := time.Since(w.began)
	// It went on between the readings and the step.
	moment := returned - called
	w.steps = append(w.steps, backStep{called, returned, history.Back{Most: plain(before.Add(moment)), Now: reading(after.Add(-moment))}})
}

// The ends of time, where the clock can't be read.
var (
	farPast   = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	farFuture = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// from and to read the clock before a call and after it.
func (w *watched) from() time.Time {
	if w.now == nil {
		return farPast
	}
	return reading(w.now())
}

func (w *watched) to() time.Time {
	if w.now == nil {
		return farFuture
	}
	return plain(w.now())
}

// reading is what a server that counts in µs has read by then at least.
func reading(t time.Time) time.Time { return plain(t).Truncate(time.Microsecond) }

// plain strips what makes two equal instants differ as values.
func plain(t time.Time) time.Time { return t.UTC().Round(0) }

// window is the hull of the server times in which a call may have taken effect,
// given the readings before it and after its reply. A call whose outcome is
// unknown may do so after any later step.
func (w *watched) window(c *made) model.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	hull := model.Window{Lo: c.from, Hi: c.to}
	unknown := c.reply().Outcome == model.Unknown
	for _, s := range w.steps {
		if s.returned < c.called || s.called > c.returned && !unknown {
			continue
		}
		if s.Now.Before(hull.Lo) {
			hull.Lo = s.Now
		}
		if s.Most.After(hull.Hi) {
			hull.Hi = s.Most
		}
	}
	if hull.Hi.Before(hull.Lo) {
		hull.Hi = hull.Lo
	}
	return hull
}

// behind is how far the clock is behind the latest time that it has shown.
func (w *watched) behind() (d time.Duration) {
	now := w.to()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.steps {
		d = max(d, s.Most.Sub(now))
	}
	return d
}

// between returns the steps back as entries of a history.
func (w *watched) between(from, to time.Duration) []history.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []history.Call
	for _, s := range w.steps {
		if s.returned >= from && s.called <= to {
			back := s.Back
			list = append(list, history.Call{
				Worker: clockClient, Text: "the server clock steps back by " + back.Most.Sub(back.Now).String(),
				Called: s.called, Returned: s.returned, Back: &back,
			})
		}
	}
	return list
}

// clockClient stands for a worker's number where the clock acts.
const clockClient = 1000
