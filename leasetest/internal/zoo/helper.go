package zoo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// helperRules are the decisions of the hold helper of the zoo. A fault is one of
// them made wrongly.
type helperRules struct {
	// Before the body runs.
	holder  func(h *held) string
	acquire func(h *held) error // until granted, or not
	pause   func(h *held) time.Duration
	shown   func(h *held) lease.Lease // what the body gets

	// While it runs.
	every   func(h *held) time.Duration
	retry   func(h *held) time.Duration
	certain func(h *held, asked, replied time.Time, l lease.Lease) time.Time // until when the lease is
	renewal func(h *held) (context.Context, context.CancelFunc)              // of the context of one renewal
	inline  bool                                                             // nothing else is done while a renewal is under way
	renews  func(h *held) bool                                               // whether renewals are made at all
	watches bool                                                             // the body is cancelled when the lease may have ended
	late    func(h *held) time.Duration                                      // how long after that
	failed  func(h *held, err error)                                         // a renewal failed, other than by ErrLost
	lost    func(h *held, err error)                                         // a renewal was answered with ErrLost
	cause   func(err error) error                                            // that the body sees
	life    func(h *held) context.Context                                    // of the renewals

	// After it.
	stop      func(h *held)       // ends the renewals
	confirm   func(h *held) error // that the lease is still held
	releasing func(h *held) (context.Context, context.CancelFunc)
	release   func(h *held) error
	panicked  func(h *held) // the body panics; a helper that recovers ends it
	result    func(h *held, body, unsure, released error) error
}

// baseHelperRules are the decisions as the contract wants them.
func baseHelperRules() *helperRules {
	return &helperRules{
		holder:  func(h *held) string { return h.o.Holder + "#" + rand.Text() },
		acquire: acquireInTime,
		pause:   func(h *held) time.Duration { return h.o.Wait/2 + mathrand.N(h.o.Wait) },
		shown:   func(h *held) lease.Lease { return h.lease },
		every: func(h *held) time.Duration {
			if h.o.RenewEvery > 0 {
				return h.o.RenewEvery
			}
			return h.o.TTL / 3
		},
		retry:   func(h *held) time.Duration { return h.o.TTL / 12 },
		certain: func(h *held, asked, _ time.Time, _ lease.Lease) time.Time { return asked.Add(h.o.TTL - h.o.Margin) },
		renewal: func(h *held) (context.Context, context.CancelFunc) {
			return context.WithTimeout(h.living, h.left()/2)
		},
		renews:  func(*held) bool { return true },
		watches: true,
		late:    func(*held) time.Duration { return 0 },
		failed:  func(*held, error) {},
		lost:    func(h *held, err error) { h.lose(err) },
		cause:   func(err error) error { return err },
		life:    func(h *held) context.Context { return context.WithoutCancel(h.caller) },
		stop:    func(h *held) { h.end(); h.running.Wait() },
		confirm: confirmByRenewing,
		releasing: func(h *held) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.WithoutCancel(h.caller), 3*time.Second)
		},
		release:  releaseOnce,
		panicked: func(h *held) { h.rules.stop(h); _ = h.rules.release(h) },
		result: func(_ *held, body, unsure, released error) error {
			if unsure == nil && errors.Is(released, lease.ErrLost) {
				released = nil
			}
			return errors.Join(body, unsure, released)
		},
	}
}

// held is one call of the helper.
type held struct {
	rules   *helperRules
	service lease.Service
	o       lease.HoldOptions
	key     string
	holder  string
	caller  context.Context

	lease    lease.Lease
	asked    time.Time // when the grant was asked for,
	got      time.Time // and when it came
	ctx      context.Context
	cancel   context.CancelCauseFunc
	living   context.Context // of the renewals,
	watching context.Context // and of who watches
	end      func()
	again    chan struct{} // something has changed for who watches
	turn     chan struct{} // a renewal is under way

	err      error       // the body's
	returned atomic.Bool // the body has

	running sync.WaitGroup
	mu      sync.Mutex
	until   time.Time // the lease is certain until then
	why     error     // it is lost
	misses  int       // renewals that failed, in a row
}

// helper makes a hold helper of the base with some of its decisions changed.
// change runs once; what it keeps in variables is shared by all calls.
func helper(change func(r *helperRules)) leasetest.HoldFunc {
	rules := baseHelperRules()
	change(rules)
	return func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
		h := &held{rules: rules, service: s, o: *o, key: key, caller: ctx, again: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
		h.holder = rules.holder(h)
		if err := rules.acquire(h); err != nil {
			return err
		}
		return h.run(body)
	}
}

