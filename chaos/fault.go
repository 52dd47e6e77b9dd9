package chaos

import (
	"context"
	"errors"
	"net"
)

// Fault is something that goes wrong with a store, with a worker, or between
// them. It is good for one time: made, started, healed.
type Fault interface {
	// Name is the kind of the fault, as reports show it: "link/cut".
	Name() string

	// Available returns nil if the fault can be started here, and otherwise an
	// error that says what is missing.
	Available() error

	// Start begins the fault and returns when it is on.
	Start(ctx context.Context) error

	// Heal ends the fault and returns when what it broke may work again. It is
	// called also after a Start that failed.
	Heal(ctx context.Context) error

	// Hits says how often the fault met live traffic so far. A fault of which
	// it is 0 has shown nothing, and counts as not injected.
	Hits() int
}

// Dial opens a connection. Clients of a store are given one in place of their
// own, as in leasetest.Worker.
type Dial = func(ctx context.Context, network, addr string) (net.Conn, error)

var (
	errClosed  = errors.New("the link is closed")
	errRefused = errors.New("connection refused by a fault")
)
