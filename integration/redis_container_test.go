package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestRedisContainer checks the backend on a Redis in a container, whose clock
// is moved like that of any other. The image is made here, from the redis-server
// of this machine.
func TestRedisContainer(t *testing.T) {
	needContainers(t)
	const image = "leasekit-test/redis:local"
	if os.Getenv("LEASE_TEST_REDIS_IMAGE") != image { // as in a child of the suite
		path, err := exec.LookPath("redis-server")
		if err != nil {
			t.Fatal(err)
		}
		localImage{name: image, programs: []string{path}, changes: []string{"ENV PATH=" + filepath.Dir(path)}}.make(t)
		t.Setenv("LEASE_TEST_REDIS_IMAGE", image)
	}
	srv := server.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	if srv.Clock() == nil {
		t.Fatal(srv.WhyNoClock())
	}
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness { return singleHarness(t, srv) })
}
