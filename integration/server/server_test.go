package server

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
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
	s := source{name: "Redis", env: "LEASE_TEST_NO_SUCH_URL", program: "no-such-server", install: "apt-get install no-such-server"}
	for _, tt := range []struct {
		require, url string
		want         []string
	}{
		{"", "", []string{"no Redis", s.program, s.install, "set " + s.env}},
		{"1", "", []string{"no Redis", s.program, s.install, "set " + s.env, "LEASE_REQUIRE_SERVERS"}},
		{"", "redis://:secret@db.example", []string{"no Redis", s.install, "server of its own", s.env}},
	} {
		t.Setenv("LEASE_REQUIRE_SERVERS", tt.require)
		t.Setenv(s.env, tt.url)
		v := &verdict{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.path(v)
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

func TestBrokenServer(t *testing.T) {
	path := redisSource.path(t)
	_, err := startRedis(t.TempDir(), path, "--no-such-setting", "yes")
	if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("got the error %v, want one with what the server printed", err)
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
	before := own.process
	own.Restart(t)
	if own.process == before || own.process.Pid == before.Pid {
		t.Error("the server was not started again")
	}
}

// A server does not outlive a test binary that was killed.
func TestOrphan(t *testing.T) {
	const inChild = "LEASE_TEST_ORPHAN"
	if os.Getenv(inChild) != "" {
		s := StartRedis(t)
		fmt.Println("server", s.process.Pid, s.Addr())
		select {} // until it is killed
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a server with the process that started it")
	}
	redisSource.path(t)
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
