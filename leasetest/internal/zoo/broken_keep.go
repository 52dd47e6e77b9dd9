package zoo

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/leasekit/lease"
)

// keepFaults break the renewals while a body runs.
func keepFaults() []Animal {
	return []Animal{
		{
			Name: "never-renews", Clause: "HOLD-2",
			Fault: "The lease is not renewed at all: its ttl is long enough.",
			Hold:  helper(func(r *helperRules) { r.renews = func(*held) bool { return false } }),
		},
		{
			Name: "renews-every-10s", Clause: "HOLD-2",
			Fault:  "Renewals come every ten seconds, whatever the ttl is.",
			Kinds:  []string{"B083"},
			Source: "https://github.com/digitalocean/go-workers2/pull/86",
			Hold:   helper(func(r *helperRules) { r.every = func(*held) time.Duration { return 10 * time.Second } }),
		},
		{
			Name: "renews-at-the-last-moment", Clause: "HOLD-2",
			Fault:  "A renewal is due when a tenth of the ttl is left, which leaves no room for a second one.",
			Kinds:  []string{"B083"},
			Source: "https://github.com/langflow-ai/langflow/pull/15233",
			Hold: helper(func(r *helperRules) {
				r.every = func(h *held) time.Duration { return h.o.TTL - h.o.Margin - h.o.TTL/10 }
			}),
		},
		{
			Name: "renews-once", Clause: "HOLD-2",
			Fault:  "The renewal is a timer that nobody sets again after it fired.",
			Kinds:  []string{"B080"},
			Source: "https://github.com/cirello-io/dynamolock/issues/14",
			Hold: helper(func(r *helperRules) {
				r.every = func(h *held) time.Duration {
					if time.Since(h.got) > 0 {
						return 1<<63 - 1
					}
					return h.o.TTL / 3
				}
			}),
		},
		{
			Name: "renewer-not-restarted", Clause: "HOLD-2",
			Fault:  "A client has one renewer, which stops with the first lease and is not started again for the next.",
			Kinds:  []string{"B080"},
			Source: "https://github.com/redisson/redisson/issues/3712",
			Hold: helper(func(r *helperRules) {
				var started sync.Map
				r.renews = func(h *held) bool {
					key := [2]any{h.service, h.key}
					_, before := started.LoadOrStore(key, true)
					return !before
				}
			}),
		},
		{
			Name: "renewals-end-with-the-caller", Clause: "HOLD-2",
			Fault: "Renewals run on the caller's context: when that is cancelled they stop, though the body has not come to its end.",
			Hold:  helper(func(r *helperRules) { r.life = func(h *held) context.Context { return h.caller } }),
		},
		{
			Name: "one-renewer-for-all", Clause: "HOLD-2",
			Fault:  "A client renews all its leases one after the other: one call that hangs lets the others lapse.",
			Kinds:  []string{"B079"},
			Source: "https://github.com/yeongseon/azure-functions-langgraph-python/pull/391",
			Hold: helper(func(r *helperRules) {
				var queues sync.Map
				base := r.renewal
				r.renewal = func(h *held) (context.Context, context.CancelFunc) {
					q, _ := queues.LoadOrStore(h.service, make(chan struct{}, 1))
					queue := q.(chan struct{})
					select {
					case queue <- struct{}{}:
					case <-h.living.Done():
						return base(h)
					}
					ctx, cancel := context.WithCancel(h.living)
					return ctx, func() { cancel(); <-queue }
				}
			}),
		},
		{
			Name: "first-return-stops-all", Clause: "HOLD-2",
			Fault:  "A client has one renewer for all its leases, and whoever gives one back stops it.",
			Kinds:  []string{"B082"},
			Source: "https://github.com/redisson/redisson/pull/6516",
			Hold: helper(func(r *helperRules) {
				var mu sync.Mutex
				renewers := map[lease.Service][]context.CancelFunc{}
				r.life = func(h *held) context.Context {
					ctx, stop := context.WithCancel(context.WithoutCancel(h.caller))
					mu.Lock()
					defer mu.Unlock()
					renewers[h.service] = append(renewers[h.service], stop)
					return ctx
				}
				base := r.stop
				r.stop = func(h *held) {
					base(h)
					mu.Lock()
					defer mu.Unlock()
					for _, stop := range renewers[h.service] {
						stop()
					}
					delete(renewers, h.service)
				}
			}),
		},
		{
			Name: "no-retry-after-an-error", Clause: "HOLD-2",
			Fault: "The loop that renews ends with the first error, and says nothing.",
			Hold: helper(func(r *helperRules) {
				r.retry = func(*held) time.Duration { return 1<<63 - 1 }
			}),
		},
	}
}

// patienceFaults give a lease up that is still certain.
func patienceFaults() []Animal {
	return []Animal{
		{
			Name: "first-error-is-loss", Clause: "HOLD-5",
			Fault:  "A renewal that fails in any way is a loss.",
			Kinds:  []string{"B076"},
			Source: "https://github.com/cirello-io/pglock/issues/40",
			Hold:   helper(func(r *helperRules) { r.failed = func(h *held, err error) { h.lose(errors.Join(lease.ErrLost, err)) } }),
		},
		{
			Name: "second-error-is-loss", Clause: "HOLD-5",
			Fault:  "Two renewals that fail in a row are a loss, however soon they came.",
			Kinds:  []string{"B076"},
			Source: "https://github.com/owainlewis/machinist/issues/162",
			Hold: helper(func(r *helperRules) {
				r.failed = func(h *held, err error) {
					h.mu.Lock()
					misses := h.misses
					h.mu.Unlock()
					if misses == 2 {
						h.lose(errors.Join(lease.ErrLost, err))
					}
				}
			}),
		},
		{
			Name: "timeout-is-loss", Clause: "HOLD-5",
			Fault:  "A renewal that is not answered within a tenth of the ttl is a loss.",
			Kinds:  []string{"B076"},
			Source: "https://github.com/Azure/azure-webjobs-sdk/issues/2454",
			Hold: helper(func(r *helperRules) {
				r.renewal = func(h *held) (context.Context, context.CancelFunc) {
					return context.WithTimeout(h.living, h.o.TTL/10)
				}
				r.failed = func(h *held, err error) {
					if errors.Is(err, context.DeadlineExceeded) {
						h.lose(errors.Join(lease.ErrLost, err))
					}
				}
			}),
		},
		{
			Name: "deadline-never-moves", Clause: "HOLD-5",
			Fault: "Renewals do not move the deadline of the body, which stays that of the grant.",
			Hold: helper(func(r *helperRules) {
				r.certain = func(h *held, _, _ time.Time, _ lease.Lease) time.Time { return h.asked.Add(h.o.TTL - h.o.Margin) }
			}),
		},
	}
}
