package leasetest

import (
	"context"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// bubbleCall is a call on its way into a bubble.
type bubbleCall struct {
	c     call
	reply chan answer
}

// bubbleTime is how long a worker may take, in real time, to come to life in a
// bubble or to leave it.
const bubbleTime = 3 * time.Second

// bubbleWorker connects a worker inside a testing/synctest bubble, where the
// clock begins at the year 2000, stands still while anything happens outside,
// and is ahead by what the bubble slept before the worker connected. The
// channels are made outside, so that waiting on them does not let the bubble's
// time run on; contexts are made inside, as the bubble demands.
func bubbleWorker(st *store, w Worker, ahead time.Duration) (caller, error) {
	calls := make(chan bubbleCall)
	ready := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				tell(ready, fmt.Errorf("panic in the bubble: %v%s", p, where(debug.Stack())))
			}
		}()
		// The zero T serves: the bubble needs one to run under, and the worker
		// gets a TB of its own, so that nothing is ever reported to it.
		synctest.Test(&testing.T{}, func(t *testing.T) { live(st, w, ahead, calls, ready) })
		tell(ready, fmt.Errorf("the bubble ended"))
	}()
	timer := time.NewTimer(bubbleTime)
	defer timer.Stop()
	select {
	case err := <-ready:
		if err != nil {
			return nil, err
		}
	case <-timer.C:
		return nil, fmt.Errorf("it did not connect in a bubble (testing/synctest) within %v: name hosts by IP address, and make a client of its own in each Connect", bubbleTime)
	}
	st.tb.Cleanup(func() {
		close(calls)
		timer := time.NewTimer(bubbleTime)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C: // a client that leaves something behind keeps its bubble
		}
	})
	return func(_ context.Context, c call) answer {
		reply := make(chan answer, 1)
		select {
		case calls <- bubbleCall{c, reply}:
			return <-reply
		case <-ended:
			return answer{problem: "the worker's bubble has ended"}
		}
	}, nil
}

// live is a worker's life in the bubble.
func live(st *store, w Worker, ahead time.Duration, calls <-chan bubbleCall, ready chan<- error) {
	time.Sleep(ahead)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tb := newCaseTB(st.tb.TB, st.tb.name)
	here := &guard{limit: 1<<63 - 1} // real time can't be told in here; the outside watches
	defer tb.finish(here)
	svc, err := (&store{guard: here, h: st.h}).dial(tb, w)
	tell(ready, err)
	if err != nil {
		return
	}
	for b := range calls {
		var a answer
		if end := here.run(func() { a = b.c.on(ctx, svc) }); !end.ok() {
			a = answer{problem: end.text}
		}
		b.reply <- a
	}
}

// followsBubble says whether a server clock runs with a bubble's time when it
// is read inside of one.
func followsBubble(c *Clock) bool {
	follows := make(chan bool, 1)
	go func() {
		defer func() {
			if recover() != nil {
				follows <- false // it can't be read there, so it is no clock of this process
			}
		}()
		synctest.Test(&testing.T{}, func(*testing.T) {
			before := c.Now()
			time.Sleep(100 * day) // which takes no time outside
			follows <- c.Now().Sub(before) > 99*day
		})
	}()
	timer := time.NewTimer(bubbleTime)
	defer timer.Stop()
	select {
	case f := <-follows:
		return f
	case <-timer.C:
		return false
	}
}

func tell(to chan<- error, err error) {
	select {
	case to <- err:
	default:
	}
}
