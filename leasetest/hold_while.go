package leasetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
)

// judgeRenewals is about HOLD-2: at least twice per ttl, so never more than half
// a ttl without a renewal on its way.
func (j *holdJudge) judgeRenewals() {
	end := min(j.body.ended.at, j.told.at, j.sure)
	if !j.byCaller() {
		end = min(end, j.body.cancelled.at)
	}
	idle := j.body.began.at
	half := j.p.options.ttl / 2
	for _, c := range j.calls {
		if c.op != onRenew || c.began.at > end {
			continue
		}
		if c.began.at > idle+half {
			break
		}
		idle = max(idle, c.ended.at)
	}
	if idle < never && end > idle+half {
		b := j.breaks("HOLD-2", j.nextAfter(idle+half), fmt.Sprintf("a renewal by +%v", idle+half),
			"the body runs, and the lease is not renewed for more than half of its ttl, from +%v to +%v", idle, j.nextRenewal(idle, end))
		if j.run.callerEnded.at <= idle+half {
			b.unless("HOLD-5") // that it has given the lease up does not show in a context that is done
		}
		return
	}
	if end-j.body.began.at > j.p.options.ttl {
		j.keeps("HOLD-2")
	}
}

// nextRenewal is when the lease is renewed after an instant, at most end.
func (j *holdJudge) nextRenewal(at, end time.Duration) time.Duration {
	for _, c := range j.calls {
		if c.op == onRenew && c.began.at > at {
			return min(c.began.at, end)
		}
	}
	return end
}

// nextAfter is the first thing that happens to this call after an instant.
func (j *holdJudge) nextAfter(at time.Duration) moment {
	next := j.run.ended
	see := func(m moment) {
		if m.at > at && m.before(next) {
			next = m
		}
	}
	for _, c := range j.calls {
		see(c.began)
		see(c.ended)
	}
	if j.body != nil {
		see(j.body.ended)
		see(j.body.cancelled)
	}
	return next
}

// atOnce is the instant until which something is done at once that is done because
// of a reply: no time passes but in calls of the store.
func (j *holdJudge) atOnce(at time.Duration) time.Duration {
	for moved := true; moved; {
		moved = false
		for _, c := range j.calls {
			if c.began.at <= at && c.ended.at > at {
				at, moved = c.ended.at, true
			}
		}
	}
	return at
}

// judgeLoss is about HOLD-3.
func (j *holdJudge) judgeLoss() {
	b := j.body
	told := j.told.before(b.ended)
	if told {
		soon := j.atOnce(j.told.at)
		if b.cancelled.at > soon && b.ended.at > soon && j.run.callerEnded.at > soon {
			j.breaks("HOLD-3", j.nextAfter(soon), "the body's context is cancelled",
				"the store says at +%v that the lease is lost, and the body's context is not cancelled", j.told.at)
			return
		}
	}
	// What is lost for sure when the body is cancelled is the reason for it.
	if b.cancelled.happened() && !j.byCaller() && (j.told.at <= b.cancelled.at || j.over <= b.cancelled.at) {
		if !errors.Is(b.cause, lease.ErrLost) {
			j.breaks("HOLD-3", b.cancelled, "a cause for which errors.Is(cause, ErrLost)",
				"the lease is lost, and the cause of the body's context is %q", fmt.Sprint(b.cause))
			return
		}
	}
	switch {
	case !j.returned() || !j.lostMeanwhile():
		return
	case !errors.Is(j.run.err, lease.ErrLost):
		b := j.breaks("HOLD-3", j.run.ended, "an error for which errors.Is(err, ErrLost)",
			"the lease was lost while the body ran, and the helper returns %s", errorText(j.run.err))
		switch {
		case told:
		case j.told.before(j.run.ended):
			b.unless("HOLD-6") // nobody asked before the release
		default:
			b.unless("HOLD-4")
		}
		return
	}
	j.keeps("HOLD-3")
}

// lostMeanwhile says whether the helper had to know that the lease was lost while
// the body ran.
func (j *holdJudge) lostMeanwhile() bool {
	b := j.body
	switch {
	case j.told.before(b.ended):
		return true
	case j.passed:
		return false // it is the same fault that nobody knew
	case b.cancelled.happened() && !j.byCaller() && (j.over <= b.ended.at || j.sure < b.ended.at):
		return true
	}
	return b.failed && !j.confirmed && (j.sure < b.ended.at || j.told.before(j.run.ended) && j.over < b.ended.at)
}

// returned says whether the helper returned as it does when the body did.
func (j *holdJudge) returned() bool {
	return j.body.ended.happened() && j.plan.body.as != panics && j.run.ended.happened() && j.run.panicked == nil && !j.run.exited
}

// judgeDeadline is about HOLD-4.
func (j *holdJudge) judgeDeadline() {
	b := j.body
	end := min(b.cancelled.at, b.ended.at, j.run.callerEnded.at)
	switch {
	case j.told.at <= j.sure && j.told.at < end:
		// What comes after that is HOLD-3.
	case end > j.sure && end > b.began.at:
		j.passed = true
		j.breaks("HOLD-4", j.nextAfter(j.sure), fmt.Sprintf("the body's context is cancelled by +%v", j.sure),
			"the lease may have ended at +%v, and the body goes on %s", j.sure, j.until(end))
	case b.cancelled.at <= j.sure && !j.byCaller() && j.told.at > b.cancelled.at:
		j.keeps("HOLD-4")
	case b.began.at >= j.sure:
		j.keeps("HOLD-4")
	}
}

func (j *holdJudge) until(end time.Duration) string {
	if end == never {
		return "without an end"
	}
	return fmt.Sprintf("until +%v", end)
}

// patience is the part of the ttl by which a helper may be more careful than it
// has to be: one that keeps a margin of its own ends the body a little early.
const patience = 4

// judgePatience is about HOLD-5.
func (j *holdJudge) judgePatience() {
	b := j.body
	if b.cancelled.happened() && !j.byCaller() && j.told.at > b.cancelled.at &&
		b.cancelled.at < j.sureAt(b.cancelled.at)-j.p.options.ttl/patience {
		j.breaks("HOLD-5", b.cancelled, fmt.Sprintf("the body goes on: the lease is certain until +%v", j.sureAt(b.cancelled.at)),
			"the body is cancelled at +%v, though the lease is certain until +%v and the store did not say that it is lost", b.cancelled.at, j.sureAt(b.cancelled.at))
		return
	}
	for _, c := range j.calls {
		if c.op == onRenew && errors.Is(c.err, errStore) && c.ended.before(b.ended) && c.ended.at < b.cancelled.at {
			j.keeps("HOLD-5")
		}
	}
}
