package server

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { Main(m) }

// verdict catches how a test ends.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper()           {}
func (v *verdict) Skip(args ...any)  { v.skipped = fmt.Sprint(args...); runtime.Goexit() }
func (v *verdict) Fatal(args ...any) { v.failed = fmt.Sprint(args...); runtime.Goexit() }

func TestMissingProgram(t *testing.T) {
	s := source{name: "Redis", env: "LEASE_TEST_NO_SUCH_URL", programs: []string{"no-such-server"}, install: "apt-get install no-such-server"}
	for _, tt := range []struct {
		require, url string
		want         []string
	}{
		{"", "", []string{"no Redis", s.programs[0], s.install, "set " + s.env}},
		{"1", "", []string{"no Redis", s.programs[0], s.install, "set " + s.env, "LEASE_REQUIRE_SERVERS"}},
		{"", "redis://:secret@db.example", []string{"no Redis", s.install, "server of its own", s.env}},
	} {
		t.Setenv("LEASE_REQUIRE_SERVERS", tt.require)
		t.Setenv(s.env, tt.url)
		v := &verdict{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.place(v)
		}()
		<-ended
		text, other := v.skipped, v.failed
		if tt.require == "1" {
			text, other = v.failed, v.skipped
		}
		for _, part := range tt.want {
			if !strings.Contains(text, part) {
				t.Errorf("required %q, URL %q: got %q, want it to contain %q", tt.require, tt.url, text, part)
			}
		}
		if other != "" || strings.Contains(text, "secret") {
			t.Errorf("required %q, URL %q: skipped %q, failed %q", tt.require, tt.url, v.skipped, v.failed)
		}
	}
}

// Without redis-server on PATH and without Docker, a test is red where servers are
// required, and says what is missing; else it is skipped, and says so too.
func TestNothingToStart(t *testing.T) {
	for require, want := range map[string]string{"1": "--- FAIL: TestRedis ", "": "--- SKIP: TestRedis "} {
		dir := t.TempDir()
		child := exec.Command(os.Args[0], "-test.run=^TestRedis$", "-test.v")
		child.Env = append(os.Environ(), "PATH="+dir, "DOCKER_HOST=unix://"+filepath.Join(dir, "none"),
			"LEASE_REQUIRE_SERVERS="+require, redisSource.env+"=", redisSource.imageEnv()+"=")
		text, err := child.CombinedOutput()
		if red := err != nil; red != (require == "1") {
			t.Errorf("required %q: the tests ended with %v", require, err)
		}
		for _, part := range []string{want, "no Redis to test on", "redis-server is not on PATH", "there is no Docker for the image " + redisSource.image, redisSource.install} {
			if !strings.Contains(string(text), part) {
				t.Errorf("required %q: the tests printed\n%s\nwant it to contain %q", require, text, part)
			}
		}
	}
}

