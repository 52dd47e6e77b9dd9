package leasetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasekit/lease"
)

// ruling is what one story says of the clauses.
type ruling struct {
	kept   map[string]bool    // the story tried the clause, and it was kept
	broken map[string]*breach // and it was broken
	// refused says that the helper took exception to its options (ErrInvalid)
	// before it touched the store, so that nothing can be said.
	refused bool
	stuck   string // virtual time did not come to the end of the story
}

// breach is a clause that was broken.
type breach struct {
	problem string
	want    string
	at      moment   // the line of the history that shows it
	or      []string // other clauses, whose breach explains this one
}

// unless names other clauses whose breach, where it is known, explains this one.
func (b *breach) unless(ids ...string) { b.or = ids }

// judgeStory judges all calls of the helper in a story.
func judgeStory(p schedule, r *record) ruling {
	u := ruling{kept: map[string]bool{}, broken: map[string]*breach{}, stuck: r.stuck}
	r.attribute(p)
	if refusedOptions(r) {
		u.refused = true
		return u
	}
	if judgeCompany(p, r, &u) {
		for i := range r.holds {
			j := &holdJudge{p: p, r: r, u: &u, i: i, run: r.holds[i], plan: p.holds[i]}
			j.judge()
		}
	}
	if b, broken := u.broken["HOLD-1"]; broken {
		// Which call of the store was made for which of the helper can't be told.
		u.broken, u.kept = map[string]*breach{"HOLD-1": b}, nil
	}
	for id := range u.broken {
		delete(u.kept, id)
	}
	return u
}

// refusedOptions says whether a helper can't do what it was asked to.
func refusedOptions(r *record) bool {
	if len(r.calls) > 0 {
		return false
	}
	for _, run := range r.holds {
		if !run.ended.happened() || len(run.bodies) > 0 || !errors.Is(run.err, lease.ErrInvalid) {
			return false
		}
	}
	return true
}

// attribute finds out for which call of the helper each call of the store was
// made, where the context did not tell: by the holder, of which every call of the
// helper has its own, or else by the key.
func (r *record) attribute(p schedule) {
	owner := map[string]int{}
	for i, run := range r.holds {
		for _, b := range run.bodies {
			if _, known := owner[b.lease.Holder]; !known {
				owner[b.lease.Holder] = i
			}
		}
	}
	for _, c := range r.calls {
		if c.owner >= 0 && c.op == onAcquire {
			owner[c.lease.Holder] = c.owner
		}
	}
	for _, c := range r.calls {
		if i, known := owner[c.lease.Holder]; known && c.owner < 0 && c.op != onGet {
			c.owner = i
		}
		for i, run := range r.holds {
			if c.owner < 0 && p.holds[i].key == c.key && run.began.before(c.began) && c.began.before(run.ended) {
				c.owner = i
			}
		}
	}
}

// holdJudge judges one call of the helper.
type holdJudge struct {
	p    schedule
	r    *record
	u    *ruling
	i    int
	run  *holdRun
	plan hold

	calls  []*storeCall  // that were made for it
	body   *bodyRun      // nil: it did not run
	grant  *storeCall    // the Acquire that was granted
	sure   time.Duration // until when the lease was certain, by what was confirmed in time
	told   moment        // when the store first said that the lease is lost
	over   time.Duration // when the grant ended in the store
	passed bool          // the body went on past the deadline (HOLD-4)
	thrown bool          // the body's panic came out of the helper
}

// breaks notes that a clause is broken; the first breach of a story counts.
func (j *holdJudge) breaks(id string, at moment, want, problem string, args ...any) *breach {
	b := &breach{problem: fmt.Sprintf(problem, args...), want: want, at: at}
	if _, known := j.u.broken[id]; !known {
		j.u.broken[id] = b
	}
	return b
}

func (j *holdJudge) keeps(id string) { j.u.kept[id] = true }

