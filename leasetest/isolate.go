package leasetest

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/leasekit/lease/internal/cage"
)

// With -lease.isolate each Run judges in a child process – this test binary once
// more, restricted to this test – so that what ends a process ends that one. The
// environment tells the child what it is.
const (
	isolatedTest = "LEASETEST_ISOLATED_TEST" // name and ordinal of the Run call that is meant
	isolatedFile = "LEASETEST_ISOLATED_FILE" // where the report goes
)

// The limits of an isolated run.
const (
	isolatedTime   = 10 * time.Minute
	isolatedMemory = 2 << 30
	isolatedStack  = 256 << 20 // so that endless recursion is not taken for hunger
)

// inIsolation says whether this process is the child of an isolated run.
func inIsolation() bool { return os.Getenv(isolatedTest) != "" }

// runIsolated is the child's part: the report, if this run is meant.
func (s *suite) runIsolated() error {
	if os.Getenv(isolatedTest) != s.id() {
		return nil
	}
	debug.SetMaxStack(isolatedStack)
	return cage.Leave(isolatedFile, s.run())
}

// isolate is the parent's part. A child that leaves no report died of what it
// judged.
func (s *suite) isolate() (*Report, error) {
	var r Report
	ended, err := cage.Child{
		Args: s.childArgs(isolatedTime), File: isolatedFile,
		// A data race is the end, at once: what comes after it is worth nothing.
		Env:    []string{isolatedTest + "=" + s.id(), "GORACE=halt_on_error=1"},
		Limits: cage.Limits{Time: isolatedTime, Memory: isolatedMemory},
	}.Run(s.ctx, &r)
	switch {
	case err != nil:
		return nil, err
	case ended != nil:
		return s.died(ended.Error()), nil
	}
	return &r, nil
}
