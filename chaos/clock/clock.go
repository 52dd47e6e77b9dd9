package clock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Available returns nil if clocks can be made here, and otherwise an error that
// says what is missing. The first call builds the shim, unless an earlier
// process did.
func Available() error {
	_, err := library()
	return err
}

// Clock is the clock of the programs that were started with its Env. At first
// it shows the system's time. It may be used by several goroutines at once.
type Clock struct {
	shim string // the file to preload
	path string // the control file

	mu      sync.Mutex
	control *control
}

// control is what the control file holds; shim/clock.c has the same. It changes in
// one step, with the generation: what counts is slot[generation%2], and the
// next state is written into the other.
type control struct {
	generation atomic.Uint64
	slot       [2]struct {
		frozen atomic.Int64 // 1: ns is the time; 0: ns is added to the time
		ns     atomic.Int64 // since 1970, if frozen
	}
}

// New makes a clock, which keeps two small files in a new folder below dir. A
// program that runs as another user has to be able to reach that folder, or it
// does not start. They are the caller's to remove, once no program is to be
// started under the clock any more.
func New(dir string) (*Clock, error) {
	built, err := library()
	if err != nil {
		return nil, err
	}
	c, err := create(dir, built)
	if err != nil {
		return nil, fmt.Errorf("make a clock: %w", err)
	}
	return c, nil
}

func create(dir, built string) (*Clock, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if strings.ContainsAny(dir, ": \n") {
		return nil, fmt.Errorf("the folder %q has a space or a colon in its name, which LD_PRELOAD can't express", dir)
	}
	if dir, err = os.MkdirTemp(dir, "clock-"); err != nil {
		return nil, err
	}
	c := &Clock{shim: filepath.Join(dir, "shim.so"), path: filepath.Join(dir, "control")}
	// A copy, since the server may run as a user who can't reach the cache.
	text, err := os.ReadFile(built)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.shim, text, 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.path, make([]byte, os.Getpagesize()), 0o644); err != nil {
		return nil, err
	}
	// Whatever the umask says.
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(c.shim, 0o644), os.Chmod(c.path, 0o644)); err != nil {
		return nil, err
	}
	mapped, unmap, err := mapControl(c.path)
	if err != nil {
		return nil, err
	}
	c.control = mapped
	runtime.AddCleanup(c, func(unmap func()) { unmap() }, unmap)
	return c, nil
}

// Env returns what a program has to have in its environment to go by this
// clock. Add it to the end, as in append(os.Environ(), c.Env()...): what this
// process preloads is still preloaded.
func (c *Clock) Env() []string {
	preload := c.shim
	if other := os.Getenv("LD_PRELOAD"); other != "" {
		preload += ":" + other
	}
	return []string{"LD_PRELOAD=" + preload, "LEASEKIT_CLOCK=" + c.path}
}

// Variables is Env for a program that inherits nothing from this process, as in
// a container. The folder Dir has to be at the same place there.
func (c *Clock) Variables() map[string]string {
	return map[string]string{"LD_PRELOAD": c.shim, "LEASEKIT_CLOCK": c.path}
}

// Dir returns the folder with the clock's files.
func (c *Clock) Dir() string { return filepath.Dir(c.path) }

// Governs returns nil if the running process goes by this clock. Ask after a
// server has answered: the dynamic linker starts a program that it can't preload
// the shim into all the same, on the real clock.
func (c *Clock) Governs(pid int) error {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return fmt.Errorf("look for the clock shim in process %d: %w", pid, err)
	}
	if !strings.Contains(string(maps), " "+c.shim+"\n") {
		return fmt.Errorf("process %d does not go by the clock that a test moves: the program is linked statically or setuid, or it can't read %s", pid, c.shim)
	}
	return nil
}

// Now returns the time that a program would read now, to the nanosecond. A
// server that counts in µs cuts it off there. Inside a testing/synctest bubble
// it is the same time as outside.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, c.now())
}

// Move moves the clock by d, either way, whether it runs or stands still. It
// panics if that would leave the years 1970 to 2261.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if d > 0 && now > last-int64(d) || now+int64(d) < 0 {
		panic(fmt.Sprintf("clock: at %v, a move by %v leaves the years 1970 to 2261", time.Unix(0, now).UTC(), d))
	}
	frozen, ns := c.state()
	c.set(frozen, ns+int64(d))
}

// last is the latest instant that Move goes to, in ns since 1970. It leaves the
// clock some weeks to run on.
var last = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// Freeze stops the clock (true) or lets it run on from where it stands (false).
// It never makes the clock go back: it stops a few µs ahead.
func (c *Clock) Freeze(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	frozen, ns := c.state()
	switch {
	case on && !frozen:
		// A program may read the running clock until the change is made, so
		// the instant has to be one that the clock had not reached by then.
		for ahead := int64(20 * time.Microsecond); ; ahead *= 2 {
			at := ns + kernelNow() + ahead
			c.set(true, at)
			if ns+kernelNow() <= at {
				return
			}
		}
	case !on && frozen:
		c.set(false, ns-kernelNow())
	}
}

// Reset lets the clock show the system's time again, and run.
func (c *Clock) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(false, 0)
}

// now is the arithmetic of moved in shim/clock.c.
func (c *Clock) now() int64 {
	frozen, ns := c.state()
	if frozen {
		return ns
	}
	return kernelNow() + ns
}

// state returns what counts now.
func (c *Clock) state() (frozen bool, ns int64) {
	s := &c.control.slot[c.control.generation.Load()%2]
	return s.frozen.Load() == 1, s.ns.Load()
}

// set changes the state in one step.
func (c *Clock) set(frozen bool, ns int64) {
	next := c.control.generation.Load() + 1
	s := &c.control.slot[next%2]
	s.frozen.Store(0)
	if frozen {
		s.frozen.Store(1)
	}
	s.ns.Store(ns)
	c.control.generation.Store(next)
}
