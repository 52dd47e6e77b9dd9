// Package server gives tests the real servers that they run on: Redis,
// PostgreSQL, MariaDB.
//
// A server is looked for in this order:
//
//  1. The URL in an environment variable: LEASE_TEST_REDIS_URL,
//     LEASE_TEST_POSTGRES_DSN, LEASE_TEST_MARIADB_DSN. It names a server that is
//     already running and may hold data of others. Tests use names of their own
//     there, remove those, and leave the rest alone.
//  2. A program that is installed on this machine: redis-server; postgres and
//     initdb, on PATH or where Debian has them; mariadbd or mysqld. It is
//     started on a free port of 127.0.0.1, with its data in a temporary folder,
//     and ends with the test binary, also when that is killed (on Linux). As
//     root, PostgreSQL and MariaDB are run as nobody. Whoever can connect to
//     127.0.0.1 may use it: it holds nothing but what the tests store.
//  3. A container of the official image, made by the Docker daemon of this
//     machine, on a free port of 127.0.0.1. It goes before the program if
//     LEASE_TEST_REDIS_IMAGE, LEASE_TEST_POSTGRES_IMAGE or
//     LEASE_TEST_MARIADB_IMAGE names an image, which may be of another version
//     or make. Package testcontainers-go has further variables: where the image
//     of its reaper can't be had, TESTCONTAINERS_RYUK_DISABLED=true does
//     without, and a test binary that is killed leaves its containers behind.
//
// If there is none of them, the test is skipped, and says what is missing. With
// LEASE_REQUIRE_SERVERS=1 it fails instead: set it where a skipped test would
// pass for a green one.
//
// A server that was started here goes by a clock that the test moves: its Clock
// is one of package chaos/clock, or nil where there is none. Without one
// LEASE_REQUIRE_SERVERS=1 fails the test too.
//
// When a test has failed, what its servers printed is kept, and it says where.
//
// A package that calls Redis, Postgres or MariaDB has to end what was started:
//
//	func TestMain(m *testing.M) { server.Main(m) }
package server

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leasekit/lease/internal/need"
)

// source is where the server of one kind can come from.
type source struct {
	name     string   // of the kind: "Redis"
	env      string   // names the variable with the URL of a server
	programs []string // any of them starts a server
	image    string   // of a container with it; the environment may name another
	folders  []string // where they may be besides PATH, as patterns
	install  string   // the command that installs them on Debian
}

// url returns the URL of the server that the environment names, or "".
func (s source) url() string { return os.Getenv(s.env) }

// place is where a server of one's own is started from: a program or an image.
type place struct{ path, image string }

// place returns where a server can be started from. If there is nothing, it ends
// the test as skipped or failed.
func (s source) place(t testing.TB) place {
	t.Helper()
	named := ""
	if s.image != "" {
		named = os.Getenv(s.imageEnv())
	}
	path, err := s.find(s.programs...)
	if err == nil && named == "" {
		return place{path: path}
	}
	if s.image != "" {
		image := cmp.Or(named, s.image)
		noDocker := docker()
		if noDocker == nil {
			fmt.Fprintf(os.Stderr, "%s: the tests run on a container of %s\n", s.name, image)
			return place{image: image}
		}
		if noDocker = fmt.Errorf("there is no Docker for the image %s: %w", image, noDocker); err == nil {
			err = noDocker // an image was asked for, so the program does not serve
		} else {
			err = fmt.Errorf("%w; %w", err, noDocker)
		}
	}
	missing := fmt.Sprintf("no %s to test on: %v; install it (%s)", s.name, err, s.install)
	if s.url() == "" {
		missing += fmt.Sprintf(" or set %s to the URL of a server", s.env)
	} else {
		missing += fmt.Sprintf(", since this test needs a server of its own and can't use the one in %s", s.env)
	}
	need.Missing(t, missing)
	return place{}
}

// imageEnv names the variable with the image: LEASE_TEST_REDIS_IMAGE.
func (s source) imageEnv() string {
	return s.env[:strings.LastIndex(s.env, "_")] + "_IMAGE"
}

// find returns where the first of the programs is that there is.
func (s source) find(programs ...string) (string, error) {
	for _, program := range programs {
		if path, err := exec.LookPath(program); err == nil {
			return path, nil
		}
		for _, folder := range s.folders {
			paths, err := filepath.Glob(filepath.Join(folder, program))
			if err != nil {
				return "", err
			}
			// The newest version: 9.6 before 15.
			slices.SortFunc(paths, func(a, b string) int {
				return cmp.Or(len(b)-len(a), strings.Compare(b, a))
			})
			for _, path := range paths {
				if path, err := exec.LookPath(path); err == nil {
					return path, nil
				}
			}
		}
	}
	return "", fmt.Errorf("%s is not on PATH%s", strings.Join(programs, " or "), or(s.folders))
}

func or(folders []string) string {
	if len(folders) == 0 {
		return ""
	}
	return " nor in " + strings.Join(folders, ", ")
}
