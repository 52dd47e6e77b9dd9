package zoo

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// HostileHelpers returns hold helpers that hang, panic and do nothing at all.
// Clause is the one that has to fail, if one has.
func HostileHelpers(t testing.TB) []Animal {
	outside := make(chan struct{})
	var over atomic.Bool
	t.Cleanup(func() { close(outside); over.Store(true) })
	var mu sync.Mutex
	return []Animal{
		{
			Name: "does-nothing", Clause: "HOLD-6", Fault: "It returns nil.",
			Hold: func(context.Context, lease.Service, string, *lease.HoldOptions, func(context.Context, lease.Lease) error) error {
				return nil
			},
		},
		{
			Name: "hangs", Fault: "It waits for ever, before it does anything.",
			Hold: func(context.Context, lease.Service, string, *lease.HoldOptions, func(context.Context, lease.Lease) error) error {
				select {}
			},
		},
		{
			Name: "hangs-outside", Fault: "It waits for something that is not in the bubble.",
			Hold: func(context.Context, lease.Service, string, *lease.HoldOptions, func(context.Context, lease.Lease) error) error {
				<-outside
				return nil
			},
		},
		{
			Name: "spins-in-place", Fault: "It keeps a processor busy, and lets no time pass.",
			Hold: func(context.Context, lease.Service, string, *lease.HoldOptions, func(context.Context, lease.Lease) error) error {
				for !over.Load() {
					runtime.Gosched()
				}
				return nil
			},
		},
		{
			Name: "one-at-a-time", Fault: "It holds a mutex while the body runs, so that a second call waits where no virtual time passes.",
			Hold: func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
				mu.Lock()
				defer mu.Unlock()
				return BaseHelper().Hold(ctx, s, key, o, body)
			},
		},
		{
			Name: "panics-itself", Clause: "HOLD-1", Fault: "It panics before it does anything.",
			Hold: func(context.Context, lease.Service, string, *lease.HoldOptions, func(context.Context, lease.Lease) error) error {
				panic("a fault of the helper")
			},
		},
		{
			Name: "panics-afterwards", Clause: "HOLD-7", Fault: "It panics when the body has returned.",
			Hold: func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
				err := BaseHelper().Hold(ctx, s, key, o, body)
				if err == nil {
					panic("a fault of the helper")
				}
				return err
			},
		},
		{
			Name: "ends-its-goroutine", Clause: "HOLD-1", Fault: "It ends the goroutine that calls it.",
			Hold: func(context.Context, lease.Service, string, *lease.HoldOptions, func(context.Context, lease.Lease) error) error {
				runtime.Goexit()
				return nil
			},
		},
		{
			Name: "renews-without-a-pause", Fault: "It renews again as soon as it has renewed.",
			Hold: helper(func(r *helperRules) { r.every = func(*held) time.Duration { return 0 } }),
		},
	}
}

// DeadlyHelpers returns hold helpers that take their process down.
func DeadlyHelpers() []Animal {
	return []Animal{
		{
			Name: "body-on-its-own", Clause: "HOLD-7", Fault: "The body runs on a goroutine of its own, and nothing catches its panic.",
			Hold: func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
				return BaseHelper().Hold(ctx, s, key, o, func(ctx context.Context, l lease.Lease) error {
					done := make(chan error)
					go func() { done <- body(ctx, l) }()
					return <-done
				})
			},
		},
		{
			Name: "exits-on-loss", Fault: "When the lease is lost it ends the process.",
			Hold: helper(func(r *helperRules) { r.lost = func(*held, error) { os.Exit(3) } }),
		},
	}
}
