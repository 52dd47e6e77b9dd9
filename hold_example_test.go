package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// Hold runs a body under a lease: nobody else does the same meanwhile.
func ExampleHold() {
	leases := memlease.New(nil).Service("jobs")

	err := lease.Hold(context.Background(), leases, "nightly", nil, func(ctx context.Context, l lease.Lease) error {
		fmt.Println("working under token", l.Token)
		return nil // or the error of the work; ctx ends if the lease is lost
	})
	fmt.Println("done:", err)

	_, err = leases.Get(context.Background(), "nightly")
	fmt.Println("released:", errors.Is(err, lease.ErrNotHeld))

	// Output:
	// working under token 1
	// done: <nil>
	// released: true
}

// A key that is held by another worker is ErrHeld at once, unless Hold is told to
// wait. Then it waits until its context ends.
func ExampleHold_held() {
	leases := memlease.New(nil).Service("jobs")
	if _, err := leases.Acquire(context.Background(), "nightly", "another", time.Hour); err != nil {
		log.Fatal(err)
	}
	body := func(context.Context, lease.Lease) error { return errors.New("never reached") }

	err := lease.Hold(context.Background(), leases, "nightly", nil, body)
	fmt.Println("held by another:", errors.Is(err, lease.ErrHeld))

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	err = lease.Hold(ctx, leases, "nightly", &lease.HoldOptions{Wait: 5 * time.Millisecond}, body)
	fmt.Println("waited in vain:", errors.Is(err, context.DeadlineExceeded))

	// Output:
	// held by another: true
	// waited in vain: true
}

// The body learns from its context that the lease is lost, and from the cause
// why. What it wrote meanwhile only a fence can refuse: hence the token.
func ExampleHold_lost() {
	store := memlease.New(nil)
	leases := store.Service("jobs")
	options := &lease.HoldOptions{TTL: 60 * time.Millisecond, Holder: "worker-1"}

	err := lease.Hold(context.Background(), leases, "nightly", options, func(ctx context.Context, l lease.Lease) error {
		// Somebody with a heavy hand takes the lease away.
		if err := leases.Release(ctx, l); err != nil {
			return err
		}
		<-ctx.Done()
		fmt.Println("cancelled, because it is lost:", errors.Is(context.Cause(ctx), lease.ErrLost))
		return ctx.Err()
	})
	fmt.Println("lost:", errors.Is(err, lease.ErrLost))
	fmt.Println("the body's own error:", errors.Is(err, context.Canceled))

	// Output:
	// cancelled, because it is lost: true
	// lost: true
	// the body's own error: true
}