func TestBrokenServer(t *testing.T) {
	for kind, start := range map[string]func() error{
		"Redis": func() error {
			_, err := startRedis(redisSource.place(t), nil, "--nosuchsetting", "yes")
			return err
		},
		"PostgreSQL": func() error {
			_, err := startPostgres(postgresSource.place(t), "nosuchsetting=yes")
			return err
		},
		"MariaDB": func() error {
			_, err := startMariaDB(mariadbSource.place(t), "--nosuchsetting=yes")
			return err
		},
	} {
		t.Run(kind, func(t *testing.T) {
			temp := t.TempDir()
			if err := os.Chmod(filepath.Dir(temp), 0o755); err != nil { // for a server that runs as nobody
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", temp)
			err := start()
			if err == nil || !strings.Contains(err.Error(), "nosuchsetting") {
				t.Errorf("got the error %v, want one with what the server printed", err)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v, want nothing", left, err)
			}
		})
	}
}

func TestRedis(t *testing.T) {
	if a, b := Redis(t), Redis(t); a != b {
		t.Error("two calls gave two servers, want one")
	}
	own := StartRedis(t)
	if own.Addr() == Redis(t).Addr() {
		t.Error("StartRedis gave the shared server")
	}
	restartsAnew(t, own.instance)
}

func restartsAnew(t *testing.T, i *instance) {
	t.Helper()
	before, err := i.pid()
	if err != nil {
		t.Fatal(err)
	}
	i.Restart(t)
	if after, err := i.pid(); err != nil || after == before {
		t.Errorf("the server was not started again: %d is %d, %v", before, after, err)
	}
}

func TestPostgres(t *testing.T) {
	s := Postgres(t)
	if s != Postgres(t) {
		t.Error("two calls gave two servers, want one")
	}
	ctx := t.Context()
	a, b := s.Database(t), s.Database(t, "TEMPLATE template0 ENCODING 'LATIN1'")
	if a == b {
		t.Error("two tests got one database")
	}
	for dsn, want := range map[string]string{a: "UTF8", b: "LATIN1"} {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		var encoding string
		if err := conn.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil || encoding != want {
			t.Errorf("encoding: got %q, %v, want %q", encoding, err, want)
		}
	}

	own := StartPostgres(t, "synchronous_commit=on")
	if own.DSN() == s.DSN() {
		t.Error("StartPostgres gave the shared server")
	}
	if err := errors.Join(own.do("CREATE TABLE kept (x int)"), own.do("INSERT INTO kept VALUES (1)")); err != nil {
		t.Fatal(err)
	}
	restartsAnew(t, own.instance)
	if err := own.do("INSERT INTO kept VALUES (2)"); err != nil {
		t.Errorf("after the crash: %v", err)
	}
}

func TestMariaDB(t *testing.T) {
	s := MariaDB(t)
	if s != MariaDB(t) {
		t.Error("two calls gave two servers, want one")
	}
	a, b := s.Database(t), s.Database(t, "COLLATE utf8mb4_bin")
	if a == b {
		t.Error("two tests got one database")
	}
	for dsn, want := range map[string]string{a: "latin1_swedish_ci", b: "utf8mb4_bin"} {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var collation string
		if err := db.QueryRow("SELECT @@collation_database").Scan(&collation); err != nil || collation != want {
			t.Errorf("collation: got %q, %v, want %q", collation, err, want)
		}
	}

	own := StartMariaDB(t)
	if own.DSN() == s.DSN() {
		t.Error("StartMariaDB gave the shared server")
	}
	if err := errors.Join(own.do("CREATE TABLE mysql.kept (x int) ENGINE=InnoDB"), own.do("INSERT INTO mysql.kept VALUES (1)")); err != nil {
		t.Fatal(err)
	}
	restartsAnew(t, own.instance)
	if err := own.do("INSERT INTO mysql.kept VALUES (2)"); err != nil {
		t.Errorf("after the crash: %v", err)
	}
}

// A server does not outlive a test binary that was killed.
func TestOrphan(t *testing.T) {
	const inChild = "LEASE_TEST_ORPHAN"
	if os.Getenv(inChild) != "" {
		s := StartRedis(t)
		pid, _ := s.pid()
		fmt.Println("server", pid, s.Addr())
		select {} // until it is killed
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a server with the process that started it")
	}
	redisSource.place(t)
	child := exec.Command(os.Args[0], "-test.run=^TestOrphan$", "-test.timeout=1m")
	// The child can't remove its temporary folder: let it be one of ours.
	child.Env = append(os.Environ(), inChild+"=1", "TMPDIR="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	var addr string
	_, err = fmt.Fscanf(out, "server %d %s\n", &pid, &addr)
	child.Process.Kill()
	child.Wait()
	if err != nil {
		t.Fatalf("the child did not say where its server is: %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		c.Close()
		if time.Now().After(deadline) {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
			t.Fatalf("the server at %s outlives its test binary by 10 s", addr)
		}
	}
}
