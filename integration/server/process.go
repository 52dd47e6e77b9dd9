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
	"syscall"
	"time"
)

// patience bounds how long a server may take to start, and to stop.
const patience = 20 * time.Second

// process is a server program that is running.
type process struct {
	*os.Process
	log  string        // the file with what it prints
	done chan struct{} // closed when it has ended
	err  error         // how it ended; read it after done
}

// start runs a program, with a new log file in dir.
func start(dir, path string, args ...string) (*process, error) {
	log, err := os.CreateTemp(dir, filepath.Base(path)+"-*.log")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = dieWithParent()

	p := &process{log: log.Name(), done: make(chan struct{})}
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
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

// await calls ready again and again until it returns nil. It gives up, with
// what the program printed, when the program ends or the time is over.
func (p *process) await(ready func() error) error {
	over := time.After(patience)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("the server ended before it was ready (%v)%s", p.err, p.printed())
		case <-over:
			return fmt.Errorf("the server was not ready after %v: %w%s", patience, err, p.printed())
		case <-again.C:
		}
	}
}

// end stops the program: with SIGTERM, and if that takes too long, by force.
func (p *process) end() error {
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
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
	return nil
}

// printed returns the end of what the program printed, for an error's text.
func (p *process) printed() string {
	const most = 2000
	log, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("; its log can't be read: %v", err)
	}
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
