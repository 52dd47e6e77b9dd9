package integration

import (
	"testing"
	"time"

	"github.com/leasekit/lease/chaos/clock"
	"github.com/leasekit/lease/leasetest"
)

// suiteClock is a server's clock for the suite. The unit is what the server
// counts time in.
func suiteClock(c *clock.Clock, unit time.Duration) *leasetest.Clock {
	return &leasetest.Clock{
		Now:    func() time.Time { return c.Now().Truncate(unit) },
		Move:   c.Move,
		Freeze: c.Freeze,
	}
}

// moveClauses can't be checked on a server whose clock can be read and not moved,
// crashClauses on one that can't be crashed.
var (
	moveClauses  = []string{"TOKEN-5", "EXPIRY-2", "EXPIRY-6", "EXPIRY-7"}
	crashClauses = []string{"TOKEN-10", "EXPIRY-9", "ERR-5"}
)

// cantCheck notes why some clauses can't be checked with the harness.
func cantCheck(h *leasetest.Harness, why string, clauses ...string) {
	if h.Unchecked == nil {
		h.Unchecked = map[string]string{}
	}
	for _, id := range clauses {
		h.Unchecked[id] = why
	}
}

// crashable is a server that a test may crash if the test started it.
type crashable interface {
	Started() bool
	Restart(t testing.TB)
}

// crashes lets the suite crash the server, if it may.
func crashes(h *leasetest.Harness, srv crashable) *leasetest.Harness {
	if srv.Started() {
		h.Restart = srv.Restart
	} else {
		cantCheck(h, "the server was not started by the test, so it can't be crashed", crashClauses...)
	}
	return h
}
