package leasetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// caseTB is the testing.TB that harnesses and their clients get. It lives as
// long as one check rather than one test, so that what is opened for the check
// is closed after it, and a failure of the harness becomes the verdict "error"
// instead of ending the run. A nil parent serves outside of go test.
type caseTB struct {
	testing.TB // for its unexported method; every other one is here
	name       string

	mu       sync.Mutex
	cleanups []func()
	failed   bool
	skipped  bool
	log      []string
	strays   []string // failures between two calls of setUp
	ctx      context.Context
	cancel   context.CancelFunc
}

func newCaseTB(parent testing.TB, name string) *caseTB {
	ctx, cancel := context.WithCancel(context.Background())
	return &caseTB{TB: parent, name: name, ctx: ctx, cancel: cancel}
}

// setUp runs f with the guard, as a test function runs, and says what became
// of it.
func (t *caseTB) setUp(g *guard, f func()) error {
	if g.exhausted() {
		return errExhausted
	}
	return t.protect(g, f)
}

// protect is setUp, however many calls have hung.
func (t *caseTB) protect(g *guard, f func()) error {
	t.mu.Lock()
	if t.failed {
		// Something failed between two calls, such as a clock that could not be
		// read; finish reports it.
		t.strays = append(t.strays, t.log...)
	}
	t.failed, t.skipped, t.log = false, false, nil
	t.mu.Unlock()
	end := g.always(f)
	t.mu.Lock()
	defer t.mu.Unlock()
	wasFailed, wasSkipped, text := t.failed, t.skipped, strings.Join(t.log, "; ")
	t.failed, t.skipped, t.log = false, false, nil
	switch {
	case wasSkipped:
		return skipped(text)
	case wasFailed:
		return errors.New(text)
	case !end.ok():
		return errors.New(end.text)
	}
	return nil
}

// skipped is a harness that says by t.Skip that it can't do what it was asked
// for.
type skipped string

func (s skipped) Error() string { return string(s) }

// isSkipped says whether a harness asked by t.Skip to be excused.
func isSkipped(err error) (skipped, bool) {
	var s skipped
	ok := errors.As(err, &s)
	return s, ok
}

// finish runs the cleanups, last in first out.
func (t *caseTB) finish(g *guard) error {
	t.cancel()
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			strays := t.strays
			if t.failed {
				strays = append(strays, t.log...)
			}
			t.mu.Unlock()
			if len(strays) > 0 {
				return errors.New(strings.Join(strays, "; "))
			}
			return nil
		}
		f := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		if err := t.protect(g, f); err != nil {
			return fmt.Errorf("cleanup: %w", err)
		}
	}
}

func (t *caseTB) record(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = append(t.log, strings.TrimSuffix(text, "\n"))
}

func (t *caseTB) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}
func (t *caseTB) Context() context.Context { return t.ctx }
func (t *caseTB) Error(args ...any)        { t.record(fmt.Sprintln(args...)); t.Fail() }
func (t *caseTB) Errorf(format string, args ...any) {
	t.record(fmt.Sprintf(format, args...))
	t.Fail()
}
func (t *caseTB) Fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}
func (t *caseTB) FailNow() { t.Fail(); runtime.Goexit() }
func (t *caseTB) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}
func (t *caseTB) Fatal(args ...any)                 { t.Error(args...); runtime.Goexit() }
func (t *caseTB) Fatalf(format string, args ...any) { t.Errorf(format, args...); runtime.Goexit() }
func (t *caseTB) Helper()                           {}
func (t *caseTB) Log(args ...any)                   {}
func (t *caseTB) Logf(format string, args ...any)   {}
func (t *caseTB) Name() string                      { return t.name }
func (t *caseTB) Skip(args ...any)                  { t.record(fmt.Sprintln(args...)); t.SkipNow() }
func (t *caseTB) Skipf(format string, args ...any) {
	t.record(fmt.Sprintf(format, args...))
	t.SkipNow()
}
func (t *caseTB) SkipNow() {
	t.mu.Lock()
	t.skipped = true
	t.mu.Unlock()
	runtime.Goexit()
}
func (t *caseTB) Skipped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}
func (t *caseTB) Setenv(key, value string) {
	t.Fatalf("Setenv(%q): a harness is opened many times and from several goroutines; set the environment before leasetest.Run", key)
}
func (t *caseTB) Chdir(dir string) {
	t.Fatalf("Chdir(%q): a harness is opened many times and from several goroutines; change folder before leasetest.Run", dir)
}
func (t *caseTB) TempDir() string {
	dir, err := os.MkdirTemp("", "leasetest-*")
	if err != nil {
		t.Fatalf("make temporary folder: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
