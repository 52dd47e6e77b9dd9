package leasetest

import (
	"errors"
	"fmt"

	"github.com/leasekit/lease"
)

// judgeReturn is about what the helper returns: HOLD-6 and HOLD-8.
func (j *holdJudge) judgeReturn() {
	b := j.body
	if !j.returned() {
		if b.ended.happened() && !j.run.ended.happened() {
			j.judgeNoReturn()
		}
		return
	}
	err := j.run.err
	if j.passed {
		return
	}
	lost := j.told.before(j.run.ended) || j.over < b.ended.at || j.sure < b.ended.at
	if b.failed {
		j.judgeErrors()
		return
	}
	switch {
	case j.lostMeanwhile():
		// That is HOLD-3.
	case err == nil && !j.confirmed:
		b := j.breaks("HOLD-6", j.run.ended, "an error: nothing has confirmed the lease since the body returned",
			"the helper reports success, and has not confirmed that the lease was held when the body returned")
		if lost {
			b.unless("HOLD-3")
		}
	case err == nil:
		j.keeps("HOLD-6")
	case !j.confirmed && (j.told.before(j.run.ended) || j.sure < j.decided) && !errors.Is(err, lease.ErrLost):
		b := j.breaks("HOLD-6", j.run.ended, "an error for which errors.Is(err, ErrLost)",
			"the lease is lost, and the helper returns %s", errorText(err))
		if !j.told.before(j.run.ended) {
			b.unless("HOLD-4", "HOLD-3")
		}
	case !lost && !j.confirmed && j.failing && j.run.ended.at < j.sure-j.p.options.ttl/patience && !errors.Is(err, errStore):
		j.breaks("HOLD-6", j.run.ended, "the store's error",
			"the store could not confirm the lease, and the helper returns %s", errorText(err))
	case j.clean && j.confirmed && !lost:
		j.breaks("HOLD-6", j.run.ended, "nil: the body returned nil, and the store confirmed the lease and took it back",
			"all went well, and the helper returns %s", errorText(err))
	default:
		j.keeps("HOLD-6")
	}
}

// afterwards works out what the calls tell that came between the body's end and the
// release.
func (j *holdJudge) afterwards() {
	b := j.body
	j.clean, j.decided = true, j.run.ended.at
	asked := false
	for _, c := range j.calls {
		j.clean = j.clean && (c.err == nil || c.ended.before(b.ended))
		if c.op != onRenew && c.op != onGet || !c.ended.before(j.run.ended) || c.ended.before(b.ended) || j.release.before(c.began) {
			continue
		}
		if !asked || c.ended.at >= j.decided {
			j.decided, asked = c.ended.at, true
			j.failing = errors.Is(c.err, errStore)
		}
		held := c.op == onRenew && j.about(c) || c.op == onGet && c.reply.Holder == j.grant.reply.Holder && c.reply.Token == j.grant.reply.Token
		j.confirmed = j.confirmed || c.err == nil && held
	}
}

// judgeErrors is about HOLD-8: a body that returned an error of its own.
func (j *holdJudge) judgeErrors() {
	if !errors.Is(j.run.err, errBody) {
		j.breaks("HOLD-8", j.run.ended, "an error for which errors.Is finds the body's own",
			"the body returns an error of its own, and the helper returns %s", errorText(j.run.err))
		return
	}
	tried, released := false, false
	for _, c := range j.calls {
		if c.op == onRelease && j.about(c) && c.ended.happened() {
			tried = tried || errors.Is(c.err, errStore)
			released = released || c.err == nil || errors.Is(c.err, lease.ErrLost)
		}
	}
	if tried && !released && !j.told.happened() && !errors.Is(j.run.err, errStore) {
		j.breaks("HOLD-8", j.run.ended, "an error for which errors.Is finds the body's own and that of Release",
			"the lease could not be released, and the helper returns %s", errorText(j.run.err))
		return
	}
	j.keeps("HOLD-8")
}

