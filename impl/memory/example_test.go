package memlease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// One store serves a whole process. Services of different namespaces share
// nothing, whatever their keys are.
func Example() {
	ctx := context.Background()
	store := memlease.New(nil)
	reports, invoices := store.Service("reports"), store.Service("invoices")

	l, err := reports.Acquire(ctx, "nightly", "worker-1", time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	defer reports.Release(ctx, l)

	_, err = reports.Acquire(ctx, "nightly", "worker-2", time.Minute)
	fmt.Println("reports, worker-2: held:", errors.Is(err, lease.ErrHeld))
	_, err = invoices.Acquire(ctx, "nightly", "worker-2", time.Minute)
	fmt.Println("invoices, worker-2:", err)

	// Output:
	// reports, worker-2: held: true
	// invoices, worker-2: <nil>
}

// With a server clock of its own, a test moves time instead of waiting.
func ExampleOptions() {
	ctx := context.Background()
	now := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	leases := memlease.New(&memlease.Options{Now: func() time.Time { return now }}).Service("")

	l, err := leases.Acquire(ctx, "nightly", "worker-1", time.Hour)
	if err != nil {
		log.Fatal(err)
	}

	now = l.ExpiresAt.Add(-time.Nanosecond)
	_, err = leases.Get(ctx, "nightly")
	fmt.Println("just before its end:", err)

	now = l.ExpiresAt
	_, err = leases.Get(ctx, "nightly")
	fmt.Println("at its end:", err)

	// Output:
	// just before its end: <nil>
	// at its end: lease: not held
}
