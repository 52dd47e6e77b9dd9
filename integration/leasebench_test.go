package integration

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/leasekit/lease/integration/server"
)

// TestLeasebench runs the command on real servers: all calls succeed, the peers are
// there, the server's time is known where it tells it, and nothing is left behind.
func TestLeasebench(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "leasebench")
	build := exec.Command("go", "build", "-o", bin, "./leasebench")
	build.Dir = filepath.Join("..", "cmd")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build leasebench: %v\n%s", err, out)
	}
	t.Run("Redis", func(t *testing.T) {
		s := server.StartRedis(t)
		rows := leasebench(t, bin, "-peers", s.URL())
		wantRows(t, rows, 10+10+8+7)
		for _, row := range rows {
			if !row.Server.Known || row.Server.Value <= 0 {
				t.Errorf("%s by %s: the server's time is not known", row.Workload, row.By)
			}
		}
		wantNoKeys(t, s)
	})
	t.Run("Redis Cluster", func(t *testing.T) {
		s := server.StartRedisCluster(t)
		addrs := s.Addrs()
		rows := leasebench(t, bin, "-peers", "redis+cluster://"+addrs[0]+"?addr="+addrs[1])
		wantRows(t, rows, 10+10+8+7)
		for _, node := range s.Nodes() {
			wantNoKeys(t, node)
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		dsn := server.Postgres(t).Database(t)
		wantRows(t, leasebench(t, bin, dsn), 10+10)
		wantNoTables(t, "pgx", dsn, "current_schema()")
	})
	t.Run("PostgreSQL that counts statements", func(t *testing.T) {
		dsn := server.StartPostgres(t, "shared_preload_libraries=pg_stat_statements").Database(t)
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "CREATE EXTENSION pg_stat_statements"); err != nil {
			t.Fatal(err)
		}
		for _, row := range leasebench(t, bin, dsn) {
			// The floor of these is SELECT 1, which names no table of the run.
			bare := row.By == "floor" && (row.Workload == "get" || row.Workload == "refused")
			if row.Server.Known == bare || row.Server.Known && row.Server.Value <= 0 {
				t.Errorf("%s by %s: server time known %t, %.3f µs", row.Workload, row.By, row.Server.Known, row.Server.Value)
			}
		}
	})
	t.Run("MariaDB", func(t *testing.T) {
		dsn := server.MariaDB(t).Database(t)
		wantRows(t, leasebench(t, bin, mysqlURL(t, dsn)), 10+10)
		wantNoTables(t, "mysql", dsn, "database()")
	})
	t.Run("a server that takes no writes", func(t *testing.T) {
		s := server.StartRedis(t)
		host, port, err := net.SplitHostPort(s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		replica := server.StartRedis(t, "--replicaof", host+" "+port)
		code, stdout, stderr := runLeasebench(t, bin, replica.URL())
		if code != 1 || stdout != "" || !strings.Contains(stderr, "READONLY") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit code %d, %q, %q; want 1, nothing, and one line with READONLY", code, stdout, stderr)
		}
	})
}

// benchRow is what the tests look at in leasebench's JSON.
type benchRow struct {
	Workload string           `json:"workload"`
	By       string           `json:"by"`
	Calls    int64            `json:"calls"`
	Errors   map[string]int64 `json:"errors"`
	Server   struct {
		Known bool    `json:"known"`
		Value float64 `json:"value"`
	} `json:"server_us"`
}

func leasebench(t *testing.T, bin string, args ...string) []benchRow {
	t.Helper()
	args = append([]string{"-json", "-count", "20", "-warmup", "1ms", "-workers", "2", "-keys", "50", "-takeover-ttl", "250ms"}, args...)
	code, stdout, stderr := runLeasebench(t, bin, args...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var report struct{ Rows []benchRow }
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	return report.Rows
}

func runLeasebench(t *testing.T, bin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func wantRows(t *testing.T, rows []benchRow, n int) {
	t.Helper()
	if len(rows) != n {
		t.Errorf("got %d rows, want %d", len(rows), n)
	}
	for _, row := range rows {
		if row.Calls < 20 || len(row.Errors) > 0 {
			t.Errorf("%s by %s: %d calls, errors %v", row.Workload, row.By, row.Calls, row.Errors)
		}
	}
}

func wantNoKeys(t *testing.T, s *server.RedisServer) {
	t.Helper()
	client := redisClient(t, s, nil)
	if keys, err := client.Keys(t.Context(), "*").Result(); err != nil || len(keys) > 0 {
		t.Errorf("after the run there are %d keys, such as %.3q; %v", len(keys), keys, err)
	}
}

func wantNoTables(t *testing.T, driver, dsn, schema string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	err = db.QueryRowContext(t.Context(), "SELECT count(*) FROM information_schema.tables WHERE table_schema = "+schema).Scan(&n)
	if err != nil || n > 0 {
		t.Errorf("after the run there are %d tables; %v", n, err)
	}
}

// mysqlURL writes the driver's form of a DSN as a URL.
func mysqlURL(t *testing.T, dsn string) string {
	t.Helper()
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "mysql", User: url.UserPassword(c.User, c.Passwd), Host: c.Addr, Path: "/" + c.DBName}
	return u.String()
}
