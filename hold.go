package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"
)

// HoldOptions are the settings of [Hold]. Zero fields mean the defaults.
type HoldOptions struct {
	// TTL is how long each grant and each renewal lasts. It bounds how long the
	// key stays taken after this worker has died. Default 30 s.
	TTL time.Duration

	// Holder is a name for people who look at the store, such as that of the
	// host. Hold adds a suffix that is unique to the call, so that no two calls
	// ever share a grant, whatever the name. Default "hold".
	Holder string

	// Wait is the longest pause before a key that is held by another is asked
	// for again, until the context ends. Each pause is drawn between half of
	// Wait and Wait, so that workers that came together do not ask together.
	// Default 0: a held key is ErrHeld at once.
	Wait time.Duration

	// RenewEvery is the time from one renewal to the next, at most TTL/2: one
	// that fails leaves room for another then. Default TTL/3.
	RenewEvery time.Duration

	// Margin is by how much the clocks of the worker and of the store may drift
	// apart within one TTL. The body is cancelled by so much sooner. Together
	// with RenewEvery it is less than TTL. Default TTL/100, many times what two
	// clocks of ordinary machines drift.
	Margin time.Duration
}

// The defaults of HoldOptions.
const (
	defaultHoldTTL    = 30 * time.Second
	defaultHoldHolder = "hold"
)

// releaseTime is how long Hold tries to release the lease. One that can't be
// released ends with its ttl.
const releaseTime = 5 * time.Second

// now tells the time. Of what it returns nothing but differences are used, which Go
// takes from the monotonic clock: the wall clock may be set while a lease is held. A
// test does that.
var now = time.Now

// Hold acquires the lease of key, runs body while it renews the lease in the
// background, and releases it when body has returned. A nil *HoldOptions means
// the defaults.
//
// The body runs on the calling goroutine. Its context ends with ctx, and it is
// cancelled with ErrLost as its cause (see [context.Cause]) when the store says
// that the lease is lost, or when no renewal was confirmed for so long that it
// may have ended: TTL less Margin, counted on the monotonic clock from before
// the request of the last confirmed grant or renewal was sent. A renewal that
// hangs does not delay that, and one that fails in any other way than by ErrLost
// is tried again soon, for as long as the lease is certain. While body runs the
// lease is renewed, also after ctx has ended.
//
// Hold returns nil if body did, and the store confirmed after that that the
// lease was still held. Otherwise the error tells everything that went wrong,
// for errors.Is: the body's own error first, then ErrLost or why the store could
// not confirm the lease, then why it could not be released. If the lease is not
// granted, body does not run, and the error is that of Acquire – such as ErrHeld
// – or of ctx while Hold waits. Arguments outside of the contract are ErrInvalid
// before the store is touched. A panic of body, or an end of its goroutine by
// runtime.Goexit, goes on after the lease was released.
//
// The service has to return from its calls when their contexts end, as every
// conforming one does (ERR-1): Hold joins its renewals before it returns, and
// leaves no goroutine behind. If the outcome of Acquire is unknown, such as when
// ctx ended during the call, the key may stay taken for one TTL.
//
// # What Hold can't do
//
// Hold can only ask body to stop. A body that ignores its context works on after
// the lease has ended. And nothing that runs in a process can stop it in time when
// the process itself is paused – by a SIGSTOP, a suspended machine, a long wait
// for a processor: it wakes up after the end of its lease, and does some work
// before it notices. Neither is rare. What protects the resource then is its own
// refusal of stale writers: send Lease.Token along with each write, and refuse a
// token lower than the highest one seen (FENCE-1). Hold makes such writes rare;
// only the fence makes them harmless.
func Hold(ctx context.Context, s Service, key string, o *HoldOptions, body func(ctx context.Context, l Lease) error) error {
	if o == nil {
		o = &HoldOptions{}
	}
	set := o.filled()
	// 130 random bits: no two calls draw the same ones.
	holder := set.Holder + "-" + rand.Text()
	if err := set.check(s, key, holder, body); err != nil {
		return fmt.Errorf("hold: %w", err)
	}
	l, asked, err := acquireOrWait(ctx, s, key, holder, set)
	if err != nil {
		return fmt.Errorf("hold %.80q: %w", key, err)
	}
	return newHolding(ctx, s, l, set, asked).run(body)
}

