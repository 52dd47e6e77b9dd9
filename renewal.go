package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// holding is a lease while its body runs. Two things look after it: a goroutine
// that renews it, and a timer that cancels the body when the lease may have ended.
// They are apart, so that a renewal that hangs does not hold up the timer.
type holding struct {
	service Service
	lease   Lease
	set     HoldOptions

	caller context.Context
	body   context.Context // ends with the caller's, and when the lease is lost
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	certain  time.Time // until when the lease is certain, on the monotonic clock
	watchdog *time.Timer
	lost     error // why the lease is lost, or may be
	over     bool  // the store itself said that it is
}

// newHolding makes a holding of a lease that was asked for at asked.
func newHolding(ctx context.Context, s Service, l Lease, set HoldOptions, asked time.Time) *holding {
	h := &holding{service: s, lease: l, set: set, caller: ctx, certain: asked.Add(set.TTL - set.Margin)}
	h.body, h.cancel = context.WithCancelCause(ctx)
	h.mu.Lock() // the timer may fire at once
	defer h.mu.Unlock()
	h.watchdog = time.AfterFunc(h.certain.Sub(now()), func() { h.loss() })
	return h
}

// run runs the body, and renews, confirms and releases the lease.
func (h *holding) run(body func(context.Context, Lease) error) error {
	// Renewals go on until the body has returned, also after its context ended.
	renewals, stop := context.WithCancel(context.WithoutCancel(h.caller))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.keep(renewals)
	}()
	end := func() {
		stop()
		<-ended
		h.cancel(nil)
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		// The body panics or ends its goroutine, and that goes on.
		end()
		h.watchdog.Stop()
		_ = h.release() // nobody is left to be told
	}()
	err := body(h.body, h.lease)
	returned = true

	end()
	unsure := h.confirm()
	h.watchdog.Stop()
	released := h.release()
	switch {
	case unsure == nil && (released == nil || errors.Is(released, ErrLost)):
		return err // a loss after the body had returned is none
	case unsure != nil && !errors.Is(unsure, ErrLost):
		unsure = errors.Join(h.loss(), unsure) // the release took its time
	}
	return fmt.Errorf("hold %.80q: %w", h.lease.Key, errors.Join(err, unsure, released))
}

// keep renews the lease until ctx ends or the lease is lost.
func (h *holding) keep(ctx context.Context) {
	wait := h.untilNext()
	for pause(ctx, wait) == nil && h.loss() == nil {
		wait = h.soon()
		if h.renew(ctx, h.left()/2) == nil {
			wait = h.untilNext()
		}
	}
}

// untilNext is how long after a confirmed grant or renewal the next one is due,
// counted from when that was asked for.
func (h *holding) untilNext() time.Duration {
	return h.left() - (h.set.TTL - h.set.Margin - h.set.RenewEvery)
}

// soon is how long after a failed renewal the next one is tried.
func (h *holding) soon() time.Duration { return max(h.set.RenewEvery/4, time.Millisecond) }

// renew makes one attempt to renew the lease, which may take that long: half of
// what is left, so that one that hangs leaves time for another.
func (h *holding) renew(ctx context.Context, limit time.Duration) error {
	asked := now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := h.service.Renew(ctx, h.lease, h.set.TTL)
	switch {
	case err == nil:
		return h.confirmed(asked)
	case errors.Is(err, ErrLost):
		h.mu.Lock()
		defer h.mu.Unlock()
		h.over = true
		h.lose(err)
	}
	return err
}

// confirm makes sure that the lease is still held when the body has returned. It
// tries for as long as the lease is certain and the caller's context lives.
func (h *holding) confirm() error {
	var last error
	for {
		if lost := h.loss(); lost != nil {
			return errors.Join(lost, last)
		}
		err := h.renew(context.WithoutCancel(h.caller), min(h.left()/2, releaseTime))
		if err == nil {
			return nil
		}
		last = fmt.Errorf("confirm that the lease is still held: %w", err)
		if errors.Is(err, ErrLost) || pause(h.caller, min(h.soon(), h.left())) != nil {
			return last
		}
	}
}

// confirmed moves the end of the lease on: the store has confirmed a renewal that
// was asked for at asked. What it confirms too late does not count.
func (h *holding) confirmed(asked time.Time) error {
	if lost := h.loss(); lost != nil {
		return lost
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.certain = asked.Add(h.set.TTL - h.set.Margin)
	h.watchdog.Reset(h.certain.Sub(now()))
	return nil
}

// left is how long the lease is still certain.
func (h *holding) left() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.certain.Sub(now())
}

// loss says why the lease is lost; nil while it is certain. It cancels the body
// where the lease has become uncertain.
func (h *holding) loss() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost == nil && h.certain.Sub(now()) <= 0 {
		h.lose(fmt.Errorf("%w: it may have ended, for no renewal was confirmed within %v", ErrLost, h.set.TTL-h.set.Margin))
	}
	return h.lost
}

// lose notes that the lease is lost, and cancels the body. The caller holds the
// mutex.
func (h *holding) lose(why error) {
	if h.lost == nil {
		h.lost = why
		h.cancel(why)
	}
}

// release gives the lease back, unless the store said that it is lost: then
// there is nothing to give back.
func (h *holding) release() error {
	if h.over {
		return nil
	}
	return release(h.caller, h.service, h.lease, h.set.TTL)
}
