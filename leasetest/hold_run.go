package leasetest

import (
	"context"
	"fmt"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasekit/lease"
)

// tell puts a helper through a story, in a bubble whose time passes only when
// everybody waits.
func (h HoldFunc) tell(g *guard, p schedule) *record {
	p = p.bounded()
	sort.SliceStable(p.turns, func(i, j int) bool { return p.turns[i].at < p.turns[j].at })
	rec := &record{}
	for range p.holds {
		rec.holds = append(rec.holds, &holdRun{began: notYet, ended: notYet, callerEnded: notYet})
	}
	end := g.run(func() {
		defer func() {
			// The bubble's own panic: somebody in it waits for ever.
			if what := recover(); what != nil {
				rec.mu.Lock()
				defer rec.mu.Unlock()
				rec.left = true
			}
		}()
		// The zero T serves, as nothing is ever reported to it.
		synctest.Test(&testing.T{}, func(*testing.T) { (&story{p: p, rec: rec, hold: h}).live() })
	})
	rec.mu.Lock()
	defer rec.mu.Unlock()
	switch {
	case end.hung:
		rec.left = true
		rec.stuck = "the helper " + end.text + ", and no virtual time passed: it keeps a processor busy, or waits for what is not in its bubble (testing/synctest), such as a mutex or a connection"
	case rec.final != nil:
		return rec.final
	}
	return rec.copied()
}

// copied is the record as it stands: a helper that is stuck may go on writing.
// The caller holds the mutex.
func (r *record) copied() *record {
	c := &record{allReturned: r.allReturned, left: r.left, stuck: r.stuck, spun: r.spun}
	for _, h := range r.holds {
		again := *h
		again.bodies = nil
		for _, b := range h.bodies {
			body := *b
			again.bodies = append(again.bodies, &body)
		}
		c.holds = append(c.holds, &again)
	}
	for _, call := range r.calls {
		again := *call
		c.calls = append(c.calls, &again)
	}
	for _, g := range r.grants {
		again := *g
		c.grants = append(c.grants, &again)
	}
	return c
}

// story is what goes on in the bubble.
type story struct {
	p     schedule
	rec   *record
	hold  HoldFunc
	store *script
}

func (s *story) live() {
	s.rec.mu.Lock()
	s.rec.began = time.Now()
	s.rec.mu.Unlock()
	s.store = &script{p: s.p, rec: s.rec, quit: make(chan struct{})}
	returned := make([]chan struct{}, len(s.p.holds))
	for i, h := range s.p.holds {
		returned[i] = make(chan struct{})
		go func() {
			defer close(returned[i])
			if h.next && i > 0 {
				<-returned[i-1]
			}
			s.call(i)
		}()
	}
	late := time.NewTimer(s.p.horizon())
	defer late.Stop()
	all := true
	for _, done := range returned {
		select {
		case <-done:
		case <-late.C:
			all = false
		}
		if !all {
			break
		}
	}
	s.rec.mu.Lock()
	s.rec.allReturned = all
	if !all {
		s.rec.final = s.rec.copied()
	}
	s.rec.mu.Unlock()
	if all && s.p.after {
		time.Sleep(3 * s.p.options.ttl)
	}
	// What hangs in the store ends now, so that it is not taken for the helper's.
	// Of a helper that has returned nothing hangs any more.
	if !all {
		close(s.store.quit)
		synctest.Wait()
	}
	// Time stands still from here on: whoever waits in the bubble waits for ever,
	// and makes it panic.
}

// call makes one call of the helper.
func (s *story) call(i int) {
	run, plan := s.rec.holds[i], s.p.holds[i]
	// The caller's context is not cancelled when the helper has returned: it may
	// live as long as the process, and whoever waits for its end is left behind.
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), holdNumber{}, i))
	s.rec.mark(&run.began)
	switch {
	case plan.ends > 0 && plan.deadline:
		ctx, cancel = context.WithDeadline(ctx, time.Now().Add(plan.ends))
	case plan.ends > 0:
		timer := time.AfterFunc(plan.ends, cancel)
		defer timer.Stop()
	}
	_ = cancel
	noted := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(noted)
		s.rec.mu.Lock()
		defer s.rec.mu.Unlock()
		run.callerEnded = s.rec.now()
	})
	defer func() {
		s.see(unwatch, noted, ctx, &run.callerEnded)
		s.rec.mu.Lock()
		defer s.rec.mu.Unlock()
		run.callerErr = ctx.Err()
	}()
	defer func() {
		what := recover()
		s.rec.mu.Lock()
		defer s.rec.mu.Unlock()
		if run.ended == notYet {
			run.ended, run.panicked, run.exited = s.rec.now(), what, what == nil
		}
	}()
	o := s.p.options
	err := s.hold(ctx, s.store, holdKey(plan.key), &lease.HoldOptions{
		TTL: o.ttl, Holder: o.name, Wait: o.wait, RenewEvery: o.every, Margin: o.margin,
	}, func(ctx context.Context, l lease.Lease) error { return s.body(run, plan.body, ctx, l) })
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	run.ended, run.err = s.rec.now(), err
}

// see sees that the end of a context is noted, if it has ended. Who waits for that
// may have been woken before what notes it, and have kept it from running.
func (s *story) see(unwatch func() bool, noted <-chan struct{}, ctx context.Context, m *moment) {
	switch {
	case !unwatch():
		<-noted
	case ctx.Err() != nil:
		s.rec.mark(m)
	}
}

// body is the body of one call.
func (s *story) body(run *holdRun, plan bodyPlan, ctx context.Context, l lease.Lease) error {
	b := &bodyRun{lease: l, began: notYet, ended: notYet, cancelled: notYet, noContext: ctx == nil}
	s.rec.mu.Lock()
	b.began = s.rec.now()
	run.bodies = append(run.bodies, b)
	s.rec.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	noted := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(noted)
		s.rec.mu.Lock()
		defer s.rec.mu.Unlock()
		b.cancelled = s.rec.now()
	})
	work := time.NewTimer(plan.runs)
	defer work.Stop()
	if plan.heeds {
		select {
		case <-work.C:
		case <-ctx.Done():
		}
	} else {
		<-work.C
	}
	s.see(unwatch, noted, ctx, &b.cancelled)
	stopped := plan.heeds && ctx.Err() != nil
	s.rec.mu.Lock()
	b.cause = context.Cause(ctx)
	b.ended, b.failed = s.rec.now(), plan.as == fails || plan.as == succeeds && stopped
	s.rec.mu.Unlock()
	switch {
	case plan.as == panics:
		panic(bodyPanic)
	case plan.as == fails:
		return errBody
	case stopped:
		return fmt.Errorf("%w: %w", errBody, ctx.Err())
	}
	return nil
}
