package leasetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// recorded is one call of a concurrent check with its reply and its times.
type recorded struct {
	worker   int
	c        call
	a        answer
	w        model.Window
	called   time.Duration // since the check began, monotonic
	returned time.Duration
}

// granted is the lease of a reply under the names that the call had: that other
// names came back is a matter of KEY-3, and of nothing that is done with it next.
func (r recorded) granted() lease.Lease {
	l := r.a.lease
	l.Key = r.c.key
	if r.c.do == doRenew {
		l.Key = r.c.lease.Key
	}
	if r.c.do != doGet {
		l.Holder = r.c.op().Holder
	}
	return l
}

// recorder makes calls from several goroutines and keeps what they saw.
type recorder struct {
	st    *store
	began time.Time
	mu    sync.Mutex
	calls []recorded
}

func newRecorder(st *store) *recorder { return &recorder{st: st, began: time.Now()} }

// do makes one call as worker, which is connected already, and records it.
func (r *recorder) do(ctx context.Context, worker int, c call) recorded {
	w, err := r.st.worker(worker, "")
	if err != nil {
		return recorded{worker: worker, c: c, a: answer{problem: err.Error()}}
	}
	rec := recorded{worker: worker, c: c}
	rec.w.Lo, _ = r.st.clock.bounds()
	rec.called = time.Since(r.began)
	if rand.IntN(2) == 0 {
		// A call that takes less than a microsecond is over before another
		// thread has woken up. Stand back now and then, so that calls overlap.
		runtime.Gosched()
	}
	rec.a = r.st.call(ctx, w, c)
	rec.returned = time.Since(r.began)
	_, rec.w.Hi = r.st.clock.bounds()
	if rec.w.Hi.Before(rec.w.Lo) {
		rec.w.Lo = rec.w.Hi
	}
	r.mu.Lock()
	r.calls = append(r.calls, rec)
	r.mu.Unlock()
	return rec
}

// together runs f once for each of n workers, all starting at once, and
// returns when every one has ended.
func together(n int, f func(worker int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// sorted returns the calls in the order in which they began.
func (r *recorder) sorted() []recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := append([]recorded(nil), r.calls...)
	sort.SliceStable(calls, func(i, j int) bool { return calls[i].called < calls[j].called })
	return calls
}

// overlapping says whether any two of the calls were out at the same time.
func overlapping(calls []recorded) bool {
	for i := 1; i < len(calls); i++ {
		if calls[i].called <= calls[i-1].returned {
			return true
		}
	}
	return false
}

// events shows calls as lines of a history: here the time is when the call
// began and ended, since the server clock may well stand still.
func events(calls []recorded) []Event {
	var list []Event
	for _, c := range calls {
		list = append(list, Event{
			Time:   fmt.Sprintf("+%v to +%v", c.called.Round(time.Microsecond), c.returned.Round(time.Microsecond)),
			Worker: workerName(c.worker), Call: c.c.String(), Reply: c.a.String(),
		})
	}
	return list
}

// indefinite returns the first call on a healthy store that has no definite
// reply, or nil.
func indefinite(calls []recorded) *recorded {
	for i := range calls {
		if a := calls[i].a; a.problem != "" || a.err != nil && !definite(a.err) {
			return &calls[i]
		}
	}
	return nil
}

// historyOf makes a history that can be judged from the calls on one key.
func historyOf(st *store, key string, most int64, calls []recorded) history.History {
	h := history.History{Key: key, Rules: st.h.rules(), Max: most}
	for _, c := range calls {
		h.Calls = append(h.Calls, history.Call{
			Worker: c.worker, Text: c.c.String(), ReplyTxt: c.a.String(),
			Op: c.c.op(), Reply: c.a.reply(c.c.do), Window: c.w,
			Called: c.called, Returned: c.returned,
		})
	}
	return h
}

// fromHistory finds the calls that a shortened history has kept.
func fromHistory(h history.History, calls []recorded) []recorded {
	var kept []recorded
	i := 0
	for _, c := range h.Calls {
		for ; i < len(calls); i++ {
			if calls[i].called == c.Called && calls[i].worker == c.Worker {
				kept = append(kept, calls[i])
				i++
				break
			}
		}
	}
	return kept
}

// bounds is the server clock for concurrent use: an instant not after and one
// not before the present one.
func (c *serverClock) bounds() (lo, hi time.Time) {
	switch c.kind {
	case clockFrozen:
		return c.now, c.now
	case clockNone:
		return farPast, farFuture
	}
	now, ok := c.reading()
	if !ok {
		return farPast, farFuture
	}
	return now, now
}

// holderOf names the holder that worker n asks for.
func holderOf(n int) string { return fmt.Sprintf("worker-%d", n+1) }

// acquireCall and the others make calls for the concurrent checks.
func acquireCall(key, holder string, ttl time.Duration) call {
	return call{do: doAcquire, key: key, holder: holder, ttl: ttl}
}

func renewCall(l lease.Lease, ttl time.Duration) call {
	return call{do: doRenew, key: l.Key, holder: l.Holder, lease: l, ttl: ttl}
}

func releaseCall(l lease.Lease) call {
	return call{do: doRelease, key: l.Key, holder: l.Holder, lease: l}
}

func getCall(key string) call { return call{do: doGet, key: key} }
