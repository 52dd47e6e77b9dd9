package chaos_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	"github.com/leasekit/lease/internal/tinystore"
)

// A store behind a TCP port, which could be any, is tried with lost replies and
// with being killed.
func ExampleCheck() {
	server, err := tinystore.Start(time.Now, tinystore.Flaws{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Kill()
	target := chaos.Target{
		Name: "tinystore",
		Connect: func(dial chaos.Dial) (lease.Service, func() error, error) {
			client := tinystore.Connect(server.Addr(), dial, tinystore.Flaws{})
			return client, client.Close, nil
		},
		Now:    time.Now,
		Faults: chaos.ProcessKinds(server),
	}
	r, err := chaos.Check(context.Background(), target, chaos.Campaign{
		Seed: 7, Calls: 400, StoreEvery: 20, Only: []string{"link/lose-reply", "process/kill"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict, r.Broken())
	fmt.Println(r.Faults["link/lose-reply"].Hit > 0, r.Faults["process/kill"].Hit > 0)
	// Output:
	// pass []
	// true true
}

// A grant whose reply is lost belongs to its holder all the same.
func ExampleLoseReply() {
	server, err := tinystore.Start(time.Now, tinystore.Flaws{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Kill()
	link, err := chaos.NewLink("of the worker")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer link.Close()
	client := tinystore.Connect(server.Addr(), link.Dial, tinystore.Flaws{})
	defer client.Close()
	ctx := context.Background()

	f := chaos.LoseReply(link, chaos.Aim{Nth: 1})
	if err := f.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Acquire(ctx, "job", "a", time.Minute)
	fmt.Println(err != nil, f.Hits())
	if err := f.Heal(ctx); err != nil {
		fmt.Println(err)
		return
	}
	l, err := client.Acquire(ctx, "job", "a", time.Minute)
	fmt.Println(l.Token, err)
	// Output:
	// true 1
	// 1 <nil>
}
