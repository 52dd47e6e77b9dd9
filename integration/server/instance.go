package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/chaos/clock"
	"github.com/leasekit/lease/internal/need"
)

// instance is a server that was started here. Of one that the environment names
// it is nil.
type instance struct {
	name string // of the program
	addr string
	dir  string // its data, its logs, its clock
	launcher
	ready func(running) error // whether it answers, and is the one

	running
	clock   *clock.Clock
	noClock error // why clock is nil
}

// launcher starts a server: once more after a crash.
type launcher interface {
	launch(dir string, under *clock.Clock) (running, error)
}

// running is what runs a server: a process, or a container.
type running interface {
	pid() (int, error) // on this machine
	ended() error      // nil while it runs
	end() error        // stops it, and takes away what is not in the server's folder
	crash() error      // ends it as a loss of power would, short of the disk
	printed() string   // the end of what it printed, for an error's text
}

// await calls ready again and again until it returns nil. It gives up, with
// what the server printed, when the server ends or the time is over.
func await(r running, ready func() error) error {
	over := time.After(patience)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if ended := r.ended(); ended != nil {
			return fmt.Errorf("it was not ready: %w%s", ended, r.printed())
		}
		select {
		case <-over:
			return fmt.Errorf("it was not ready after %v: %w%s", patience, err, r.printed())
		case <-again.C:
		}
	}
}

// Started says whether the server was started here, so that a test may crash it.
func (i *instance) Started() bool { return i != nil }

// Clock is the clock that the server goes by. It is nil if the server was not
// started here, or where the clock shim is not available; WhyNoClock has the
// reason.
func (i *instance) Clock() *clock.Clock {
	if i == nil {
		return nil
	}
	return i.clock
}

// WhyNoClock says, as part of a sentence, why Clock is nil; else "".
func (i *instance) WhyNoClock() string {
	switch {
	case i == nil:
		return "the server was not started by the test, so its clock can't be moved"
	case i.noClock != nil:
		return i.noClock.Error()
	}
	return ""
}

// Crash kills a server that the test started, without any farewell.
func (i *instance) Crash(t testing.TB) {
	t.Helper()
	if i == nil {
		t.Fatal("the test would crash a server that it has not started")
	}
	if err := i.crash(); err != nil {
		t.Fatal(err)
	}
}

// Restart crashes a server that the test started, unless Crash did, and starts
// it again at the same address, with the same data, arguments and clock.
func (i *instance) Restart(t testing.TB) {
	t.Helper()
	i.Crash(t)
	if err := i.run(); err != nil {
		t.Fatal(err)
	}
}

// folder makes a temporary folder for a server. Those of the testing package
// can't be reached by another user, and have names too long for a socket.
func folder(name string, as *account) (string, error) {
	dir, err := os.MkdirTemp("", "leasekit-"+name+"-")
	if err != nil {
		return "", err
	}
	if err := as.own(dir); err != nil {
		return "", errors.Join(fmt.Errorf("give the folder of %s to its user: %w", name, err), os.RemoveAll(dir))
	}
	return dir, nil
}

// startOnFreePort starts the server that at describes for a port, in the folder
// dir, which it removes if that fails. The server goes by the clock of, or by
// one of its own if that is nil.
func startOnFreePort(dir string, of *clock.Clock, at func(port string) *instance) (*instance, error) {
	i, err := func() (*instance, error) {
		var noClock error
		if of == nil {
			of, noClock = clock.New(dir)
		}
		if noClock != nil && need.Required() {
			return nil, fmt.Errorf("%w (LEASE_REQUIRE_SERVERS=1)", noClock)
		}
		// No server can choose a free port itself and say which, and the one
		// chosen here may be gone when it gets there.
		var failed error
		for range 5 {
			port, err := freePort()
			if err != nil {
				return nil, err
			}
			i := at(port)
			i.dir, i.addr, i.clock, i.noClock = dir, net.JoinHostPort("127.0.0.1", port), of, noClock
			if failed = i.run(); failed == nil {
				return i, nil
			}
			if i.running == nil {
				break
			}
			taken := strings.Contains(strings.ToLower(i.printed()), "address already in use")
			failed = errors.Join(failed, i.end())
			if !taken {
				break
			}
		}
		return nil, failed
	}()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return i, nil
}

// run starts the server and waits until it answers.
func (i *instance) run() error {
	r, err := i.launch(i.dir, i.clock)
	if err != nil {
		return err
	}
	i.running = r
	err = await(r, func() error {
		// First without a client, which may print its failures.
		c, err := net.DialTimeout("tcp", i.addr, time.Second)
		if err != nil {
			return err
		}
		c.Close()
		return i.ready(r)
	})
	if err == nil && i.clock != nil {
		err = i.governed()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("start %s at %s: %w", i.name, i.addr, err), r.crash())
	}
	return nil
}

// governed makes sure that the server goes by its clock.
func (i *instance) governed() error {
	pid, err := i.pid()
	if err == nil {
		err = i.clock.Governs(pid)
	}
	if _, contained := i.running.(*container); contained && err != nil && !need.Required() {
		// The daemon may have a machine of its own, or the container a user
		// whose processes can't be looked at.
		i.clock, i.noClock, err = nil, err, nil
	}
	return err
}

// close ends the server and removes its folder, except for what it printed if a
// test failed. It returns where that is.
func (i *instance) close(failed bool) (logs string, err error) {
	err = i.end()
	if !failed {
		return "", errors.Join(err, os.RemoveAll(i.dir))
	}
	all, readErr := os.ReadDir(i.dir)
	err = errors.Join(err, readErr)
	for _, entry := range all {
		if filepath.Ext(entry.Name()) != ".log" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(i.dir, entry.Name())))
		}
	}
	return i.dir, err
}

// endWith ends the server with the test.
func (i *instance) endWith(t testing.TB) {
	t.Cleanup(func() {
		logs, err := i.close(t.Failed())
		if err != nil {
			t.Error(err)
		}
		if logs != "" {
			t.Logf("the log of %s is kept in %s%s", i.name, logs, i.printed())
		}
	})
}

// ownName returns a name for a database that nothing else has.
func ownName() string { return "lease_test_" + strings.ToLower(rand.Text()) }
