package zoo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/leasekit/lease"
)

// OddHelpers returns the hold helpers that are odd but keep the contract.
func OddHelpers() []Animal {
	return []Animal{
		{
			Name: "renews-often", Fault: "Renewals come ten times per ttl.",
			Hold: helper(func(r *helperRules) { r.every = func(h *held) time.Duration { return h.o.TTL / 10 } }),
		},
		{
			Name: "renews-as-seldom-as-may-be", Fault: "Renewals come twice per ttl, counted from the reply.",
			Hold: helper(func(r *helperRules) {
				r.every = func(h *held) time.Duration { return h.o.TTL / 2 }
				r.retry = func(h *held) time.Duration { return h.o.TTL / 20 }
			}),
		},
		{
			Name: "careful", Fault: "The body is cancelled when nine tenths of the ttl are over.",
			Hold: helper(func(r *helperRules) {
				r.certain = func(h *held, asked, _ time.Time, _ lease.Lease) time.Time {
					return asked.Add((h.o.TTL - h.o.Margin) * 9 / 10)
				}
			}),
		},
		{
			Name: "interval-drawn-once", Fault: "Whoever waits polls at a fixed interval, which each call draws for itself.",
			Hold: helper(func(r *helperRules) {
				var mu sync.Mutex
				drawn := map[*held]time.Duration{}
				r.pause = func(h *held) time.Duration {
					mu.Lock()
					defer mu.Unlock()
					if drawn[h] == 0 {
						drawn[h] = h.o.Wait/2 + mathrand.N(h.o.Wait)
					}
					return drawn[h]
				}
			}),
		},
		{
			Name: "looks-before-it-asks", Fault: "Whoever waits looks with Get, and acquires when the key seems free.",
			Hold: helper(func(r *helperRules) {
				r.acquire = func(h *held) error {
					for h.o.Wait > 0 {
						if _, err := h.service.Get(h.caller, h.key); !errors.Is(err, lease.ErrNotHeld) && h.caller.Err() == nil {
							timer := time.NewTimer(h.rules.pause(h))
							select {
							case <-timer.C:
								continue
							case <-h.caller.Done():
								timer.Stop()
								return h.caller.Err()
							}
						}
						break
					}
					return acquireInTime(h)
				}
			}),
		},
		{
			Name: "confirms-by-reading", Fault: "When the body has returned, the lease is confirmed by Get.",
			Hold: helper(func(r *helperRules) {
				r.confirm = func(h *held) error {
					return confirmed(h, func(ctx context.Context) error {
						l, err := h.service.Get(ctx, h.key)
						switch {
						case errors.Is(err, lease.ErrNotHeld):
							return lease.ErrLost
						case err == nil && (l.Holder != h.lease.Holder || l.Token != h.lease.Token):
							return fmt.Errorf("%w to %s", lease.ErrLost, l.Holder)
						}
						return err
					})
				}
			}),
		},
		{
			Name: "trusts-nobody-after-an-error", Fault: "A failing body is not followed by a confirmation: its error says enough.",
			Hold: helper(func(r *helperRules) {
				r.confirm = func(h *held) error {
					if h.err != nil && h.left() > 0 {
						return h.loss()
					}
					return confirmByRenewing(h)
				}
				r.result = func(h *held, body, unsure, released error) error {
					if unsure == nil && body == nil && errors.Is(released, lease.ErrLost) {
						released = nil
					}
					return errors.Join(body, unsure, released)
				}
			}),
		},
		{
			Name: "own-error-type", Fault: "The errors are the fields of a type of its own.",
			Hold: helper(func(r *helperRules) {
				r.result = func(_ *held, body, unsure, released error) error {
					if unsure == nil && errors.Is(released, lease.ErrLost) {
						released = nil
					}
					if body == nil && unsure == nil && released == nil {
						return nil
					}
					return &holdError{body, unsure, released}
				}
			}),
		},
		{
			Name: "releases-twice", Fault: "The lease is released twice, to be on the safe side.",
			Hold: helper(func(r *helperRules) {
				r.release = func(h *held) error { return errors.Join(releaseOnce(h), releaseOnce(h)) }
			}),
		},
		{
			Name: "name-in-the-middle", Fault: "The holder is the name between the host and a random text.",
			Hold: helper(func(r *helperRules) {
				r.holder = func(h *held) string { return "host/" + h.o.Holder + "/" + rand.Text() }
			}),
		},
		{
			Name: "body-elsewhere", Fault: "The body runs on a goroutine of its own, and a panic is carried over.",
			Hold: elsewhere(helper(func(*helperRules) {})),
		},
		{
			Name: "knows-no-options", Fault: "There is neither waiting nor a margin: who asks for them is refused.",
			Hold: func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
				if o.Wait > 0 || o.Margin > 0 {
					return fmt.Errorf("%w: this helper neither waits nor has a margin", lease.ErrInvalid)
				}
				return BaseHelper().Hold(ctx, s, key, o, body)
			},
		},
	}
}

// holdError has the errors of one call.
type holdError struct{ body, lease, release error }

func (e *holdError) Error() string {
	return fmt.Sprintf("body: %v; lease: %v; release: %v", e.body, e.lease, e.release)
}

func (e *holdError) Is(target error) bool {
	return errors.Is(e.body, target) || errors.Is(e.lease, target) || errors.Is(e.release, target)
}

// elsewhere runs the body on a goroutine of its own.
func elsewhere(hold holdFunc) holdFunc {
	return func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
		return hold(ctx, s, key, o, func(ctx context.Context, l lease.Lease) error {
			type end struct {
				err   error
				panic any
			}
			done := make(chan end, 1)
			go func() {
				e := end{panic: "the body ended its goroutine"}
				defer func() {
					if p := recover(); p != nil {
						e.panic = p
					}
					done <- e
				}()
				e.err = body(ctx, l)
				e.panic = nil
			}()
			e := <-done
			if e.panic != nil {
				panic(e.panic)
			}
			return e.err
		})
	}
}
