package lease_test

import (
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

func TestHoldConformance(t *testing.T) { leasetest.RunHold(t, lease.Hold) }
