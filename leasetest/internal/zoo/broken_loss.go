package zoo

import (
	"context"
	"errors"
	"time"

	"github.com/leasekit/lease"
)

// lossFaults break what a helper does when the store says that the lease is lost.
func lossFaults() []Animal {
	return []Animal{
		{
			Name: "loss-not-told", Clause: "HOLD-3",
			Fault:  "ErrLost is an error like others: the renewal is tried again, and the body hears of it when the ttl is over.",
			Kinds:  []string{"B012", "B087"},
			Source: "https://github.com/Azure/iot-operations-sdks/pull/759",
			Hold:   helper(func(r *helperRules) { r.lost = func(*held, error) {} }),
		},
		{
			Name: "loss-told-late", Clause: "HOLD-3",
			Fault:  "That the lease is lost is told by the next tick of a watcher, a second later.",
			Kinds:  []string{"B087"},
			Source: "https://github.com/madelson/DistributedLock/issues/133",
			Hold: helper(func(r *helperRules) {
				r.lost = func(h *held, err error) {
					select {
					case <-time.After(time.Second):
					case <-h.living.Done():
					}
					h.lose(err)
				}
			}),
		},
		{
			Name: "loss-without-a-cause", Clause: "HOLD-3",
			Fault: "The body's context is cancelled without a cause, so that the body takes the loss for a shutdown.",
			Hold:  helper(func(r *helperRules) { r.cause = func(error) error { return nil } }),
		},
		{
			Name: "loss-not-returned", Clause: "HOLD-3",
			Fault:  "The body is told of the loss, and the caller gets nothing but the body's error.",
			Kinds:  []string{"B024"},
			Source: "https://github.com/fabric8io/kubernetes-client/issues/5463",
			Hold: helper(func(r *helperRules) {
				base := r.result
				r.result = func(h *held, body, unsure, released error) error {
					if h.loss() != nil {
						unsure = nil
					}
					return base(h, body, unsure, released)
				}
			}),
		},
		{
			Name: "body-error-hides-loss", Clause: "HOLD-3",
			Fault: "Where the body returns an error too, the loss is dropped.",
			Hold: helper(func(r *helperRules) {
				base := r.result
				r.result = func(h *held, body, unsure, released error) error {
					if body != nil && h.loss() != nil {
						unsure = nil
					}
					return base(h, body, unsure, released)
				}
			}),
		},
		{
			Name: "acquires-again-in-silence", Clause: "HOLD-3",
			Fault:  "A lease that is lost is acquired again, and if that works the body never hears of it.",
			Kinds:  []string{"B032"},
			Source: "https://github.com/apache/curator/issues/727",
			Hold: helper(func(r *helperRules) {
				r.lost = func(h *held, err error) {
					asked := time.Now()
					l, again := h.service.Acquire(h.living, h.key, h.holder, h.o.TTL)
					if again != nil {
						h.lose(err)
						return
					}
					h.mu.Lock()
					defer h.mu.Unlock()
					h.lease, h.until = l, h.rules.certain(h, asked, time.Now(), l)
					h.changed()
				}
			}),
		},
	}
}

