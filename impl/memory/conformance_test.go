package memlease_test

import (
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/leasetest"
)

// clock is a server clock that the suite moves.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time       { return c.now }
func (c *clock) Move(d time.Duration) { c.now = c.now.Add(d) }
func (c *clock) Freeze(stand bool)    {}
func newClock() *clock                { return &clock{time.Date(2031, 5, 6, 7, 8, 9, 123456, time.UTC)} }
func (c *clock) harness() *leasetest.Clock {
	return &leasetest.Clock{Now: c.Now, Move: c.Move, Freeze: c.Freeze}
}

func open(t testing.TB) *leasetest.Harness {
	c := newClock()
	store := memlease.New(&memlease.Options{Now: c.Now})
	return &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			return store.Service(w.Namespace)
		},
		Clock: c.harness(),
		SeedToken: func(t testing.TB, key string, token int64) {
			store.Service("").SeedToken(key, token)
		},
		Unchecked: map[string]string{
			"ERR-1": "nothing in it can hang: a call never waits for more than a mutex",
			"ERR-4": "there is no network between a service and its store",
			"ERR-9": "nobody else can write the records",

			"EXPIRY-8": "a call waits for no lock that another session could hold",
			"TOKEN-10": "what is in memory ends with its process",
			"EXPIRY-9": "what is in memory ends with its process",
			"ERR-5":    "what is in memory ends with its process",
		},
	}
}

func TestConformance(t *testing.T) { leasetest.Run(t, open) }

func FuzzConformance(f *testing.F) { leasetest.Fuzz(f, open) }
