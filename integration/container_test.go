package integration

import (
	"os"
	"testing"

	"github.com/leasekit/lease/integration/server"
)

// needContainers skips a test that takes Docker, except where
// LEASE_TEST_CONTAINERS=1 is set: tools/containers sets it, and sees to it that
// there is Docker.
func needContainers(t *testing.T) {
	t.Helper()
	if os.Getenv("LEASE_TEST_CONTAINERS") != "1" {
		t.Skip("containers are tested by tools/containers")
	}
	if err := server.Docker(); err != nil {
		t.Fatalf("no Docker daemon answers: %v", err)
	}
}

// TestContainerDaemon is how tools/containers asks whether there is a daemon, and
// whether the one that it started is ready.
func TestContainerDaemon(t *testing.T) { needContainers(t) }