// deadlineFaults let a body run on when its lease may have ended.
func deadlineFaults() []Animal {
	return []Animal{
		{
			Name: "no-deadline", Clause: "HOLD-4",
			Fault:  "Only ErrLost ends the body: renewals that fail or hang are tried for ever.",
			Kinds:  []string{"B077"},
			Source: "https://github.com/hashicorp/consul/issues/18271",
			Hold:   helper(func(r *helperRules) { r.watches = false }),
		},
		{
			Name: "hung-renewal-blocks", Clause: "HOLD-4",
			Fault:  "A renewal has no time limit, and nothing is looked at while it hangs.",
			Kinds:  []string{"B078"},
			Source: "https://github.com/Soju06/codex-lb/pull/1253",
			Hold: helper(func(r *helperRules) {
				r.inline = true
				r.renewal = func(h *held) (context.Context, context.CancelFunc) { return context.WithCancel(h.living) }
			}),
		},
		{
			Name: "renewal-may-take-a-minute", Clause: "HOLD-4",
			Fault:  "The time limit of a renewal is that of the client, a minute, whatever the ttl is, and nothing is looked at meanwhile.",
			Kinds:  []string{"B078"},
			Source: "https://github.com/portworx/kvdb/pull/71",
			Hold: helper(func(r *helperRules) {
				r.inline = true
				r.renewal = func(h *held) (context.Context, context.CancelFunc) { return context.WithTimeout(h.living, time.Minute) }
			}),
		},
		{
			Name: "waits-for-the-client", Clause: "HOLD-4",
			Fault:  "Renewals have a time limit, and the body is cancelled when the client has noticed, which may take longer.",
			Kinds:  []string{"B078"},
			Source: "https://github.com/aegra/aegra/pull/547",
			Hold:   helper(func(r *helperRules) { r.inline = true }),
		},
		{
			Name: "deadline-from-the-reply", Clause: "HOLD-4",
			Fault:  "The ttl is counted from when the reply came, and not from before the request was sent.",
			Kinds:  []string{"B054"},
			Source: "https://github.com/kubernetes/client-go/issues/448",
			Hold: helper(func(r *helperRules) {
				r.certain = func(h *held, _, replied time.Time, _ lease.Lease) time.Time { return replied.Add(h.o.TTL - h.o.Margin) }
			}),
		},
		{
			Name: "deadline-from-expires-at", Clause: "HOLD-4",
			Along:  []string{"HOLD-5"},
			Nature: "a wall clock that is behind lets the body go on, and one that is ahead ends it at once",
			Fault:  "The expiry that the store reports is compared with the worker's wall clock.",
			Kinds:  []string{"B042"},
			Hold: helper(func(r *helperRules) {
				r.certain = func(h *held, _, _ time.Time, l lease.Lease) time.Time { return l.ExpiresAt.Add(-h.o.Margin) }
			}),
		},
		{
			Name: "margin-not-looked-at", Clause: "HOLD-4",
			Fault: "The margin for clocks that drift is an option that nothing looks at.",
			Hold: helper(func(r *helperRules) {
				r.certain = func(h *held, asked, _ time.Time, _ lease.Lease) time.Time { return asked.Add(h.o.TTL) }
			}),
		},
		{
			Name: "grace-period", Clause: "HOLD-4",
			Fault: "The body gets a grace of a second after the deadline, for the renewal that may just be coming.",
			Hold:  helper(func(r *helperRules) { r.late = func(*held) time.Duration { return time.Second } }),
		},
		{
			Name: "any-reply-is-a-renewal", Clause: "HOLD-4",
			Fault:  "After a renewal of unknown outcome the helper goes on believing that it holds the lease.",
			Kinds:  []string{"B085"},
			Source: "https://github.com/oban-bg/oban/issues/1488",
			Hold: helper(func(r *helperRules) {
				r.failed = func(h *held, err error) {
					if errors.Is(err, context.DeadlineExceeded) {
						return
					}
					h.mu.Lock()
					defer h.mu.Unlock()
					h.until = time.Now().Add(h.o.TTL - h.o.Margin)
					h.changed()
				}
			}),
		},
		{
			Name: "loss-by-counting", Clause: "HOLD-4",
			Fault:  "The lease counts as lost after twenty renewals in a row that failed, however long that takes.",
			Kinds:  []string{"B077"},
			Source: "https://github.com/cirello-io/pglock/issues/18",
			Hold: helper(func(r *helperRules) {
				r.watches = false
				r.failed = func(h *held, err error) {
					h.mu.Lock()
					misses := h.misses
					h.mu.Unlock()
					if misses == 20 {
						h.lose(errors.Join(lease.ErrLost, err))
					}
				}
			}),
		},
	}
}
