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
	alone   bool     // nothing else can be told of the story
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
	if b, broken := u.broken["HOLD-1"]; broken && b.alone {
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
	for _, c := range r.calls {
		if c.owner >= 0 && c.op == onAcquire {
			owner[c.lease.Holder] = c.owner
		}
	}
	for i, run := range r.holds {
		for _, b := range run.bodies {
			if _, known := owner[b.lease.Holder]; !known {
				owner[b.lease.Holder] = i
			}
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

	calls   []*storeCall  // that were made for it
	body    *bodyRun      // nil: it did not run
	grant   *storeCall    // the Acquire that was granted
	sure    time.Duration // until when the lease was certain, by what was confirmed in time
	told    moment        // when the store first said that the lease is lost
	over    time.Duration // when the grant ended in the store
	release moment        // when the helper first tried to give the lease back

	// Of the calls between the body's end and the release (afterwards):
	confirmed bool          // one said that the lease is held,
	failing   bool          // the last one failed,
	clean     bool          // none did, nor the release;
	decided   time.Duration // when the last of them ended

	passed bool // the body went on past the deadline (HOLD-4)
	thrown bool // the body's panic came out of the helper
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
		j.breaks("HOLD-1", j.run.bodies[1].began, "one run of the body", "the body runs %d times", n).alone = true
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
		j.breaks("HOLD-1", j.body.began, "no body without a grant", "the body runs, though no lease was granted").alone = true
		return false
	case j.givenBack():
		j.breaks("HOLD-1", j.body.began, "no body without a grant", "the body runs, though its lease was given back").alone = true
		return false
	case j.body.noContext:
		j.breaks("HOLD-1", j.body.began, "a context", "the body gets no context").alone = true
		return false
	case !sameLease(j.body.lease, j.grant.reply):
		j.breaks("HOLD-1", j.body.began, "the lease that was granted: "+leaseText(j.grant.reply), "the body gets another lease than the one that was granted")
		return true
	}
	if name := j.p.options.name; name != "" {
		if h := j.grant.lease.Holder; !strings.Contains(h, name) || len(h) <= len(name) {
			j.breaks("HOLD-1", j.grant.began, fmt.Sprintf("a holder with %q and a unique suffix", name),
				"the lease is acquired for the holder %q, where the caller gave the name %q", h, name)
			return true
		}
	}
	j.keeps("HOLD-1")
	return true
}

// givenBack says whether the lease was released before the body began.
func (j *holdJudge) givenBack() bool {
	return slices.ContainsFunc(j.calls, func(c *storeCall) bool {
		return c.op == onRelease && j.about(c) && c.err == nil && c.ended.before(j.body.began)
	})
}

func sameLease(a, b lease.Lease) bool {
	return a.Key == b.Key && a.Holder == b.Holder && a.Token == b.Token && a.ExpiresAt.Equal(b.ExpiresAt)
}

// prepare works out what was true of the lease.
func (j *holdJudge) prepare() {
	j.told = notYet
	freed := never // when the helper gave the lease back
	for _, g := range j.r.grants {
		if g.key == j.plan.key && g.token == j.grant.reply.Token {
			j.over = g.over
			if g.freed {
				freed = g.over
			}
		}
	}
	// What is heard of the lease after the helper tried to give it back is no news.
	j.release = notYet
	for _, c := range j.calls {
		if c.op == onRelease && j.about(c) && c.began.before(j.release) {
			j.release = c.began
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
		case errors.Is(c.err, lease.ErrLost) && j.about(c) && c.ended.before(j.told) && c.ended.at < freed && !j.release.before(c.began):
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
	j.afterwards()
	j.thrown = j.run.panicked != nil && strings.Contains(fmt.Sprint(j.run.panicked), bodyPanic)
}

// about says whether a call is about the lease that was granted.
func (j *holdJudge) about(c *storeCall) bool {
	return c.lease.Holder == j.grant.reply.Holder && c.lease.Token == j.grant.reply.Token && c.key == j.plan.key
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