// filled returns the options with the defaults in place of zeros.
func (o HoldOptions) filled() HoldOptions {
	if o.TTL == 0 {
		o.TTL = defaultHoldTTL
	}
	if o.Holder == "" {
		o.Holder = defaultHoldHolder
	}
	if o.RenewEvery == 0 {
		o.RenewEvery = o.TTL / 3
	}
	if o.Margin == 0 {
		o.Margin = o.TTL / 100
	}
	return o
}

// check says which argument of Hold is outside of the contract.
func (o HoldOptions) check(s Service, key, holder string, body func(context.Context, Lease) error) error {
	if s == nil {
		return fmt.Errorf("%w: the service is nil", ErrInvalid)
	}
	if body == nil {
		return fmt.Errorf("%w: the body is nil", ErrInvalid)
	}
	if err := CheckAcquire(key, holder, o.TTL); err != nil {
		return err
	}
	switch {
	case o.Wait < 0:
		return fmt.Errorf("%w: HoldOptions.Wait is %v, want 0 to not wait, or more", ErrInvalid, o.Wait)
	case o.RenewEvery <= 0 || o.RenewEvery > o.TTL/2:
		return fmt.Errorf("%w: HoldOptions.RenewEvery is %v, want more than 0 and at most %v, half of the TTL", ErrInvalid, o.RenewEvery, o.TTL/2)
	case o.Margin < 0 || o.Margin >= o.TTL-o.RenewEvery:
		return fmt.Errorf("%w: HoldOptions.Margin is %v, want 0 or more and less than %v, which is TTL less RenewEvery", ErrInvalid, o.Margin, o.TTL-o.RenewEvery)
	}
	return nil
}

// acquireOrWait returns a lease that was granted, and the instant before it was
// asked for.
func acquireOrWait(ctx context.Context, s Service, key, holder string, o HoldOptions) (Lease, time.Time, error) {
	for {
		asked := now()
		l, err := acquire(ctx, s, key, holder, o, asked)
		if err == nil || o.Wait == 0 || !errors.Is(err, ErrHeld) {
			return l, asked, err
		}
		half := o.Wait / 2
		if err := pause(ctx, half+mathrand.N(half+1)); err != nil {
			return Lease{}, asked, fmt.Errorf("wait for the lease: %w", err)
		}
	}
}

// acquire asks once. A grant that came too late for the body to run under it is
// given back.
func acquire(ctx context.Context, s Service, key, holder string, o HoldOptions, asked time.Time) (Lease, error) {
	// A grant that arrives after that is over, as far as this worker can tell.
	timed, cancel := context.WithTimeout(ctx, o.TTL-o.Margin)
	defer cancel()
	l, err := s.Acquire(timed, key, holder, o.TTL)
	late := ctx.Err()
	switch {
	case err != nil && late != nil && !errors.Is(err, late):
		return Lease{}, errors.Join(late, err) // it ended while the client was giving up
	case err != nil && late == nil && timed.Err() != nil:
		return Lease{}, fmt.Errorf("no answer within %v: %w", o.TTL-o.Margin, err)
	case err != nil:
		return Lease{}, err
	}
	if took := now().Sub(asked); late == nil && took >= o.TTL-o.Margin {
		late = fmt.Errorf("%w: the grant took %v to arrive, and may be over", ErrLost, took)
	}
	if late != nil {
		return Lease{}, errors.Join(late, release(ctx, s, l, o.TTL))
	}
	return l, nil
}

// release gives a lease back, on a context that is live whatever became of ctx.
func release(ctx context.Context, s Service, l Lease, ttl time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(releaseTime, ttl))
	defer cancel()
	if err := s.Release(ctx, l); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// pause waits for d, or until ctx ends, and then returns its error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
