package leasetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leasekit/lease"
)

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
				want:    "a holder of its own for every call", at: c.began, alone: true,
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
