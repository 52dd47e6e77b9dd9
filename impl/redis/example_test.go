package redislease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
)

// Two workers want the same job, and the second one gets it when the first has
// released it. A Redis in this process, whose clock stands still, takes the
// place of the real one.
func Example() {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	server.SetTime(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC))

	leases, err := redislease.Open("redis://"+server.Addr(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer leases.Close()

	ctx := context.Background()
	first, err := leases.Acquire(ctx, "nightly-report", "worker-1", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Holder, "has token", first.Token, "until", first.ExpiresAt.Format(time.TimeOnly))

	_, err = leases.Acquire(ctx, "nightly-report", "worker-2", 30*time.Second)
	fmt.Println("worker-2 is refused:", errors.Is(err, lease.ErrHeld))

	if err := leases.Release(ctx, first); err != nil {
		log.Fatal(err)
	}
	second, err := leases.Acquire(ctx, "nightly-report", "worker-2", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Holder, "has token", second.Token)

	// Output:
	// worker-1 has token 1 until 12:00:30
	// worker-2 is refused: true
	// worker-2 has token 2
}

func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "redis.example:6379"})
	defer client.Close()

	reports := redislease.New(client, &redislease.Options{Prefix: "reports:"})
	invoices := redislease.New(client, &redislease.Options{Prefix: "invoices:"})

	// The two services share the connections and nothing else.
	_, _ = reports, invoices
}

func ExampleOpen() {
	leases, err := redislease.Open("redis://worker:secret@redis.example:6379/0", nil)
	if err != nil {
		log.Fatal(err) // names the server, not the password
	}
	defer leases.Close()
}
