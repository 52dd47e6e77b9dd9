package leasetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// judgement is one reply before the model.
type judgement struct {
	r      *runner
	k      *keyTrack
	c      call
	a      answer
	w      model.Window
	worker int
	as     string

	reply model.Reply
	op    model.Op
	prior []model.State // that the model allowed before the reply
	asked *bool         // whether a witness gave a definite answer; nil if none was asked
	said  model.Reply   // by that witness
}

// exhaustible is the distance from the largest token within which a counter
// may refuse to rise: gaps are allowed, so it need not reach the very last one
// (TOKEN-6, TOKEN-9).
const exhaustible = 1 << 20

// judge compares the reply with the contract: its shape first, then what it
// says.
func (j *judgement) judge() {
	r, k := j.r, j.k
	j.op = j.c.op()
	if j.c.do == doGet {
		defer func() { k.looked = true }()
	}
	if clause, why := j.c.invalid(r.st.h.maxTTL()); why != nil {
		j.judgeInvalid(clause, why)
		return
	}
	if j.a.problem != "" {
		r.blame(j.definite(), "a valid call "+j.a.problem, j.indefinite()...)
		k.untracked = true
		return
	}
	if !j.judgeShape() {
		return
	}
	j.reply = j.a.reply(j.c.do)
	if j.reply.Outcome == model.Granted && j.c.do != doGet {
		j.reply.Holder = j.op.Holder // as judgeShape saw to
	}
	if j.exhausted() {
		return
	}
	if j.reply.Outcome == model.Unknown {
		r.blame(j.definite(), fmt.Sprintf("a valid call on a healthy store fails: %v", j.a.err), j.indefinite()...)
		if r.found == nil {
			r.resync(k, j.worker, j.w, "ERR-7")
		}
		return
	}
	if k.untracked {
		if j.reply.Outcome == model.Granted && j.c.do != doGet {
			k.adopt(j.reply, j.w)
			j.note(len(k.grants) == 0 || k.grants[len(k.grants)-1].token != j.reply.Token)
		}
		return
	}
	before := k.state()
	j.prior = k.states
	if k.step(r.rules, j.op, j.reply, j.w) {
		j.accepted(before)
		return
	}
	want, clauses := j.explain(before)
	if !r.blame(want, j.problem(before), clauses...) {
		return
	}
	j.excused()
}

// excused brings the model in line with a reply that a failing clause
// explains.
func (j *judgement) excused() {
	switch {
	case j.reply.Outcome == model.Granted && j.c.do != doGet:
		before := j.k.states
		j.k.adopt(j.reply, j.w)
		// The expiry may be wrong in the reply alone. A call that should have been
		// refused may have changed nothing, and a renewal the expiry only.
		right := j.k.state()
		right.EndLo, right.EndHi = j.w.Lo.Add(j.c.ttl), j.r.rules.Longest(j.w.Hi, j.c.ttl)
		j.k.states = addState(j.k.states, right)
		for _, s := range before {
			j.k.states = addState(j.k.states, s)
			if j.c.do == doRenew {
				s.EndLo, s.EndHi = j.reply.Expires, j.reply.Expires
				j.k.states = addState(j.k.states, s)
			}
		}
		j.note(len(j.k.grants) == 0 || j.k.grants[len(j.k.grants)-1].token != j.reply.Token)
		j.k.doubtful = true
	case j.c.do == doGet:
		if j.r.excuses.has("GET-1") || j.r.excuses.has("GET-2") || j.r.excuses.has("KEY-3") {
			return // Get is what is wrong, not the state
		}
		j.k.doubt(j.reply, j.w)
	default:
		j.r.resync(j.k, j.worker, j.w, "")
	}
}

// judgeInvalid judges a call whose arguments are outside of the contract.
func (j *judgement) judgeInvalid(clause string, why error) {
	r, k := j.r, j.k
	ok := j.a.problem == "" && errors.Is(j.a.err, lease.ErrInvalid)
	switch {
	case !ok:
		ids := []string{clause, "ERR-7"}
		if j.a.hung {
			ids = []string{"ERR-7", clause}
		}
		r.blame(fmt.Sprintf("ErrInvalid (%s)", strings.TrimPrefix(why.Error(), lease.ErrInvalid.Error()+": ")),
			"arguments outside of the contract are not refused with ErrInvalid", ids...)
		k.untracked = true
	case j.a.lease != (lease.Lease{}):
		r.blame("the zero Lease and ErrInvalid", "a call returns a lease and an error", "ERR-8")
	}
	if ok {
		r.seen[clause]++
	}
	k.last = cause{clauses: []string{"ARG-4"}}
	j.silent("ARG-4")
}