// judgeNoReturn finds the clause that a helper breaks which does not return,
// though the body did.
func (j *holdJudge) judgeNoReturn() {
	for _, c := range j.calls {
		if c.ended.at < j.p.horizon() {
			continue
		}
		if c.op == onRelease {
			j.breaks("HOLD-7", c.began, "a context with a deadline: the store does not answer",
				"the helper waits for its Release for ever")
		} else {
			j.breaks("HOLD-6", c.began, "a context with a deadline: the store does not answer",
				"the body has returned, and the helper waits for its %s for ever", c.op)
		}
		return
	}
	j.breaks("HOLD-7", j.body.ended, "the lease is released, and the helper returns",
		"the body has ended, and the helper does not return")
}

// releasedEarly is the part of HOLD-7 that is about the time while the body runs.
func (j *holdJudge) releasedEarly() bool {
	for _, c := range j.calls {
		if c.op == onRelease && j.about(c) && c.began.before(j.body.ended) {
			j.breaks("HOLD-7", c.began, "no release before the body has returned",
				"the lease is released at +%v, while the body runs", c.began.at)
			return true
		}
	}
	return false
}

// judgeRelease is the rest of HOLD-7.
func (j *holdJudge) judgeRelease() {
	b := j.body
	released, dead := false, notYet
	for _, c := range j.calls {
		if c.op != onRelease || !j.about(c) {
			continue
		}
		if !c.done {
			released = true
		} else if !dead.happened() {
			dead = c.began
		}
	}
	if !b.ended.happened() || !j.run.ended.happened() {
		return
	}
	gone := j.told.before(j.run.ended) || j.sure < j.run.ended.at
	if !released && !gone {
		if dead.happened() {
			j.breaks("HOLD-7", dead, "a context that is not cancelled", "the lease is released on a context that was done, so that nothing is sent")
		} else {
			j.breaks("HOLD-7", j.run.ended, "the lease is released first", "the body has ended, and the lease is not released")
		}
		return
	}
	if j.plan.body.as == panics && !j.thrown || j.plan.body.as != panics && (j.run.panicked != nil || j.run.exited) {
		if j.plan.body.as != panics {
			j.breaks("HOLD-7", j.run.ended, "a return", "the body returns, and the helper %s", j.outcome())
			return
		}
		j.breaks("HOLD-7", j.run.ended, "the body's panic goes on", "the body panics, and the helper %s", j.outcome())
		return
	}
	if !gone {
		j.keeps("HOLD-7")
	}
}

// outcome says how the helper ended.
func (j *holdJudge) outcome() string { return j.run.outcome() }

func (r *holdRun) outcome() string {
	switch {
	case !r.ended.happened():
		return "does not return"
	case r.panicked != nil:
		return fmt.Sprintf("panics: %v", r.panicked)
	case r.exited:
		return "ends its goroutine"
	}
	return "returns " + errorText(r.err)
}

// judgeRest is about what is left behind (HOLD-10).
func (j *holdJudge) judgeRest() {
	if !j.run.ended.happened() {
		return
	}
	for _, c := range j.calls {
		if j.run.ended.before(c.began) {
			j.breaks("HOLD-10", c.began, "no call after the helper has returned", "the helper has returned, and calls %s", c.op)
			return
		}
		if j.run.ended.before(c.ended) {
			j.breaks("HOLD-10", j.run.ended, fmt.Sprintf("nothing under way: %s, begun at +%v, is", c.op, c.began.at), "the helper returns while its %s is under way", c.op)
			return
		}
	}
	if j.r.allReturned && j.r.left {
		j.breaks("HOLD-10", j.run.ended, "no goroutine is left", "the helper has returned, and a goroutine of it is left")
		return
	}
	if j.body != nil && j.body.ended.at-j.body.began.at > j.p.options.ttl/2 {
		j.keeps("HOLD-10")
	}
}
