package fence_test

import (
	"testing"

	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/leasetest"
)

func TestFenceConformance(t *testing.T) {
	leasetest.RunFence(t, func(testing.TB) *leasetest.FenceHarness {
		var m fence.Memory
		return &leasetest.FenceHarness{
			Connect:   func(testing.TB) fence.Resource { return &m },
			Unchecked: map[string]string{"FENCE-4": "it ends with its process, and its values do too"},
		}
	})
}
