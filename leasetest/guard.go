package leasetest

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"
)

// callLimit is how long one call into a backend or a harness may take before
// it counts as hanging. It is far above what any store needs, so that a slow
// machine raises no false alarm.
const callLimit = 10 * time.Second

// hangLimit is how many hanging calls a run puts up with before it calls the
// rest inconclusive: each costs callLimit and leaves a goroutine behind.
const hangLimit = 8

// guard runs foreign code so that it can neither stop the run nor hold it up.
type guard struct {
	limit time.Duration
	hung  atomic.Int32
}

// ending is how guarded code ended, if not by returning.
type ending struct {
	panicked bool
	exited   bool // runtime.Goexit, as t.FailNow does
	hung     bool
	text     string // for people
}

func (e ending) ok() bool { return !e.panicked && !e.exited && !e.hung }

// exhausted says that too many calls hung for the run to go on.
func (g *guard) exhausted() bool { return g.hung.Load() >= hangLimit }

// errExhausted is returned when nothing more is called, because too many calls
// hung.
var errExhausted = fmt.Errorf("not called: %d calls before it did not return", hangLimit)

// run calls f, unless too many calls have hung.
func (g *guard) run(f func()) ending {
	if g.exhausted() {
		return ending{hung: true, text: errExhausted.Error()}
	}
	return g.always(f)
}

// always calls f on a goroutine of its own and waits until it has ended, or for
// the limit.
func (g *guard) always(f func()) ending {
	done := make(chan ending, 1)
	go func() {
		end := ending{exited: true, text: "ended its goroutine"}
		defer func() {
			if p := recover(); p != nil {
				end = ending{panicked: true, text: fmt.Sprintf("panicked: %v%s", p, where(debug.Stack()))}
			}
			done <- end
		}()
		f()
		end = ending{}
	}()
	timer := time.NewTimer(g.limit)
	defer timer.Stop()
	select {
	case end := <-done:
		return end
	case <-timer.C:
		g.hung.Add(1)
		return ending{hung: true, text: fmt.Sprintf("did not return within %v", g.limit)}
	}
}

// where names the function and the line at which a panic began, from its stack.
func where(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "panic(") {
			continue
		}
		for _, at := range lines[i+1:] {
			at = strings.TrimSpace(at)
			if file, _, ok := strings.Cut(at, " +0x"); ok && !strings.Contains(file, "/src/runtime/") {
				if j := strings.LastIndexByte(file, '/'); j >= 0 {
					file = file[j+1:]
				}
				return " at " + file
			}
		}
	}
	return ""
}
