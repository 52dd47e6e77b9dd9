package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// serverClock is the clock of a store, moved by hand, so that the examples
// show the same instants every time.
type serverClock struct{ now time.Time }

func (c *serverClock) Now() time.Time          { return c.now }
func (c *serverClock) advance(d time.Duration) { c.now = c.now.Add(d) }

func noon() *serverClock {
	return &serverClock{time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)}
}

// account is a resource that a lease protects. It remembers the highest token
// that it has seen and refuses a lower one: no worker can check in time that
// its lease has not ended meanwhile, but the resource can tell who is late.
type account struct {
	highest int64
	balance int
}

func (a *account) set(token int64, balance int) error {
	if token < a.highest {
		return fmt.Errorf("token %d is stale, %d was seen", token, a.highest)
	}
	a.highest, a.balance = token, balance
	return nil
}

// A worker is paused for longer than its lease lasts. Another one takes over,
// and the fencing token keeps the late write of the first one out.
func Example() {
	ctx, clock := context.Background(), noon()
	var leases lease.Service = memlease.New(&memlease.Options{Now: clock.Now}).Service("accounts")
	var acc account

	first, err := leases.Acquire(ctx, "account-7", "worker-1", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Holder, "has token", first.Token, "until", first.ExpiresAt.Format(time.TimeOnly))

	clock.advance(time.Minute) // worker-1 is paused

	second, err := leases.Acquire(ctx, "account-7", "worker-2", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Holder, "has token", second.Token, "until", second.ExpiresAt.Format(time.TimeOnly))

	fmt.Println("worker-2 writes:", acc.set(second.Token, 200))
	fmt.Println("worker-1 writes:", acc.set(first.Token, 100))
	fmt.Println("balance:", acc.balance)

	// Output:
	// worker-1 has token 1 until 12:00:30
	// worker-2 has token 2 until 12:01:30
	// worker-2 writes: <nil>
	// worker-1 writes: token 1 is stale, 2 was seen
	// balance: 200
}

// A refused Acquire is ErrHeld at once. Compare with errors.Is: a backend may
// wrap the sentinels.
func ExampleService_refused() {
	ctx, clock := context.Background(), noon()
	leases := memlease.New(&memlease.Options{Now: clock.Now}).Service("")

	l, err := leases.Acquire(ctx, "nightly", "worker-1", time.Minute)
	if err != nil {
		log.Fatal(err)
	}

	_, err = leases.Acquire(ctx, "nightly", "worker-2", time.Minute)
	switch {
	case err == nil:
		fmt.Println("worker-2 does the work")
	case errors.Is(err, lease.ErrHeld):
		fmt.Println("somebody else does the work")
	default:
		fmt.Println("the outcome is unknown: try again as worker-2")
	}

	if err := leases.Release(ctx, l); err != nil {
		log.Fatal(err)
	}
	_, err = leases.Acquire(ctx, "nightly", "worker-2", time.Minute)
	fmt.Println("after the release:", err)

	// Output:
	// somebody else does the work
	// after the release: <nil>
}

// Acquire by the holder of a live lease returns the same grant, so a call whose
// reply was lost can simply be repeated.
func ExampleService_repeated() {
	ctx, clock := context.Background(), noon()
	leases := memlease.New(&memlease.Options{Now: clock.Now}).Service("")

	for range 2 {
		l, err := leases.Acquire(ctx, "nightly", "worker-1", time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("token", l.Token, "until", l.ExpiresAt.Format(time.TimeOnly))
		clock.advance(10 * time.Second)
	}

	// Output:
	// token 1 until 12:01:00
	// token 1 until 12:01:10
}

// A lease is renewed for as long as the work lasts. Once it is lost it stays
// lost, even if nobody else has taken the key: stop, and acquire again.
func ExampleService_lost() {
	ctx, clock := context.Background(), noon()
	leases := memlease.New(&memlease.Options{Now: clock.Now}).Service("")

	l, err := leases.Acquire(ctx, "nightly", "worker-1", time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	clock.advance(59 * time.Second)
	if l, err = leases.Renew(ctx, l, time.Minute); err != nil {
		log.Fatal(err)
	}
	fmt.Println("renewed until", l.ExpiresAt.Format(time.TimeOnly))

	clock.advance(time.Minute)
	_, err = leases.Renew(ctx, l, time.Minute)
	fmt.Println("lost:", errors.Is(err, lease.ErrLost))
	_, err = leases.Get(ctx, "nightly")
	fmt.Println("held by nobody:", errors.Is(err, lease.ErrNotHeld))
	fmt.Println("late release:", leases.Release(ctx, l))

	// Output:
	// renewed until 12:01:59
	// lost: true
	// held by nobody: true
	// late release: <nil>
}

// A backend checks its arguments before it touches the store. The error names
// the argument and the rule.
func ExampleCheckAcquire() {
	fmt.Println(lease.CheckAcquire("nightly", "worker-1", time.Minute))

	for _, err := range []error{
		lease.CheckAcquire("", "worker-1", time.Minute),
		lease.CheckAcquire("nightly", strings.Repeat("w", 600), time.Minute),
		lease.CheckAcquire("nightly", "worker-1", 0),
	} {
		fmt.Println(errors.Is(err, lease.ErrInvalid), "-", err)
	}

	// Output:
	// <nil>
	// true - lease: invalid argument: the key is empty, want 1 to 512 bytes
	// true - lease: invalid argument: the holder has 600 bytes, want 1 to 512
	// true - lease: invalid argument: the ttl is 0s, want more than 0
}

func ExampleCheckLease() {
	fmt.Println(lease.CheckLease(lease.Lease{Key: "nightly", Holder: "worker-1", Token: 7}))
	fmt.Println(lease.CheckLease(lease.Lease{Key: "nightly", Holder: "worker-1"}))

	// Output:
	// <nil>
	// lease: invalid argument: the lease's token is 0, want a token that was granted (> 0)
}