// judgeShape judges what can be said of an answer without knowing the state,
// and says whether there is more to judge.
func (j *judgement) judgeShape() bool {
	r, a, c := j.r, &j.a, j.c
	if a.err != nil {
		if a.lease != (lease.Lease{}) {
			return r.blame("the zero Lease with the error", "a call returns a lease and an error", "ERR-8")
		}
		if n := matching(a.err); n > 1 {
			return r.blame("one sentinel", fmt.Sprintf("an error is %d of the four sentinels at once: %v", n, a.err), "ERR-7")
		}
		return true
	}
	if c.do == doRelease {
		return true
	}
	l := a.lease
	if c.do == doGet && l.ExpiresAt.IsZero() && l.Key == c.key && l.Holder != "" && l.Token > 0 {
		r.blame("the expiry too", "Get shows a grant without its expiry", "GET-1", "ERR-8")
		return false
	}
	if l == (lease.Lease{}) || l.ExpiresAt.IsZero() || l.Key == "" || l.Holder == "" {
		if !r.blame("a whole lease, or an error", "a call returns neither a whole lease nor an error", "ERR-8") {
			return false
		}
		j.k.untracked = true
		return false
	}
	if l.Token <= 0 {
		ids := []string{"TOKEN-1"}
		if j.k.nearEnd() {
			ids = []string{"TOKEN-9", "TOKEN-8", "TOKEN-1"}
		}
		if !r.blame("a token > 0", fmt.Sprintf("the token is %d", l.Token), ids...) {
			return false
		}
		j.k.untracked = true
		return false
	}
	if l.Key != c.key {
		if !r.blame("key "+shown(c.key), fmt.Sprintf("the key comes back as %s", shown(l.Key)), "KEY-3") {
			return false
		}
		a.lease.Key = c.key
	}
	if c.do != doGet && l.Holder != c.op().Holder {
		if !r.blame("holder "+shown(c.op().Holder), fmt.Sprintf("the holder comes back as %s", shown(l.Holder)), "KEY-3", "EXCL-6") {
			return false
		}
		a.lease.Holder = c.op().Holder
	}
	return true
}

// definite says what the contract wants of a call that had no definite reply.
func (j *judgement) definite() string {
	if j.k.untracked {
		return "a definite reply"
	}
	return j.expect(j.k.state())
}

// indefinite are the clauses that want a definite reply from this call: those on
// its unusual arguments, if it has any, and ERR-7.
func (j *judgement) indefinite() []string {
	c := j.c
	huge, tiny := false, false
	if c.do == doAcquire || c.do == doRenew {
		huge, tiny = isHuge(c.ttl), c.ttl < j.r.rules.Resolution
	}
	if j.a.hung {
		return []string{"ERR-7"}
	}
	var ids []string
	for _, unusual := range []struct {
		is bool
		id string
	}{
		{c.do == doRelease && j.stale(), "RELEASE-3"},
		{huge, "ARG-3"},
		{tiny, "ARG-2"},
		{isLong(c.key) || isLong(c.holder), "ARG-1"},
		{j.k.big(), "TOKEN-8"},
	} {
		if unusual.is {
			ids = append(ids, unusual.id)
		}
	}
	return append(ids, "ERR-7")
}

// stale says whether the lease of a Release is not the live grant.
func (j *judgement) stale() bool {
	s := j.k.state()
	return !j.k.untracked && (!s.Held || s.Token != j.c.lease.Token || s.Holder != j.c.lease.Holder || !j.w.Hi.Before(s.EndLo))
}

// isHuge says whether a ttl is one that a backend may cut, or fail to add up.
func isHuge(ttl time.Duration) bool { return ttl > 7*day }

// big says whether the tokens of the key no longer fit into a float64, or are
// about to.
func (k *keyTrack) big() bool { return k.seeded && len(k.states) > 0 && k.state().Max >= 1<<53-2 }

// nearEnd says whether the counter of the key was raised to where it may refuse
// to rise any further.
func (k *keyTrack) nearEnd() bool { return k.seeded && k.state().Max >= math.MaxInt64-exhaustible }

