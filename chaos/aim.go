package chaos

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Aim chooses the requests that a fault of a link is about.
type Aim struct {
	// Match says whether a request is meant: that of a call, say, and not the
	// greeting of a new connection. Nil: every request is.
	Match func(request []byte) bool

	// Nth is which of them, from 1 on. 0: each, for as long as the fault is on.
	Nth int
}

// aimed counts the requests that an Aim means.
type aimed struct {
	Aim
	mu   sync.Mutex
	seen int
}

// takes says whether this request is the one, or one of those.
func (a *aimed) takes(request []byte) bool {
	if a.Match != nil && !a.Match(request) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen++
	return a.Nth == 0 || a.seen == a.Nth
}

// onLink is what the faults of one link have in common.
type onLink struct {
	calm
	link *Link
	hits atomic.Int64
}

func (f *onLink) hit() { f.hits.Add(1) }

// Hits implements [Fault].
func (f *onLink) Hits() int { return int(f.hits.Load()) }

// Available implements [Fault]. Links are everywhere.
func (f *onLink) Available() error { return nil }

// healedIn waits for d, or until the fault is over.
func (p *pipe) healedIn(d time.Duration, healed <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-healed:
	case <-p.done:
	}
}

// outlast waits until the fault is over.
func outlast(ctx context.Context, healed <-chan struct{}) error {
	select {
	case <-healed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
