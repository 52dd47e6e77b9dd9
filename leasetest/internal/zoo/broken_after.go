package zoo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// holdFunc is a hold helper.
type holdFunc = leasetest.HoldFunc

// confirmFaults report success without knowing.
func confirmFaults() []Animal {
	return []Animal{
		{
			Name: "no-confirmation", Clause: "HOLD-6",
			Fault:  "When the body has returned, nobody asks whether the lease is still held.",
			Kinds:  []string{"B085"},
			Source: "https://github.com/oban-bg/oban/issues/1488",
			Hold:   helper(func(r *helperRules) { r.confirm = (*held).loss }),
		},
		{
			Name: "release-confirms", Clause: "HOLD-6",
			Fault:  "That Release succeeds is taken for a proof that the lease was held.",
			Kinds:  []string{"B018"},
			Source: "https://github.com/fabric8io/kubernetes-client/issues/5463",
			Hold: helper(func(r *helperRules) {
				r.confirm = (*held).loss
				r.result = func(_ *held, body, unsure, released error) error { return errors.Join(body, unsure, released) }
			}),
		},
		{
			Name: "confirms-by-any-holder", Clause: "HOLD-6",
			Fault: "The helper looks whether the key is held, and not by whom.",
			Hold: helper(func(r *helperRules) {
				r.confirm = func(h *held) error {
					return confirmed(h, func(ctx context.Context) error {
						_, err := h.service.Get(ctx, h.key)
						if errors.Is(err, lease.ErrNotHeld) {
							return lease.ErrLost
						}
						return err
					})
				}
			}),
		},
		{
			Name: "unconfirmed-is-success", Clause: "HOLD-6",
			Fault: "A store that can't confirm the lease is no reason to call the work a failure.",
			Hold: helper(func(r *helperRules) {
				r.confirm = func(h *held) error {
					if err := confirmByRenewing(h); errors.Is(err, lease.ErrLost) {
						return err
					}
					return nil
				}
			}),
		},
		{
			Name: "unconfirmed-is-loss", Clause: "HOLD-6",
			Fault: "A store that can't confirm the lease is reported as a loss, and its own error is dropped.",
			Hold: helper(func(r *helperRules) {
				r.confirm = func(h *held) error {
					if confirmByRenewing(h) != nil {
						return lease.ErrLost
					}
					return nil
				}
			}),
		},
		{
			Name: "confirms-without-a-limit", Clause: "HOLD-6",
			Fault: "The call that confirms the lease has no time limit.",
			Hold: helper(func(r *helperRules) {
				r.confirm = func(h *held) error {
					return confirmed(h, func(context.Context) error {
						_, err := h.service.Renew(context.WithoutCancel(h.caller), h.lease, h.o.TTL)
						return err
					})
				}
			}),
		},
	}
}

// returnFaults break what becomes of the lease when the body has ended.
func returnFaults() []Animal {
	return []Animal{
		{
			Name: "release-on-the-callers-context", Clause: "HOLD-7",
			Fault:  "The release runs on the caller's context, and is not sent once that has ended.",
			Kinds:  []string{"B021"},
			Source: "https://github.com/kubernetes/kubernetes/pull/112022",
			Hold: helper(func(r *helperRules) {
				r.releasing = func(h *held) (context.Context, context.CancelFunc) {
					return context.WithTimeout(h.caller, 3*time.Second)
				}
			}),
		},
		{
			Name: "release-on-the-renewals-context", Clause: "HOLD-7",
			Fault:  "The release runs on the context of the renewals, which has just been cancelled.",
			Kinds:  []string{"B021"},
			Source: "https://github.com/blnkfinance/blnk/issues/354",
			Hold: helper(func(r *helperRules) {
				base := r.releasing
				r.releasing = func(h *held) (context.Context, context.CancelFunc) {
					if h.living == nil {
						return base(h) // the body never ran
					}
					return context.WithTimeout(h.living, 3*time.Second)
				}
			}),
		},
		{
			Name: "release-without-a-limit", Clause: "HOLD-7",
			Fault:  "The release is kept from being cancelled, and has no deadline of its own.",
			Kinds:  []string{"B022"},
			Source: "https://github.com/e2b-dev/infra/pull/2594",
			Hold: helper(func(r *helperRules) {
				r.releasing = func(h *held) (context.Context, context.CancelFunc) {
					return context.WithoutCancel(h.caller), func() {}
				}
			}),
		},
		{
			Name: "released-when-cancelled", Clause: "HOLD-7",
			Fault: "The lease is released as soon as the caller's context ends, while the body still works.",
			Hold: helper(func(r *helperRules) {
				base := r.life
				r.life = func(h *held) context.Context {
					context.AfterFunc(h.caller, func() {
						if !h.returned.Load() {
							_ = releaseOnce(h)
						}
					})
					return base(h)
				}
			}),
		},
		{
			Name: "panic-leaves-the-lease", Clause: "HOLD-7",
			Fault:  "The release is not deferred, so that a panic leaves the lease, and the goroutines that look after it.",
			Kinds:  []string{"B088"},
			Along:  []string{"HOLD-10"},
			Nature: "what renews the lease is left with it",
			Source: "https://github.com/Netflix/rend/issues/105",
			Hold: helper(func(r *helperRules) {
				r.panicked = func(h *held) { h.end = func() {} }
			}),
		},
		{
			Name: "panic-becomes-an-error", Clause: "HOLD-7",
			Fault: "A panic of the body is caught and returned as an error.",
			Hold:  catching(helper(func(*helperRules) {})),
		},
		{
			Name: "released-on-success-only", Clause: "HOLD-7",
			Fault: "A body that fails leaves the lease to its ttl.",
			Hold: helper(func(r *helperRules) {
				r.release = func(h *held) error {
					if h.err != nil {
						return nil
					}
					return releaseOnce(h)
				}
			}),
		},
		{
			Name: "releases-the-key", Clause: "HOLD-7",
			Fault: "The release is made with a lease of token 1, as the helper has not kept the one that was granted.",
			Hold: helper(func(r *helperRules) {
				r.release = func(h *held) error {
					ctx, cancel := h.rules.releasing(h)
					defer cancel()
					l := h.lease
					l.Token = 1
					return h.service.Release(ctx, l)
				}
			}),
		},
	}
}

