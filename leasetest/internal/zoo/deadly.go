package zoo

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// Deadly returns hostile backends that no guard in their own process can hold:
// they have to be judged in a child process, and its death is the verdict.
func Deadly() []Animal {
	return []Animal{
		{Name: "panics-elsewhere", Clause: "ERR-7", Fault: "A goroutine of its own panics.", Open: deadly(func() { go panic("in a goroutine of the backend") })},
		{Name: "exits", Clause: "ERR-7", Fault: "A call ends the process with status 3.", Open: deadly(func() { os.Exit(3) })},
		{Name: "exits-with-success", Clause: "ERR-7", Fault: "A call ends the process with status 0, as if all were well.", Open: deadly(func() { os.Exit(0) })},
		{Name: "grows-without-end", Clause: "ERR-7", Fault: "A call takes memory until there is none.", Open: deadly(grow)},
		{Name: "overflows-the-stack", Clause: "ERR-7", Fault: "A call calls itself without end.", Open: deadly(func() { runtime.KeepAlive(deepen(1)) })},
		{Name: "unlocked-map", Clause: "ERR-7", Fault: "Calls write one map without a lock, which Go's runtime ends the process for.", Open: hostileStore(unlockedMap)},
		{Name: "unlocked-number", Clause: "ERR-7", Fault: "Calls write one number without a lock: nothing but the race detector sees it.", Open: hostileStore(unlockedNumber)},
	}
}

// deadly acts after some calls, so that the suite is well under way.
func deadly(act func()) func(testing.TB) *leasetest.Harness {
	return hostileStore(func() func(lease.Service) lease.Service {
		var calls atomic.Int64
		return func(s lease.Service) lease.Service {
			return acting{s, getting, func() {
				if calls.Add(1) == 5 {
					act()
				}
			}}
		}
	})
}

func grow() {
	var hoard [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1 // memory that is not written is not taken
		}
		hoard = append(hoard, b)
		runtime.KeepAlive(hoard)
	}
}

//go:noinline
func deepen(n int) int {
	if n == 0 {
		return 0
	}
	return deepen(n+1) + 1
}

func unlockedMap() func(lease.Service) lease.Service {
	calls := map[string]int{}
	return func(s lease.Service) lease.Service {
		return watching{s, func(key string) {
			// The race is wide, so that it is met.
			for range 100 {
				calls[key]++
			}
		}}
	}
}

func unlockedNumber() func(lease.Service) lease.Service {
	var calls int
	return func(s lease.Service) lease.Service {
		return watching{s, func(string) { calls++ }}
	}
}

// watching tells of the key of every Acquire.
type watching struct {
	lease.Service
	acquire func(key string)
}

func (w watching) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	w.acquire(key)
	return w.Service.Acquire(ctx, key, holder, ttl)
}
