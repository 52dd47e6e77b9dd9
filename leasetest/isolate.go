package leasetest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	text, err := json.Marshal(s.run())
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	return os.WriteFile(os.Getenv(isolatedFile), text, 0o644)
}

// isolate is the parent's part. A child that leaves no report died of what it
// judged.
func (s *suite) isolate() (*Report, error) {
	dir, err := os.MkdirTemp("", "leasetest-isolated-*")
	if err != nil {
		return nil, fmt.Errorf("make folder for the child process: %w", err)
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this test binary: %w", err)
	}
	file := filepath.Join(dir, "report.json")
	cmd := exec.Command(exe, s.childArgs(isolatedTime)...)
	// A data race is the end, at once: what comes after it is worth nothing.
	cmd.Env = append(os.Environ(), isolatedTest+"="+s.id(), isolatedFile+"="+file, "GORACE=halt_on_error=1")
	ended := cage.Run(s.ctx, cmd, cage.Limits{Time: isolatedTime, Memory: isolatedMemory})
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		var r Report
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("decode the report of the child process: %w", err)
		}
		return &r, nil
	case ended != nil:
		return s.died(ended.Error()), nil
	}
	return s.died("it left no report, and ended as if all were well"), nil
}
