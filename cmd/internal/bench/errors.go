package bench

import (
	"context"
	"errors"
	"net"

	"github.com/leasekit/lease"
)

// kindOf names an error's kind, as it is counted.
func kindOf(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, lease.ErrHeld):
		return "held"
	case errors.Is(err, lease.ErrLost):
		return "lost"
	case errors.Is(err, lease.ErrNotHeld):
		return "not held"
	case errors.Is(err, lease.ErrInvalid):
		return "invalid"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &network):
		if network.Timeout() {
			return "timeout"
		}
		return "network"
	}
	return "other"
}
