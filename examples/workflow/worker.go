package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
)

// worker carries runs through their steps, beside other workers that do the same. It
// keeps nothing: whatever happens to it, another one goes on from the journals.
type worker struct {
	name   string
	leases lease.Service
	data   fence.Resource
	ttl    time.Duration
	floor  floorLine
}

// floorLine connects a worker with those who watch it.
type floorLine interface {
	// say tells what has happened.
	say(event)

	// work is the work of a step, which takes as long as it takes.
	work(event)
}

// mostFailures is how often on end a worker tries a store that does not do its part.
const mostFailures = 10

// finishAll returns when all runs are finished, by whomever.
func (w *worker) finishAll(ctx context.Context, runs []string) error {
	failures := 0
	for _, run := range runs {
		for {
			finished, err := w.attempt(ctx, run)
			if finished {
				failures = 0
				break
			}
			if errors.Is(err, lease.ErrLost) || errors.Is(err, fence.ErrStale) {
				// Somebody else has the run by now. Whoever that is may die too, so
				// wait for the lease again.
				w.floor.say(event{What: superseded, Run: run})
				failures = 0
				continue
			}
			// What became of the last call is not known, and need not be: the next
			// attempt begins with what is in the journal.
			if failures++; failures == mostFailures || ctx.Err() != nil {
				return fmt.Errorf("%s: %d failures on end, the last: %w", run, failures, err)
			}
			select {
			case <-time.After(w.ttl / 4):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// attempt waits for the lease of a run and takes the run to its end.
func (w *worker) attempt(ctx context.Context, run string) (finished bool, err error) {
	err = lease.Hold(ctx, w.leases, runKey(run), w.options(), func(ctx context.Context, l lease.Lease) error {
		if err := w.advance(ctx, run, l.Token); err != nil {
			return err
		}
		finished = true
		return nil
	})
	return finished, err
}

// advance takes the steps that are left of a run.
func (w *worker) advance(ctx context.Context, run string, token int64) error {
	me := attempt{Worker: w.name, Token: token}
	j, err := load(ctx, w.data, run)
	if err != nil || j.finished() {
		return err
	}
	// The claim lets the data store know the new token: from here on it refuses what
	// earlier attempts may still send. A result that came between the two lines, too
	// late for the one and too early for the other, is done again.
	j.Attempts = append(j.Attempts, me)
	if err := save(ctx, w.data, run, token, j); err != nil {
		return err
	}
	w.floor.say(event{What: claimed, Run: run, Token: token})
	for _, step := range steps[len(j.Results):] {
		err := lease.Hold(ctx, w.leases, stationKey(step), w.options(), func(ctx context.Context, _ lease.Lease) error {
			e := event{Run: run, Step: step, Token: token}
			w.floor.work(e)
			j.Results = append(j.Results, result{Step: step, By: me})
			return w.deliver(ctx, e, j)
		})
		if err != nil {
			return err
		}
	}
	w.floor.say(event{What: finished, Run: run, Token: token})
	return nil
}

// deliver writes the result of a step.
func (w *worker) deliver(ctx context.Context, e event, j journal) error {
	// A context can't call back a request that is on its way, and the pause that
	// makes it late may come at any moment. So the end of the lease does not keep
	// this write from being sent: it has to be refused where it arrives.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.ttl)
	defer cancel()
	err := save(ctx, w.data, e.Run, e.Token, j)
	var stale *fence.StaleError
	switch {
	case err == nil:
		e.What = landed
	case errors.As(err, &stale):
		e.What, e.Highest = refused, stale.Highest
	default:
		return err
	}
	w.floor.say(e)
	return err
}

func (w *worker) options() *lease.HoldOptions {
	return &lease.HoldOptions{TTL: w.ttl, Holder: w.name, Wait: min(20*time.Millisecond, w.ttl/4)}
}