func (h *held) run(body func(context.Context, lease.Lease) error) (err error) {
	h.ctx, h.cancel = context.WithCancelCause(h.caller)
	defer h.cancel(nil)
	living, stop := context.WithCancel(h.rules.life(h))
	watching, unwatch := context.WithCancel(context.WithoutCancel(h.caller))
	h.living, h.watching = living, watching
	h.end = func() { stop(); unwatch() }
	defer func() { h.end() }()
	l := h.rules.shown(h)
	h.until = h.rules.certain(h, h.asked, h.got, h.lease)
	if h.rules.watches {
		h.running.Go(h.watch)
	}
	if h.rules.renews(h) {
		h.running.Go(h.keep)
	}
	done := false
	defer func() {
		if !done {
			h.rules.panicked(h)
		}
	}()
	err = func() error {
		defer h.returned.Store(true)
		return body(h.ctx, l)
	}()
	done, h.err = true, err
	h.rules.stop(h)
	unsure := h.rules.confirm(h)
	return h.rules.result(h, err, unsure, h.rules.release(h))
}

// watch cancels the body when the lease may have ended.
func (h *held) watch() {
	for {
		timer := time.NewTimer(h.left() + h.rules.late(h))
		select {
		case <-h.watching.Done():
			timer.Stop()
			return
		case <-h.again:
			timer.Stop()
		case <-timer.C:
			if h.rules.inline {
				h.turn <- struct{}{}
				<-h.turn
				if h.left() > 0 {
					continue
				}
			}
			h.lose(fmt.Errorf("%w: it may have ended", lease.ErrLost))
			return
		}
	}
}

// keep renews the lease for as long as the body runs.
func (h *held) keep() {
	next := time.NewTimer(h.rules.every(h) - time.Since(h.asked))
	defer next.Stop()
	for {
		select {
		case <-h.living.Done():
			return
		case <-next.C:
		}
		if h.loss() != nil {
			return
		}
		asked := time.Now()
		err := h.renew()
		wait := h.rules.every(h) - time.Since(asked)
		if err != nil {
			wait = h.rules.retry(h)
		}
		next.Reset(wait)
	}
}

// renew renews once.
func (h *held) renew() error {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	ctx, cancel := h.rules.renewal(h)
	defer cancel()
	asked := time.Now()
	l, err := h.service.Renew(ctx, h.lease, h.o.TTL)
	switch {
	case err == nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.misses = 0
		if h.why != nil {
			return h.why
		}
		h.until = h.rules.certain(h, asked, time.Now(), l)
		h.changed()
	case errors.Is(err, lease.ErrLost):
		h.rules.lost(h, err)
	case h.living.Err() == nil:
		h.mu.Lock()
		h.misses++
		h.mu.Unlock()
		h.rules.failed(h, err)
	}
	return err
}

// changed wakes who watches.
func (h *held) changed() {
	select {
	case h.again <- struct{}{}:
	default:
	}
}

func (h *held) left() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Until(h.until)
}

func (h *held) loss() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why
}

// lose tells the body that the lease is lost.
func (h *held) lose(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why == nil {
		h.why = why
		h.cancel(h.rules.cause(why))
	}
}

// acquireInTime asks for the lease, again and again if it may.
func acquireInTime(h *held) error {
	for {
		err := h.ask()
		if h.o.Wait == 0 || !errors.Is(err, lease.ErrHeld) {
			return err
		}
		timer := time.NewTimer(h.rules.pause(h))
		select {
		case <-timer.C:
		case <-h.caller.Done():
			timer.Stop()
			return h.caller.Err()
		}
	}
}

// ask asks for the lease once.
func (h *held) ask() error {
	h.asked = time.Now()
	l, err := h.service.Acquire(h.caller, h.key, h.holder, h.o.TTL)
	if err != nil {
		return err
	}
	h.lease, h.got = l, time.Now()
	if h.got.Sub(h.asked) < h.o.TTL-h.o.Margin && h.caller.Err() == nil {
		return nil
	}
	return errors.Join(lease.ErrLost, h.caller.Err(), h.rules.release(h))
}

// confirmByRenewing renews the lease once more.
func confirmByRenewing(h *held) error {
	return confirmed(h, func(ctx context.Context) error {
		_, err := h.service.Renew(ctx, h.lease, h.o.TTL)
		return err
	})
}

// confirmed asks the store once whether the lease is still held.
func confirmed(h *held, ask func(context.Context) error) error {
	left := h.left()
	if why := h.loss(); why != nil || left <= 0 {
		return errors.Join(lease.ErrLost, why)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.caller), min(left, 10*time.Second))
	defer cancel()
	err := ask(ctx)
	if err != nil && h.left() <= 0 {
		return errors.Join(lease.ErrLost, err)
	}
	return err
}

// releaseOnce gives the lease back.
func releaseOnce(h *held) error {
	ctx, cancel := h.rules.releasing(h)
	defer cancel()
	return h.service.Release(ctx, h.lease)
}
