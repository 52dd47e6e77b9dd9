package redislease

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// TestConformance checks the backend on a Redis in this process, whose clock
// the suite moves. Module integration checks it on a real one.
func TestConformance(t *testing.T) { leasetest.Run(t, openHarness) }

func openHarness(t testing.TB) *leasetest.Harness {
	st := newStore(t)
	var mu sync.Mutex // guards the clock
	st.setClock(time.Date(2031, 5, 6, 7, 8, 9, 123456000, time.UTC))

	names := newNames(DefaultPrefix)
	damage := map[string]func(t testing.TB, key string){}
	for name, do := range map[string]func(hash, counter string){
		"another type":                func(hash, _ string) { st.Del(hash); st.Set(hash, "x") },
		"a hash of other fields":      func(hash, _ string) { st.Del(hash); st.HSet(hash, "owner", "a") },
		"a field missing":             func(hash, _ string) { st.HDel(hash, "expires") },
		"a field of the future":       func(hash, _ string) { st.HSet(hash, "schema", "2") },
		"a token that is no number":   func(hash, _ string) { st.HSet(hash, "token", "x") },
		"a token of 0":                func(hash, _ string) { st.HSet(hash, "token", "0") },
		"an expiry that is no number": func(hash, _ string) { st.HSet(hash, "expires", "soon") },
		"a holder too long":           func(hash, _ string) { st.HSet(hash, "holder", strings.Repeat("x", lease.MaxName+1)) },
		"a counter that is no number": func(_, counter string) { st.Set(counter, "x") },
		"no counter":                  func(_, counter string) { st.Del(counter) },
	} {
		damage[name] = func(t testing.TB, key string) { do(names.of(key)) }
	}

	return &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			return New(newClient(t, &redis.Options{Addr: st.Addr(), Dialer: w.Dial}), &Options{Prefix: w.Namespace})
		},
		Clock: &leasetest.Clock{
			Now: func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				return st.clock
			},
			Move: func(d time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				// Redis reports its clock in µs.
				before := st.clock
				st.setClock(before.Add(d).Truncate(time.Microsecond))
				st.passTTLs(st.clock.Sub(before))
			},
			Freeze: func(bool) {}, // it always stands still
		},
		SeedToken: func(t testing.TB, key string, token int64) { seedCounter(t, st, names, key, token) },
		Damage:    damage,
		Restart: func(t testing.TB) {
			st.Close()
			if err := st.Restart(); err != nil {
				t.Fatal(err)
			}
		},
		Unchecked: map[string]string{
			"EXPIRY-8": "a Redis in this process lets nobody wait; module integration checks it on a real one",
		},
	}
}
