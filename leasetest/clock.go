package leasetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leasekit/lease/internal/model"
)

// clockKind is what a harness lets the suite do to the server clock.
type clockKind int

const (
	clockNone   clockKind = iota // it can't even be read
	clockRead                    // read only
	clockMoved                   // read and moved, but it runs on
	clockFrozen                  // stands still unless it is moved
)

func (k clockKind) String() string {
	return [...]string{"none", "read", "moved", "frozen"}[k]
}

func kindOf(c *Clock) clockKind {
	switch {
	case c == nil:
		return clockNone
	case c.Move == nil:
		return clockRead
	case c.Freeze == nil:
		return clockMoved
	}
	return clockFrozen
}

// The contract holds for a server clock between these years; the suite keeps a
// day's distance.
var (
	firstDay = time.Date(1971, 1, 2, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(2199, 12, 30, 0, 0, 0, 0, time.UTC)
)

// serverClock is the server clock as the suite knows it: exactly, by an
// interval, or by what grants tell.
type serverClock struct {
	kind  clockKind
	clock *Clock
	guard *guard
	edge  bool // a move would have left the years of the contract
	stuck bool // a move back did not show

	mu  sync.Mutex
	err error // the first failure of the harness's clock

	rules model.Rules
	start time.Time // where it stood when the store was opened
	now   time.Time // of a frozen clock

	// Without a clock to read, every grant says where the server clock stood
	// between its call and its reply; seen is the narrowest such offset from
	// this machine's monotonic clock, and it widens with time.
	origin       time.Time
	seen         bool
	seenAt       time.Time
	offLo, offHi time.Duration // server clock - time since origin, as an instant from zeroHour
}

// zeroHour makes instants of the offsets of an unread clock.
var zeroHour = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// farPast and farFuture bound the server clock of which nothing is known.
var (
	farPast   = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

func newServerClock(h *Harness, g *guard) *serverClock {
	c := &serverClock{kind: kindOf(h.Clock), clock: h.Clock, rules: h.rules(), guard: g, origin: time.Now()}
	if c.kind == clockFrozen {
		c.ask("Clock.Freeze", func() { h.Clock.Freeze(true) })
	}
	if c.kind != clockNone {
		c.read()
		c.start = c.now
		if c.failure() == nil && (c.now.Before(firstDay) || c.now.After(lastDay)) {
			c.err = fmt.Errorf("the harness's Clock stands at %s: the contract holds for the years 1971 to 2200, so begin there", shownTime(c.now))
		}
	}
	return c
}

// release lets a clock that was stopped run on.
func (c *serverClock) release() {
	if c.kind == clockFrozen {
		c.ask("Clock.Freeze", func() { c.clock.Freeze(false) })
	}
}

// ask calls a function of the harness's clock with the guard.
func (c *serverClock) ask(what string, f func()) bool {
	end := c.guard.always(f)
	if end.ok() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("the harness's %s %s", what, end.text)
	}
	return false
}

// failure is what went wrong with the harness's clock, or nil.
func (c *serverClock) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// rewind brings a movable clock back to where it stood at first.
func (c *serverClock) rewind() {
	if c.movable() && !c.now.Equal(c.start) {
		c.moveTo(c.start, false)
	}
}

// movable says whether time can be moved rather than waited for.
func (c *serverClock) movable() bool { return c.kind >= clockMoved }

// present returns an instant at or before the server clock's present one, and
// one at or after it. A reading has the store's own granularity: the true
// instant may be up to a unit later, but the store can't see that either.
func (c *serverClock) present() (lo, hi time.Time) {
	switch c.kind {
	case clockFrozen:
	case clockNone:
		return c.estimate(time.Now())
	default:
		c.read()
	}
	return c.now, c.now
}

func (c *serverClock) earliest() time.Time {
	lo, _ := c.present()
	return lo
}

func (c *serverClock) latest() time.Time {
	_, hi := c.present()
	return hi
}

func (c *serverClock) read() {
	if now, ok := c.reading(); ok {
		c.now = now
	}
}

// reading reads the harness's clock; it may be called concurrently.
func (c *serverClock) reading() (now time.Time, ok bool) {
	read := make(chan time.Time, 1)
	if !c.ask("Clock.Now", func() { read <- plain(c.clock.Now()) }) {
		return time.Time{}, false
	}
	return <-read, true
}

// estimate bounds an unread clock at an instant of this machine's. Rates are trusted to one in a thousand,
// which is ten times worse than any clock that is not broken.
func (c *serverClock) estimate(at time.Time) (lo, hi time.Time) {
	if !c.seen {
		return farPast, farFuture
	}
	slack := at.Sub(c.seenAt).Abs()/1000 + time.Microsecond
	since := at.Sub(c.origin)
	return zeroHour.Add(c.offLo + since - slack), zeroHour.Add(c.offHi + since + slack)
}

// learn takes from a grant where the unread server clock stood while the call
// was out.
func (c *serverClock) learn(called, now time.Time, ttl time.Duration, expires time.Time) {
	if c.kind != clockNone || ttl > time.Hour {
		return
	}
	w := model.Window{Lo: farPast, Hi: farFuture}
	w, ok := c.rules.GrantWindow(w, ttl, plain(expires))
	if !ok {
		return
	}
	lo := w.Lo.Sub(zeroHour) - now.Sub(c.origin)
	hi := w.Hi.Sub(zeroHour) - called.Sub(c.origin)
	if c.seen {
		slack := now.Sub(c.seenAt)/1000 + time.Microsecond
		lo, hi = max(lo, c.offLo-slack), min(hi, c.offHi+slack)
	}
	if lo > hi {
		// Grants contradict each other; what they are worth is judged
		// elsewhere, and the estimate begins anew.
		c.seen = false
		return
	}
	c.seen, c.seenAt, c.offLo, c.offHi = true, now, lo, hi
}

// move moves the clock by d if that keeps it within the years of the contract,
// and says whether it did.
func (c *serverClock) move(d time.Duration) bool {
	if !c.movable() {
		return false
	}
	from := c.earliest()
	to := from.Add(d)
	if to.Before(firstDay) || to.After(lastDay) {
		c.edge = true
		return false
	}
	if !c.ask("Clock.Move", func() { c.clock.Move(d) }) {
		return false
	}
	c.read()
	// A clock may tick in steps that are coarser than a small move. A large one
	// has to show.
	switch {
	case d >= coarsestTick:
		return c.now.After(from)
	case d <= -coarsestTick && !c.now.Before(from):
		c.stuck = true
		return false
	}
	return true
}

// coarsestTick is the step of the coarsest server clock that the suite expects.
const coarsestTick = 10 * time.Second

// moveTo moves the clock to t, as move does. If atLeast, a clock that ticks in
// coarse steps is moved on until it shows t.
func (c *serverClock) moveTo(t time.Time, atLeast bool) bool {
	if !c.move(t.Sub(c.earliest())) {
		return false
	}
	for d := t.Sub(c.now); atLeast && d > 0 && d < 2*coarsestTick && c.now.Before(t); d *= 2 {
		if !c.move(d) {
			return false
		}
	}
	return !atLeast || !c.now.Before(t)
}

// passes brings the clock to t or later, by a move or by waiting, and says whether
// it got there.
func (c *serverClock) passes(ctx context.Context, t time.Time) bool {
	if c.movable() {
		return c.moveTo(t, true)
	}
	return c.wait(ctx, t, longestWait)
}

// wait waits until the server clock has surely reached t, and says whether it
// did. It gives up at once if that is more than limit away: nobody waits long
// for a lease in a test. It also gives up on a clock that does not run.
func (c *serverClock) wait(ctx context.Context, t time.Time, limit time.Duration) bool {
	began := time.Now()
	for {
		left := t.Sub(c.earliest())
		if left <= 0 {
			return true
		}
		if left > limit || time.Since(began) > 2*limit+time.Second {
			return false
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}
