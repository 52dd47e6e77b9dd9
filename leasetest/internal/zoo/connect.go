package zoo

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// shareClients lets all workers of a namespace have the same client.
func shareClients(h *leasetest.Harness) {
	var mu sync.Mutex
	clients := map[string]lease.Service{}
	connect := h.Connect
	h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service {
		mu.Lock()
		defer mu.Unlock()
		if clients[w.Namespace] == nil {
			clients[w.Namespace] = connect(t, leasetest.Worker{Namespace: w.Namespace})
		}
		return clients[w.Namespace]
	}
}

// refuseBubbles fails to connect where the year is one of a bubble's.
func refuseBubbles(h *leasetest.Harness) {
	connect := h.Connect
	h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service {
		if year := time.Now().UTC().Year(); year < 2020 || year > 2050 {
			t.Fatalf("the certificate is not valid in %d", year)
		}
		return connect(t, w)
	}
}

// slowDown lets every Acquire spin for a while.
func slowDown(h *leasetest.Harness) {
	connect := h.Connect
	h.Connect = func(t testing.TB, w leasetest.Worker) lease.Service { return slow{connect(t, w)} }
}

type slow struct{ lease.Service }

func (s slow) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	for n := range 50_000 {
		s.work(n)
	}
	return s.Service.Acquire(ctx, key, holder, ttl)
}

//go:noinline
func (slow) work(int) {}
