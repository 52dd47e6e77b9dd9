package leasetest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/leasetest"
)

// openMemory makes one empty store of the memory backend, with a server clock
// that stands still until the suite moves it.
func openMemory(testing.TB) *leasetest.Harness {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	store := memlease.New(&memlease.Options{Now: func() time.Time { return now }})
	return &leasetest.Harness{
		Connect: func(_ testing.TB, w leasetest.Worker) lease.Service {
			return store.Service(w.Namespace)
		},
		Clock: &leasetest.Clock{
			Now:    func() time.Time { return now },
			Move:   func(d time.Duration) { now = now.Add(d) },
			Freeze: func(bool) {}, // it never runs
		},
	}
}

// In a test of the backend, Run is all there is to call:
//
//	func TestConformance(t *testing.T) { leasetest.Run(t, openMemory) }
func ExampleRun() {
	var t *testing.T // the test's own
	_ = func() { leasetest.Run(t, openMemory) }
}

// Outside of go test, Check returns the report.
func ExampleCheck() {
	report, err := leasetest.Check(context.Background(), openMemory, &leasetest.Options{Name: "memory"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, _ := report.Result("EXPIRY-2")
	fmt.Println(result.ID, result.Verdict)
	result, _ = report.Result("TOKEN-8")
	fmt.Println(result.ID, result.Verdict+":", result.Reason)
	fmt.Println("failed:", report.Totals[leasetest.Fail])
	// Output:
	// EXPIRY-2 pass
	// TOKEN-8 not checked: needs a counter that can be set: Harness.SeedToken
	// failed: 0
}

// openFenced makes one empty protected resource.
func openFenced(testing.TB) *leasetest.FenceHarness {
	var m fence.Memory
	return &leasetest.FenceHarness{Connect: func(testing.TB) fence.Resource { return &m }}
}

// In a test of a protected resource, RunFence is all there is to call:
//
//	func TestFence(t *testing.T) { leasetest.RunFence(t, openFenced) }
func ExampleRunFence() {
	var t *testing.T // the test's own
	_ = func() { leasetest.RunFence(t, openFenced) }
}

// Outside of go test, CheckFence returns the report.
func ExampleCheckFence() {
	report, err := leasetest.CheckFence(context.Background(), openFenced, &leasetest.Options{Name: "memory"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range report.Clauses {
		fmt.Println(c.ID, c.Verdict)
	}
	result, _ := report.Result("FENCE-4")
	fmt.Println(result.Reason)
	// Output:
	// FENCE-1 pass
	// FENCE-2 pass
	// FENCE-3 pass
	// FENCE-4 not checked
	// FENCE-5 pass
	// the harness has no Restart
}

// A hold helper of another shape joins by an adapter, which refuses the options that
// the helper has no setting for. What it is known not to keep is declared.
func ExampleHelper() {
	// withLock stands for the helper: it neither waits nor has a margin.
	withLock := func(ctx context.Context, s lease.Service, name string, ttl time.Duration, work func(ctx context.Context, token int64) error) error {
		return lease.Hold(ctx, s, name, &lease.HoldOptions{TTL: ttl}, func(ctx context.Context, l lease.Lease) error {
			return work(ctx, l.Token)
		})
	}
	helper := leasetest.Helper{
		Hold: func(ctx context.Context, s lease.Service, key string, o *lease.HoldOptions, body func(context.Context, lease.Lease) error) error {
			if o.Wait > 0 || o.Margin > 0 {
				return fmt.Errorf("%w: withLock has no such setting", lease.ErrInvalid)
			}
			return withLock(ctx, s, key, o.TTL, func(ctx context.Context, token int64) error {
				return body(ctx, lease.Lease{Key: key, Token: token})
			})
		},
		Deviations: map[string]string{"HOLD-1": "the body gets the token alone"},
	}
	report, err := helper.Check(context.Background(), &leasetest.Options{Name: "withLock"}) // in a test: helper.Run(t)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"HOLD-1", "HOLD-4"} {
		result, _ := report.Result(id)
		fmt.Println(result.ID, result.Verdict+":", result.Reason)
	}
	// Output:
	// HOLD-1 deviation: the body gets the token alone
	// HOLD-4 pass: in part: one of its scenarios needs HoldOptions.Margin, which the helper refuses
}