// exhausted judges an Acquire of a free key whose counter is near its end, and
// says whether that was all there is to judge.
func (j *judgement) exhausted() bool {
	k := j.k
	s := k.state()
	if j.c.do != doAcquire || !k.nearEnd() {
		return false
	}
	if k.untracked {
		return j.reply.Outcome == model.Unknown
	}
	held := func(s model.State) bool { return s.Held && j.w.Lo.Before(s.EndHi.Add(j.r.rules.ExpiryLag)) }
	if all := !slices.ContainsFunc(k.states, func(s model.State) bool { return !held(s) }); all || held(s) && j.reply.Outcome != model.Unknown {
		return false
	}
	want := fmt.Sprintf("an error: no token is greater than %d", s.Max)
	k.last = cause{clauses: []string{"TOKEN-9"}}
	switch j.reply.Outcome {
	case model.Unknown:
		if errors.Is(j.a.err, lease.ErrInvalid) {
			j.r.blame(want+", and the arguments are valid", "a counter at its end answers ErrInvalid", "TOKEN-9")
		}
		return true
	case model.Granted:
		if j.reply.Token > s.Max {
			return false
		}
		ids := []string{"TOKEN-9", "TOKEN-8"}
		if j.reply.Token < math.MaxInt64/2 { // it may have begun anew
			ids = append(ids, "TOKEN-2", "TOKEN-4", "TOKEN-5")
		}
		j.r.blame(want, fmt.Sprintf("a counter at its end grants the token %d", j.reply.Token), ids...)
	default:
		j.r.blame(want, "a counter at its end answers as if somebody held the key", "TOKEN-9", "RELEASE-1", "EXPIRY-3")
	}
	if j.r.found == nil {
		k.untracked = true
	}
	return true
}

// accepted updates the facts after a reply that the contract allows.
func (j *judgement) accepted(before model.State) {
	k := j.k
	if len(k.tainted) == 0 {
		for _, id := range j.evidence(before) {
			j.r.seen[id]++
		}
	}
	live := before.Held && j.w.Lo.Before(before.EndHi)
	own := live && before.Holder == j.op.Holder
	switch j.c.do {
	case doAcquire:
		switch {
		case j.reply.Outcome == model.Held:
			j.caused("EXCL-2")
		case own && before.Token == j.reply.Token:
			j.note(false)
			j.caused("EXCL-4")
		default:
			j.note(true)
			k.last, k.tainted = cause{}, nil
		}
	case doRenew:
		if j.reply.Outcome == model.Granted {
			j.note(false)
			j.caused("RENEW-1")
		} else {
			j.caused(j.staleRenew(before))
		}
	case doRelease:
		k.freed = true
		if live && own && before.Token == j.op.Token {
			k.last = cause{clauses: []string{"RELEASE-1"}, release: true}
			if n := len(k.grants); n > 0 {
				k.grants[n-1].released = true
			}
			j.silent("RELEASE-1")
		} else {
			j.caused("RELEASE-2")
		}
	case doGet:
		j.caused("GET-3")
	}
	j.doubtOthers()
}

// doubtOthers keeps the states that the reply speaks against, if a clause that is
// known to fail may be what speaks: where a step of the clock left open whether
// a grant is live, the fault may look like the answer.
func (j *judgement) doubtOthers() {
	if len(j.prior) < 2 || len(j.r.excuses.any()) == 0 {
		return
	}
	for _, s := range j.prior {
		if len(j.r.rules.Step(s, j.op, j.reply, j.w)) > 0 {
			continue
		}
		if _, ids := j.blame(s); slices.ContainsFunc(ids, j.r.excuses.has) {
			j.k.states = addState(j.k.states, s)
			j.k.taint(ids[slices.IndexFunc(ids, j.r.excuses.has)])
		}
	}
}

// caused notes that the event may have changed the key in silence, against the
// clause id; if that clause is known to fail, the store is asked what is left.
func (j *judgement) caused(id string) {
	j.k.last = cause{clauses: []string{id}}
	j.silent(id)
}

func (j *judgement) silent(id string) {
	r := j.r
	if r.found != nil {
		return
	}
	if id == "GET-3" && r.excuses.has("GET-3") {
		j.k.untracked = true
		return
	}
	if r.excuses.has(id) && !j.k.untracked {
		r.resync(j.k, j.worker, j.w, id)
	}
}

// note records a lease that was granted, afresh or again.
func (j *judgement) note(fresh bool) {
	setBy := "EXCL-4"
	if j.c.do == doRenew {
		setBy = "RENEW-1"
	}
	j.k.granted(j.a.lease, j.worker, j.w, j.c.ttl, fresh, setBy)
	if j.as != "" {
		j.r.names[j.as] = kept{j.a.lease, j.worker}
	}
}
