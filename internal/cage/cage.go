// Package cage runs a program that may do anything – end early, hang, eat all
// memory – within limits, and says how it ended.
package cage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits bound a program. Zero fields set no limit.
type Limits struct {
	Time   time.Duration
	Memory int64 // resident bytes; seen to on Linux only
}

// look is how often the memory of a program is measured.
const look = 10 * time.Millisecond

// The causes with which a program is ended.
var (
	ErrTime   = errors.New("it ran for too long")
	ErrMemory = errors.New("it took too much memory")
)

// Run runs cmd, which must not have been started nor have Stdout or Stderr set,
// within the limits. It returns nil if the program ended with status 0. Else
// the error says how it ended, with its last words; errors.Is finds the limit
// that was passed. When ctx ends, so does the program.
func Run(ctx context.Context, cmd *exec.Cmd, limits Limits) error {
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	// A program that was killed may have left children that hold its output.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var over <-chan time.Time
	if limits.Time > 0 {
		timer := time.NewTimer(limits.Time)
		defer timer.Stop()
		over = timer.C
	}
	again := time.NewTicker(look)
	defer again.Stop()
	var cause error
	end := func(why error) {
		if cause == nil {
			cause = why
			// Only of a process that ended by itself can this fail.
			_ = cmd.Process.Kill()
		}
	}
	for {
		select {
		case err := <-done:
			switch said := LastWords(out.String()); {
			case cause != nil:
				return fmt.Errorf("%w: %s", cause, said)
			case err != nil:
				return fmt.Errorf("%w: %s", err, said)
			}
			return nil
		case <-ctx.Done():
			end(ctx.Err())
		case <-over:
			end(fmt.Errorf("%w (more than %v)", ErrTime, limits.Time))
		case <-again.C:
			if n := resident(cmd.Process.Pid); limits.Memory > 0 && n > limits.Memory {
				end(fmt.Errorf("%w (%d MB, of %d)", ErrMemory, n>>20, limits.Memory>>20))
			}
		}
	}
}

// resident is the memory that a process has in use, in bytes; 0 where that
// can't be told.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// LastWords is the line of a crashed program's output that says most: the first
// that speaks of a panic, a fatal error or a data race, else the last one.
func LastWords(out string) string {
	last := "it said nothing"
	for _, line := range strings.Split(out, "\n") {
		line = strings.TrimSpace(line)
		for _, start := range []string{"panic:", "fatal error:", "WARNING: DATA RACE"} {
			if strings.HasPrefix(line, start) {
				return line
			}
		}
		if line != "" {
			last = line
		}
	}
	return last
}

// tail keeps the beginning and the end of what is written.
type tail struct {
	mu   sync.Mutex
	head bytes.Buffer
	rest []byte
}

const kept = 64 << 10 // bytes of either

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if room := kept - t.head.Len(); room > 0 {
		t.head.Write(p[:min(room, len(p))])
		p = p[min(room, len(p)):]
	}
	t.rest = append(t.rest, p...)
	if len(t.rest) > kept {
		t.rest = append(t.rest[:0], t.rest[len(t.rest)-kept:]...)
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head.String() + string(t.rest)
}