func (j *holdJudge) judge() {
	for _, c := range j.r.calls {
		if c.owner == j.i {
			j.calls = append(j.calls, c)
		}
	}
	if !j.run.began.happened() {
		return // the one before never returned
	}
	if j.r.stuck != "" {
		// How it ended is not known; only what was left behind is.
		if j.r.allReturned {
			j.breaks("HOLD-10", j.run.ended, "nothing is left", "the helper has returned, and something of it goes on without a pause")
		}
		return
	}
	if !j.judgeGrant() {
		return
	}
	if j.body == nil {
		if j.run.panicked != nil || j.run.exited {
			j.breaks("HOLD-1", j.run.ended, "the body runs, or an error", "the helper %s", j.outcome())
			return
		}
		j.judgeRefusal()
		j.judgeRest()
		return
	}
	if j.r.spun {
		j.u.stuck = fmt.Sprintf("the helper made more than %d calls to the store", tooManyCalls)
		return
	}
	j.prepare()
	for _, c := range j.calls {
		if c.op == onAcquire && errors.Is(c.err, lease.ErrHeld) && j.p.options.wait == 0 && c.ended.before(j.grant.began) {
			j.breaks("HOLD-9", c.ended, "ErrHeld at once", "the key is held, and the helper, not told to wait, asks again")
			break
		}
	}
	if j.releasedEarly() {
		return // what comes of it is no other fault
	}
	j.judgeRenewals()
	j.judgeDeadline()
	j.judgeLoss()
	j.judgePatience()
	j.judgeReturn()
	j.judgeRelease()
	j.judgeRest()
}

// judgeGrant is about HOLD-1. It says whether the rest makes sense.
func (j *holdJudge) judgeGrant() bool {
	for _, c := range j.calls {
		if c.op == onAcquire && c.err == nil && c.ended.happened() {
			j.grant = c
			break
		}
	}
	switch n := len(j.run.bodies); {
	case n > 1:
		j.breaks("HOLD-1", j.run.bodies[1].began, "one run of the body", "the body runs %d times", n)
		return false
	case n == 0:
		if j.grant == nil && len(j.calls) > 0 {
			j.keeps("HOLD-1")
		}
		return true
	}
	j.body = j.run.bodies[0]
	switch {
	case j.grant == nil || j.body.began.before(j.grant.ended):
		j.breaks("HOLD-1", j.body.began, "no body without a grant", "the body runs, though no lease was granted")
		return false
	case j.body.noContext:
		j.breaks("HOLD-1", j.body.began, "a context", "the body gets no context")
		return false
	case !sameLease(j.body.lease, j.grant.reply):
		j.breaks("HOLD-1", j.body.began, "the lease that was granted: "+leaseText(j.grant.reply), "the body gets another lease than the one that was granted")
		return false
	}
	if name := j.p.options.name; name != "" {
		if h := j.grant.lease.Holder; !strings.Contains(h, name) || len(h) <= len(name) {
			j.breaks("HOLD-1", j.grant.began, fmt.Sprintf("a holder with %q and a unique suffix", name),
				"the lease is acquired for the holder %q, where the caller gave the name %q", h, name)
			return false
		}
	}
	j.keeps("HOLD-1")
	return true
}

func sameLease(a, b lease.Lease) bool {
	return a.Key == b.Key && a.Holder == b.Holder && a.Token == b.Token && a.ExpiresAt.Equal(b.ExpiresAt)
}

// prepare works out what was true of the lease.
func (j *holdJudge) prepare() {
	j.told = notYet
	freed := never // when the helper gave the lease back
	for _, g := range j.r.grants {
		if g.key == j.plan.key && g.token == j.body.lease.Token {
			j.over = g.over
			if g.freed {
				freed = g.over
			}
		}
	}
	var confirmed []*storeCall
	for _, c := range j.calls {
		if !c.ended.happened() || c.op == onGet {
			continue
		}
		switch {
		case c.err == nil && (c == j.grant || c.op == onRenew && j.about(c)):
			confirmed = append(confirmed, c)
		case errors.Is(c.err, lease.ErrLost) && j.about(c) && c.ended.before(j.told) && c.ended.at < freed:
			j.told = c.ended
		}
	}
	slices.SortStableFunc(confirmed, func(a, b *storeCall) int { return a.ended.seq - b.ended.seq })
	for i, c := range confirmed {
		if i > 0 && c.ended.at > j.sure {
			break // it came too late
		}
		j.sure = max(j.sure, j.lasts(c))
	}
	j.thrown = j.run.panicked != nil && strings.Contains(fmt.Sprint(j.run.panicked), bodyPanic)
}

// about says whether a call is about the body's lease.
func (j *holdJudge) about(c *storeCall) bool {
	return c.lease.Holder == j.body.lease.Holder && c.lease.Token == j.body.lease.Token && c.key == j.plan.key
}

