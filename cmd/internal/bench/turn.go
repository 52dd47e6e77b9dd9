package bench

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/leasekit/lease/cmd/internal/benchreport"
)

// caller makes the calls of one row, turn by turn. Between its turns those of the
// other rows of the workload have theirs.
type caller struct {
	workload *Workload
	calls    []call // one for each worker
	rate     float64
	sample   int64 // one call in so many is timed

	shards []shard
	active time.Duration // of all turns so far: the clock of the open loop
	due    atomic.Int64  // the next call of the open loop
}

// shard takes the latencies of one worker, or of several if there are many of them:
// a histogram has some 300 kB.
type shard struct {
	sync.Mutex
	hist *hdrhistogram.Histogram
}

const mostShards = 16

func newCaller(w *Workload, calls []call, rate float64) *caller {
	c := &caller{workload: w, calls: calls, rate: rate, sample: 1, shards: make([]shard, min(len(calls), mostShards))}
	for i := range c.shards {
		c.shards[i].hist = benchreport.NewHistogram()
	}
	return c
}

// turn is what one turn of a caller has found.
type turn struct {
	calls, refused int64
	elapsed        time.Duration
	mean           float64 // ns
	hist           *hdrhistogram.Histogram
	errors         map[string]int64
	firstErr       error
	allocs, bytes  uint64
}

// count is what a worker counts in its turn.
type count struct {
	calls, refused int64
	errors         map[string]int64
	firstErr       error
}

func (c *count) failed(err error) {
	if c.errors == nil {
		c.errors, c.firstErr = map[string]int64{}, err
	}
	c.errors[kindOf(err)]++
}

// take makes calls for a time, or a number of them if that is not 0. It ends early
// if ctx does; calls that failed because of that don't count.
func (c *caller) take(ctx, callCtx context.Context, long time.Duration, number int64) turn {
	var stop atomic.Bool
	left := &atomic.Int64{}
	left.Store(number)
	if number == 0 {
		left = nil
		timer := time.AfterFunc(long, func() { stop.Store(true) })
		defer timer.Stop()
	}
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()

	counts := make([]count, len(c.calls))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	var all sync.WaitGroup
	for i := range c.calls {
		w := &worker{caller: c, call: c.calls[i], shard: &c.shards[i%len(c.shards)], count: &counts[i], stop: &stop, left: left, began: began}
		all.Go(func() {
			if c.rate > 0 && !c.workload.slow {
				w.open(ctx, callCtx, long)
			} else {
				w.closed(ctx, callCtx)
			}
		})
	}
	all.Wait()
	t := turn{elapsed: time.Since(began)}
	runtime.ReadMemStats(&after)
	t.hist = benchreport.NewHistogram()
	c.active += t.elapsed
	t.allocs, t.bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	for i := range counts {
		t.calls += counts[i].calls
		t.refused += counts[i].refused
		for kind, n := range counts[i].errors {
			if t.errors == nil {
				t.errors, t.firstErr = map[string]int64{}, counts[i].firstErr
			}
			t.errors[kind] += n
		}
	}
	for i := range c.shards {
		t.hist.Merge(c.shards[i].hist)
		c.shards[i].hist.Reset()
	}
	if c.sample > 1 && t.calls > 0 {
		t.mean = float64(t.elapsed) * float64(len(c.calls)) / float64(t.calls)
	} else if t.hist.TotalCount() > 0 {
		t.mean = t.hist.Mean()
	}
	return t
}

// worker makes the calls of one worker in one turn.
type worker struct {
	caller *caller
	call   call
	shard  *shard
	count  *count
	stop   *atomic.Bool
	left   *atomic.Int64 // nil: until stop
	began  time.Time
}

func (w *worker) more() bool {
	return !w.stop.Load() && (w.left == nil || w.left.Add(-1) >= 0)
}

// closed makes one call after the other.
func (w *worker) closed(ctx, callCtx context.Context) {
	untimed := int64(0)
	for w.more() {
		if untimed++; untimed < w.caller.sample {
			_, err := w.call(callCtx)
			if !w.done(ctx, err) {
				return
			}
			continue
		}
		untimed = 0
		start := time.Since(w.began)
		took, err := w.call(callCtx)
		if took == 0 {
			took = time.Since(w.began) - start
		}
		if !w.done(ctx, err) {
			return
		}
		w.record(took, err)
	}
}

// timersLate is how late a timer may wake a worker by its own fault. A worker that
// slept until its call was due, and woke no later than that, begins in time.
const timersLate = time.Millisecond

// open begins calls when they are due, or as soon after that as a worker is free,
// and counts from when they were due.
func (w *worker) open(ctx, callCtx context.Context, long time.Duration) {
	c := w.caller
	every := float64(time.Second) / c.rate
	for w.more() {
		// Due on the clock that runs in the turns of this caller alone.
		due := time.Duration(float64(c.due.Add(1)-1)*every) - c.active
		if w.left == nil && due >= long {
			c.due.Add(-1) // the next turn's
			return
		}
		start := due
		if early := due - time.Since(w.began); early > 0 {
			if pause(ctx, early) != nil {
				c.due.Add(-1)
				return
			}
			if now := time.Since(w.began); now-due < timersLate {
				start = now
			}
		}
		took, err := w.call(callCtx)
		if took == 0 {
			took = time.Since(w.began) - start
		}
		if !w.done(ctx, err) {
			return
		}
		w.record(took, err)
	}
}

// done counts a call, unless it failed because the run was ended.
func (w *worker) done(ctx context.Context, err error) bool {
	if err != nil && !held(err) {
		if ctx.Err() != nil {
			return false
		}
		w.count.failed(err)
	}
	if held(err) {
		w.count.refused++
	}
	w.count.calls++
	return true
}

// record takes the latency of a call that had its answer. Those of calls that failed
// say nothing about the store's speed.
func (w *worker) record(took time.Duration, err error) {
	if err != nil && !held(err) {
		return
	}
	w.shard.Lock()
	defer w.shard.Unlock()
	benchreport.Record(w.shard.hist, took)
}

// unserved are the calls of the open loop that were due before its end and never
// begun. Each has waited since; that is recorded.
func (c *caller) unserved(h *hdrhistogram.Histogram) int64 {
	if c.rate == 0 || c.workload.slow {
		return 0
	}
	every := float64(time.Second) / c.rate
	n := int64(0)
	for i := c.due.Load(); ; i++ {
		due := time.Duration(float64(i) * every)
		if due >= c.active {
			return n
		}
		n++
		benchreport.Record(h, c.active-due)
	}
}
