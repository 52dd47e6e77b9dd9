package chaos

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"
)

// leash knows the goroutines that a campaign has started: labels of package
// runtime/pprof go from a goroutine to those that it starts.
type leash struct{ name string }

var leashes atomic.Int64

func newLeash() *leash { return &leash{fmt.Sprintf("campaign-%d", leashes.Add(1))} }

// on runs f under the leash.
func (l *leash) on(ctx context.Context, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("leasekit", l.name), f)
}

// left returns the stacks of goroutines that are still there.
func (l *leash) left() []string {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return []string{err.Error()}
	}
	var left []string
	for _, stack := range strings.Split(all.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("%q:%q", "leasekit", l.name)) {
			left = append(left, stack)
		}
	}
	return left
}

// gone waits until nothing is left, and returns what is after the time.
func (l *leash) gone(within time.Duration) []string {
	return eventually(within, l.left)
}

// eventually asks again and again until what is left is empty, or the time over.
func eventually(within time.Duration, left func() []string) []string {
	over := time.After(within)
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		if len(left()) == 0 {
			return nil
		}
		select {
		case <-again.C:
		case <-over:
			return left()
		}
	}
}
