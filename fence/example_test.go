package fence_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	memlease "github.com/leasekit/lease/impl/memory"
)

// A worker is paused for longer than its lease lasts. Another one takes over, and
// the resource refuses the late write of the first one.
func Example() {
	ctx := context.Background()
	now := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	leases := memlease.New(&memlease.Options{Now: func() time.Time { return now }}).Service("")
	var reports fence.Memory

	first, err := leases.Acquire(ctx, "nightly", "worker-1", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("worker-1 writes:", reports.Write(ctx, "nightly", first.Token, "half of it"))

	now = now.Add(time.Minute) // worker-1 is paused
	second, err := leases.Acquire(ctx, "nightly", "worker-2", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("worker-2 writes:", reports.Write(ctx, "nightly", second.Token, "all of it"))

	err = reports.Write(ctx, "nightly", first.Token, "the other half")
	var stale *fence.StaleError
	if errors.As(err, &stale) {
		fmt.Println("worker-1 is late: token", stale.Token, "after", stale.Highest)
	}

	value, token, err := reports.Read(ctx, "nightly")
	fmt.Println("the report:", value, "- token", token, err)

	// Output:
	// worker-1 writes: <nil>
	// worker-2 writes: <nil>
	// worker-1 is late: token 1 after 2
	// the report: all of it - token 2 <nil>
}

// A resource of your own checks its arguments first, and says who was refused.
func ExampleCheckWrite() {
	fmt.Println(fence.CheckWrite("nightly", 7))
	err := fence.CheckWrite("nightly", 0)
	fmt.Println(errors.Is(err, lease.ErrInvalid), "-", err)

	// Output:
	// <nil>
	// true - lease: invalid argument: the fencing token is 0, want one that was granted (> 0)
}
