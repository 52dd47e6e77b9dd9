package zoo

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/leasekit/lease"
)

// grantFaults break what a hold helper does before the body runs.
func grantFaults() []Animal {
	return []Animal{
		{
			Name: "holder-is-the-name", Clause: "HOLD-1",
			Fault:  "The name that the caller gives is the holder, so that two of its tasks share a grant.",
			Kinds:  []string{"B011"},
			Source: "https://github.com/OptimalBits/bull/issues/308",
			Hold: helper(func(r *helperRules) {
				r.holder = func(h *held) string {
					if h.o.Holder == "" {
						return "worker"
					}
					return h.o.Holder
				}
			}),
		},
		{
			Name: "holder-per-process", Clause: "HOLD-1",
			Fault:  "The unique suffix is drawn once, when the process starts.",
			Kinds:  []string{"B011"},
			Source: "https://github.com/OptimalBits/bull/issues/308",
			Hold: helper(func(r *helperRules) {
				suffix := rand.Text()
				r.holder = func(h *held) string { return h.o.Holder + suffix }
			}),
		},
		{
			Name: "runs-without-a-store", Clause: "HOLD-1",
			Fault: "Where the store can't be reached, the body runs without a lease: better that than not at all.",
			Kinds: []string{"B075"},
			Hold: helper(func(r *helperRules) {
				r.acquire = func(h *held) error {
					err := acquireInTime(h)
					if err == nil || errors.Is(err, lease.ErrHeld) || h.caller.Err() != nil {
						return err
					}
					h.lease, h.got = lease.Lease{Key: h.key, Holder: h.holder, Token: 1}, time.Now()
					return nil
				}
			}),
		},
		{
			Name: "runs-beside-its-holder", Clause: "HOLD-1",
			Fault: "That the key is held is taken for a grant, for somebody does hold it.",
			Kinds: []string{"B029"},
			Hold: helper(func(r *helperRules) {
				r.acquire = func(h *held) error {
					err := acquireInTime(h)
					if !errors.Is(err, lease.ErrHeld) {
						return err
					}
					theirs, unknown := h.service.Get(h.caller, h.key)
					if unknown != nil {
						return err
					}
					h.lease, h.got = theirs, time.Now()
					return nil
				}
			}),
		},
		{
			Name: "first-lease-for-all", Clause: "HOLD-1",
			Fault:  "The lease lives in an object that all calls on a service share, so that a body gets the one of an earlier call.",
			Kinds:  []string{"B013"},
			Source: "https://github.com/leandromoreira/redlock-rb/issues/27",
			Hold: helper(func(r *helperRules) {
				var first sync.Map
				r.shown = func(h *held) lease.Lease {
					l, _ := first.LoadOrStore(h.service, h.lease)
					return l.(lease.Lease)
				}
			}),
		},
		{
			Name: "runs-twice", Clause: "HOLD-1",
			Fault: "The body is tried again when it fails, under the same lease.",
			Hold:  twice(helper(func(*helperRules) {})),
		},
	}
}

// twice runs a body that fails once more.
func twice(hold holdFunc) holdFunc {
	return func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
		return hold(ctx, s, key, o, func(ctx context.Context, l lease.Lease) error {
			if err := body(ctx, l); err == nil || ctx.Err() != nil {
				return err
			}
			return body(ctx, l)
		})
	}
}

// holdWaitFaults break what a hold helper does while the key is held.
func holdWaitFaults() []Animal {
	return []Animal{
		{
			Name: "waits-unasked", Clause: "HOLD-9",
			Fault: "A helper that is not told to wait polls once a second all the same.",
			Hold: helper(func(r *helperRules) {
				r.acquire = func(h *held) error {
					if h.o.Wait == 0 {
						h.o.Wait = time.Second
					}
					return acquireInTime(h)
				}
			}),
		},
		{
			Name: "never-waits", Clause: "HOLD-9",
			Fault: "The option to wait is not looked at.",
			Hold: helper(func(r *helperRules) {
				r.acquire = func(h *held) error { return h.ask() }
			}),
		},
		{
			Name: "gives-up-after-ten", Clause: "HOLD-9",
			Fault: "After ten attempts the wait ends, with ErrHeld, whatever the context says.",
			Hold: helper(func(r *helperRules) {
				r.acquire = func(h *held) error {
					for n := 1; ; n++ {
						err := h.ask()
						if h.o.Wait == 0 || n == 10 || !errors.Is(err, lease.ErrHeld) {
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
			}),
		},
		{
			Name: "polls-in-step", Clause: "HOLD-9",
			Fault: "Whoever waits asks at fixed intervals: workers that came together ask together.",
			Hold: helper(func(r *helperRules) {
				r.pause = func(h *held) time.Duration { return h.o.Wait }
			}),
		},
		{
			Name: "spins", Clause: "HOLD-9",
			Fault:  "Whoever waits asks again at once.",
			Kinds:  []string{"B135"},
			Source: "https://github.com/redis/rueidis/issues/602",
			Hold: helper(func(r *helperRules) {
				r.pause = func(*held) time.Duration { return 0 }
			}),
		},
		{
			Name: "asks-once-and-sleeps", Clause: "HOLD-9",
			Fault: "Whoever waits sleeps until the context ends, for a wake-up that never comes.",
			Hold: helper(func(r *helperRules) {
				r.pause = func(*held) time.Duration { return 1<<63 - 1 }
			}),
		},
		{
			Name: "sleeps-through-the-end", Clause: "HOLD-9",
			Fault: "The pauses are sleeps, which do not end with the context.",
			Hold: helper(func(r *helperRules) {
				r.pause = func(h *held) time.Duration {
					time.Sleep(h.o.Wait/2 + time.Duration(rand.Text()[0])*h.o.Wait/128)
					return 1
				}
			}),
		},
		{
			Name: "waits-end-in-held", Clause: "HOLD-9",
			Fault: "A wait that the context ends is reported as ErrHeld, and the context's error is dropped.",
			Hold: helper(func(r *helperRules) {
				r.acquire = func(h *held) error {
					err := acquireInTime(h)
					if h.o.Wait > 0 && h.lease.Token == 0 && h.caller.Err() != nil {
						return lease.ErrHeld
					}
					return err
				}
			}),
		},
	}
}
