// Package server gives tests the real servers that they run on.
//
// A server is looked for in this order:
//
//  1. The URL in an environment variable, LEASE_TEST_REDIS_URL for Redis: a
//     server that is already running and may hold data of others. Tests use
//     names of their own there, remove those, and leave the rest alone.
//  2. A program that is installed on this machine, redis-server for Redis. It is
//     started on a free port of 127.0.0.1, with its data in a temporary folder,
//     and ends with the test binary, also when that is killed (on Linux).
//
// If there is neither, the test is skipped, and says what is missing. With
// LEASE_REQUIRE_SERVERS=1 it fails instead: set it where a skipped test would
// pass for a green one.
//
// A package that calls Redis has to end what was started:
//
//	func TestMain(m *testing.M) { server.Main(m) }
package server

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// source is where the server of one kind can come from.
type source struct {
	name    string // of the kind: "Redis"
	env     string // names the variable with the URL of a server
	program string // starts a server
	install string // the command that installs the program on Debian
}

// url returns the URL of the server that the environment names, or "".
func (s source) url() string { return os.Getenv(s.env) }

// path returns where the program is. If it is not installed, it ends the test
// as skipped or failed.
func (s source) path(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath(s.program)
	if err == nil {
		return path
	}
	missing := fmt.Sprintf("no %s to test on: %v; install it (%s)", s.name, err, s.install)
	if s.url() == "" {
		missing += fmt.Sprintf(" or set %s to the URL of a server", s.env)
	} else {
		missing += fmt.Sprintf(", since this test needs a server of its own and can't use the one in %s", s.env)
	}
	if v := os.Getenv("LEASE_REQUIRE_SERVERS"); v != "" && v != "0" {
		t.Fatal(missing + " (LEASE_REQUIRE_SERVERS=1)")
	}
	t.Skip(missing)
	return ""
}
