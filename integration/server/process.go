package server

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/leasekit/lease/chaos/clock"
)

// patience bounds how long a server may take to start, and to stop.
const patience = time.Minute

// program is a command that can be run.
type program struct {
	path string
	args []string
	env  []string // beyond that of the test binary
	as   *account
	stop os.Signal // ends it, without waiting for clients; nil is SIGTERM
}

// process is a server program that is running.
type process struct {
	*os.Process
	log  string        // the file with what it prints
	stop os.Signal     // ends it; nil is SIGTERM
	done chan struct{} // closed when it has ended
	err  error         // how it ended; read it after done
}

// launch runs the program, in dir and under the clock, if any.
func (c program) launch(dir string, under *clock.Clock) (running, error) {
	if under != nil {
		c.env = append(slices.Clip(c.env), under.Env()...)
	}
	return c.start(dir)
}

// start runs the program in dir, with a new log file there.
func (c program) start(dir string) (*process, error) {
	log, err := os.CreateTemp(dir, filepath.Base(c.path)+"-*.log")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.path, err)
	}
	defer log.Close()
	cmd := exec.Command(c.path, c.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	// Another user may not be able to write to the usual temporary folder.
	cmd.Env = append(append(os.Environ(), "TMPDIR="+dir), c.env...)
	cmd.SysProcAttr = c.as.attributes()

	p := &process{log: log.Name(), stop: c.stop, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux ends the child when the thread that started it ends, not the
		// process: this goroutine keeps its thread until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.Process = cmd.Process
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.path, err)
	}
	return p, nil
}

// run runs the program in dir to its end.
func (c program) run(dir string) error {
	p, err := c.start(dir)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("run %s: it did not end within %v%s", c.path, patience, p.printed()), p.crash())
	}
	if p.err != nil {
		return fmt.Errorf("run %s: %w%s", c.path, p.err, p.printed())
	}
	return nil
}

func (p *process) pid() (int, error) { return p.Pid, nil }

func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("the program ended: %v", p.err)
	default:
		return nil
	}
}

// end stops the program: with its signal, and if that takes too long, by force.
func (p *process) end() error {
	signal := p.stop
	if signal == nil {
		signal = syscall.SIGTERM
	}
	if err := p.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server: %w", err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("the server did not stop within %v%s", patience, p.printed()), p.crash())
	}
}

// crash ends the program as a loss of power would, short of the disk.
func (p *process) crash() error {
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-p.done
	dir, err := filepath.EvalSymlinks(filepath.Dir(p.log))
	if err != nil {
		return fmt.Errorf("look for what the server forked: %w", err)
	}
	return killForked(dir)
}

func (p *process) printed() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("; its log can't be read: %v", err)
	}
	return tail(log)
}

// tail is the end of what a server printed, for an error's text.
func tail(log []byte) string {
	const most = 2000
	log = bytes.TrimSpace(log)
	if len(log) == 0 {
		return "; it printed nothing"
	}
	return "; it printed:\n" + string(log[max(0, len(log)-most):])
}

// freePort returns a port of 127.0.0.1 that nobody listened on a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