// catching makes an error of a body's panic.
func catching(hold holdFunc) holdFunc {
	return func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
		return hold(ctx, s, key, o, func(ctx context.Context, l lease.Lease) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("the body panicked: %v", p)
				}
			}()
			return body(ctx, l)
		})
	}
}

// errorFaults drop an error.
func errorFaults() []Animal {
	return []Animal{
		{
			Name: "release-error-hides-body-error", Clause: "HOLD-8",
			Fault:  "Where the release fails, its error is returned in place of the body's.",
			Kinds:  []string{"B089"},
			Source: "https://github.com/wolph/portalocker/issues/117",
			Hold: helper(func(r *helperRules) {
				base := r.result
				r.result = func(h *held, body, unsure, released error) error {
					if released != nil {
						body = nil
					}
					return base(h, body, unsure, released)
				}
			}),
		},
		{
			Name: "body-error-hides-release-error", Clause: "HOLD-8",
			Fault:  "Where the body fails, nobody hears that the lease could not be released.",
			Kinds:  []string{"B089"},
			Source: "https://github.com/wolph/portalocker/issues/117",
			Hold: helper(func(r *helperRules) {
				base := r.result
				r.result = func(h *held, body, unsure, released error) error {
					if body != nil && !errors.Is(released, lease.ErrLost) {
						released = nil
					}
					return base(h, body, unsure, released)
				}
			}),
		},
		{
			Name: "loss-hides-body-error", Clause: "HOLD-8",
			Fault: "Where the lease was lost, that is all the caller hears.",
			Hold: helper(func(r *helperRules) {
				base := r.result
				r.result = func(h *held, body, unsure, released error) error {
					if errors.Is(unsure, lease.ErrLost) {
						body = nil
					}
					return base(h, body, unsure, released)
				}
			}),
		},
		{
			Name: "body-error-as-text", Clause: "HOLD-8",
			Fault: "The body's error is put into the text of another one, so that errors.Is does not find it.",
			Hold: helper(func(r *helperRules) {
				base := r.result
				r.result = func(h *held, body, unsure, released error) error {
					if body != nil {
						body = fmt.Errorf("the body failed: %v", body)
					}
					return base(h, body, unsure, released)
				}
			}),
		},
	}
}

// restFaults leave something behind.
func restFaults() []Animal {
	return []Animal{
		{
			Name: "keepalive-outlives-the-body", Clause: "HOLD-10",
			Fault:  "The renewals belong to the process, and go on when the body has returned.",
			Kinds:  []string{"B041"},
			Source: "https://github.com/etcd-io/etcd/issues/17470",
			Hold:   helper(func(r *helperRules) { r.stop = func(h *held) { h.end = func() {} } }),
		},
		{
			Name: "renewer-not-joined", Clause: "HOLD-10",
			Fault: "The goroutine that renews is told to stop, and nobody waits until it has.",
			Hold:  helper(func(r *helperRules) { r.stop = func(h *held) { h.end() } }),
		},
		{
			Name: "timer-not-stopped", Clause: "HOLD-10",
			Fault: "A timer that was to renew the lease for an overlong body is not stopped, and renews once more after it.",
			Hold: helper(func(r *helperRules) {
				base := r.life
				r.life = func(h *held) context.Context {
					time.AfterFunc(2*h.o.TTL, func() {
						if !h.returned.Load() {
							return
						}
						ctx, cancel := context.WithTimeout(context.WithoutCancel(h.caller), time.Second)
						defer cancel()
						_, _ = h.service.Renew(ctx, h.lease, h.o.TTL)
					})
					return base(h)
				}
			}),
		},
		{
			Name: "waits-for-the-callers-end", Clause: "HOLD-10",
			Fault: "A goroutine waits for the caller's context to end, which may live as long as the process.",
			Hold: helper(func(r *helperRules) {
				base := r.life
				r.life = func(h *held) context.Context {
					go func() { <-h.caller.Done() }()
					return base(h)
				}
			}),
		},
		{
			Name: "releases-in-the-background", Clause: "HOLD-10",
			Along:  []string{"HOLD-8"},
			Nature: "nobody is left to hear that the release failed",
			Fault:  "When the body has returned, the lease is released in the background, to save the caller the time.",
			Hold: helper(func(r *helperRules) {
				r.release = func(h *held) error {
					go func() { _ = releaseOnce(h) }()
					return nil
				}
			}),
		},
	}
}
