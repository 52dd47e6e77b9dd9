package server

import (
	"errors"

	"github.com/leasekit/lease/chaos"
)

// Process is the server for the faults of package chaos: it is killed, paused
// and started again. It fails in everything on a server that the test has not
// started.
func (i *instance) Process() chaos.Process { return faulty{i} }

type faulty struct{ of *instance }

var _ chaos.Process = faulty{}

var errNotOurs = errors.New("the server was not started by the test")

// Pid implements [chaos.Process].
func (f faulty) Pid() (int, error) {
	if f.of == nil {
		return 0, errNotOurs
	}
	return f.of.pid()
}

// Kill implements [chaos.Process].
func (f faulty) Kill() error {
	if f.of == nil {
		return errNotOurs
	}
	return f.of.crash()
}

// Stop implements [chaos.Process]. Of a container it is a kill: what is stopped
// in order is taken away with its data.
func (f faulty) Stop() error {
	if f.of == nil {
		return errNotOurs
	}
	if _, ok := f.of.running.(*container); ok {
		return f.of.crash()
	}
	return f.of.end()
}

// Start implements [chaos.Process].
func (f faulty) Start() error {
	if f.of == nil {
		return errNotOurs
	}
	return f.of.run()
}
