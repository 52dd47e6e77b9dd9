package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasekit/lease/integration/server"
)

// TestWorkflow runs the example on pairings of servers: leases in one, data in another.
// Its workers are killed, paused past the end of their leases and doubled.
func TestWorkflow(t *testing.T) {
	program := filepath.Join(t.TempDir(), "workflow")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "examples", "workflow")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the example: %v\n%s", err, out)
	}
	addresses := map[string]string{
		"redis":    server.StartRedis(t).URL(),
		"postgres": server.Postgres(t).Database(t),
		"mariadb":  "mariadb:" + server.MariaDB(t).Database(t),
		"memory":   "memory",
	}
	for _, p := range [][2]string{{"redis", "postgres"}, {"postgres", "mariadb"}, {"mariadb", "redis"}, {"memory", "postgres"}} {
		for _, fencing := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s-%s,fencing=%v", p[0], p[1], fencing), func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(program, "-leases", addresses[p[0]], "-data", addresses[p[1]],
					"-faults=6", "-seed=3", "-ttl=600ms", "-limit=2m", fmt.Sprintf("-fencing=%v", fencing))
				out, err := cmd.CombinedOutput()
				t.Logf("%s", out)
				none := strings.Contains(string(out), "landed: 0;")
				if fencing && (err != nil || !none) {
					t.Errorf("got %v, want no error and no stale result landed", err)
				}
				if late := !strings.Contains(string(out), "pauses: 0;"); !fencing && late && (err == nil || none) {
					t.Errorf("got %v, want an error that tells of the stale results", err)
				}
			})
		}
	}
}