// lasts is until when a confirmed grant or renewal makes the lease certain: from
// before it was asked for, less what the clocks may drift.
func (j *holdJudge) lasts(c *storeCall) time.Duration {
	end := c.began.at + c.ttl - j.p.options.margin
	if end < c.began.at {
		return never
	}
	return end
}

// sureAt is until when the lease was certain, as far as was known just before an
// instant.
func (j *holdJudge) sureAt(at time.Duration) time.Duration {
	sure := time.Duration(0)
	for _, c := range j.calls {
		if c.err == nil && (c == j.grant || c.ended.at < at && c.op == onRenew && j.about(c)) {
			sure = max(sure, j.lasts(c))
		}
	}
	return sure
}

// byCaller says whether the body's context may have ended because the caller's
// did.
func (j *holdJudge) byCaller() bool { return j.run.callerEnded.at <= j.body.cancelled.at }

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
	return b.failed && (j.sure < b.ended.at || j.told.before(j.run.ended) && j.over < b.ended.at)
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
	var confirmed, failing bool // by calls after the body's end
	decided := j.run.ended.at   // when the last of them ended
	clean, asked := true, false
	for _, c := range j.calls {
		clean = clean && (c.err == nil || c.ended.before(b.ended))
		if c.op != onRenew && c.op != onGet || !c.ended.before(j.run.ended) || c.ended.before(b.ended) {
			continue
		}
		if !asked || c.ended.at > decided {
			decided, asked = c.ended.at, true
		}
		confirmed = confirmed || c.err == nil && (c.op == onRenew && j.about(c) || c.op == onGet && c.reply.Holder == b.lease.Holder && c.reply.Token == b.lease.Token)
		failing = failing || errors.Is(c.err, errStore)
	}
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
	case err == nil && !confirmed:
		b := j.breaks("HOLD-6", j.run.ended, "an error: nothing has confirmed the lease since the body returned",
			"the helper reports success, and has not confirmed that the lease was held when the body returned")
		if lost {
			b.unless("HOLD-3")
		}
	case err == nil && lost && (j.over < b.ended.at || j.sure < b.ended.at):
		j.breaks("HOLD-6", j.run.ended, "an error for which errors.Is(err, ErrLost)",
			"the helper reports success, though the lease was over at +%v, before the body returned", min(j.over, j.sure))
	case err == nil:
		j.keeps("HOLD-6")
	case !confirmed && (j.told.before(j.run.ended) || j.sure < decided) && !errors.Is(err, lease.ErrLost):
		b := j.breaks("HOLD-6", j.run.ended, "an error for which errors.Is(err, ErrLost)",
			"the lease is lost, and the helper returns %s", errorText(err))
		if !j.told.before(j.run.ended) {
			b.unless("HOLD-4", "HOLD-3")
		}
	case !lost && !confirmed && failing && j.sure > j.run.ended.at && !errors.Is(err, errStore):
		j.breaks("HOLD-6", j.run.ended, "the store's error",
			"the store could not confirm the lease, and the helper returns %s", errorText(err))
	case clean && confirmed && !lost:
		j.breaks("HOLD-6", j.run.ended, "nil: the body returned nil, and the store confirmed the lease and took it back",
			"all went well, and the helper returns %s", errorText(err))
	default:
		j.keeps("HOLD-6")
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

// judgeRefusal is about a call whose body did not run (HOLD-9).
func (j *holdJudge) judgeRefusal() {
	held := notYet // when the store first said so
	var other bool // some call had another outcome
	polls := 0
	for _, c := range j.calls {
		if c.op != onAcquire && c.op != onGet {
			continue
		}
		polls++
		switch {
		case errors.Is(c.err, lease.ErrHeld), c.op == onGet && c.err == nil:
			if c.ended.before(held) {
				held = c.ended
			}
		case j.r.spun && !c.ended.happened():
		case !c.ended.happened(), c.ended.at < j.run.callerEnded.at:
			other = true
		}
	}
	waits := j.p.options.wait > 0
	switch {
	case j.run.ended.happened() && j.run.err == nil:
		j.breaks("HOLD-6", j.run.ended, "an error", "the helper reports success, and the body never ran")
	case !held.happened() || other:
		// Some other failure of Acquire; the contract has no word on it.
	case !waits && (!j.run.ended.happened() || j.run.ended.at > j.atOnce(held.at)):
		j.breaks("HOLD-9", held, "ErrHeld at once", "the key is held, and the helper, not told to wait, %s", j.when())
	case !waits && !errors.Is(j.run.err, lease.ErrHeld):
		j.breaks("HOLD-9", j.run.ended, "ErrHeld", "the key is held, and the helper %s", j.outcome())
	case !waits:
		j.keeps("HOLD-9")
	case j.r.spun:
		j.breaks("HOLD-9", held, "polls with pauses", "the helper, told to pause for up to %v, polls %d times by +%v", j.p.options.wait, polls, j.calls[len(j.calls)-1].began.at)
	case j.run.ended.at < j.run.callerEnded.at:
		j.breaks("HOLD-9", j.run.ended, "polls until the context ends", "the helper, told to wait for a key that is held, gives up at +%v: it %s", j.run.ended.at, j.outcome())
	case !j.run.ended.happened() || j.run.ended.at > j.atOnce(j.run.callerEnded.at):
		j.breaks("HOLD-9", j.nextAfter(j.run.callerEnded.at), "the context's error at once", "the caller's context ends while the helper waits, and the helper %s", j.when())
	case !errors.Is(j.run.err, j.run.callerErr):
		j.breaks("HOLD-9", j.run.ended, fmt.Sprintf("the context's error, %q", j.run.callerErr), "the caller's context ends while the helper waits, and the helper %s", j.outcome())
	case j.freeFor() > longWait:
		j.breaks("HOLD-9", j.run.ended, "polls, and a grant", "the key was free for %v, and the helper, which waits for it, did not ask", j.freeFor())
	default:
		j.keeps("HOLD-9")
	}
}

// longWait is how long a key may be free before a helper that waits for it asks
// again, whatever pauses it makes.
const longWait = time.Hour

// freeFor is how long the key had been free, and nobody had asked for it, when the
// wait ended.
func (j *holdJudge) freeFor() time.Duration {
	free := time.Duration(0)
	for _, g := range j.r.grants {
		if g.key == j.plan.key {
			free = max(free, g.over)
		}
	}
	for _, c := range j.calls {
		free = max(free, c.ended.at)
	}
	if free >= j.run.callerEnded.at {
		return 0
	}
	return j.run.callerEnded.at - free
}

// when says when the helper returned, and what.
func (j *holdJudge) when() string {
	if !j.run.ended.happened() {
		return j.outcome()
	}
	return fmt.Sprintf("%s at +%v", j.outcome(), j.run.ended.at)
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

// judgeCompany is about several calls of the helper: HOLD-1, that no two have
// one holder, and HOLD-9, that those who wait do not ask in step. It says whether
// the calls can be told apart.
func judgeCompany(p schedule, r *record, u *ruling) bool {
	owner := map[string]int{}
	polls := make([][]moment, len(p.holds))
	for _, c := range r.calls {
		if c.owner < 0 {
			continue
		}
		if c.op == onAcquire || c.op == onGet {
			polls[c.owner] = append(polls[c.owner], c.began)
		}
		if c.op != onAcquire {
			continue
		}
		if i, known := owner[c.lease.Holder]; known && i != c.owner {
			u.broken["HOLD-1"] = &breach{
				problem: fmt.Sprintf("two calls of the helper acquire for one holder, %s", shown(c.lease.Holder)),
				want:    "a holder of its own for every call", at: c.began,
			}
			return false
		}
		owner[c.lease.Holder] = c.owner
	}
	if p.options.wait == 0 || len(polls) < 2 || min(len(polls[0]), len(polls[1])) < somePolls {
		return true
	}
	together := slices.EqualFunc(polls[0][:somePolls], polls[1][:somePolls], func(a, b moment) bool { return a.at == b.at })
	if together {
		u.broken["HOLD-9"] = &breach{
			problem: fmt.Sprintf("two calls that wait for one key ask for it at the same instants, %d times in a row", somePolls),
			want:    "pauses with jitter", at: polls[1][somePolls-1],
		}
	} else {
		u.kept["HOLD-9"] = true
	}
	return true
}

// somePolls is how many polls in a row can't be at the same instants by chance.
const somePolls = 8

func errorText(err error) string {
	if err == nil {
		return "nil"
	}
	return fmt.Sprintf("the error %q", err)
}
