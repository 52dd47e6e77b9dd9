package leasetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasekit/lease/internal/model"
)

// blame puts a reply that the model does not allow to the clause it breaks,
// from what the run knows of the key. It returns what the contract expects and
// the clauses that may be at fault, likeliest first: where two clauses forbid
// the same reply, a backend that is known to break the one is not accused of
// the other.
func (j *judgement) blame(s model.State) (want string, ids []string) {
	want = j.expect(s)
	switch j.c.do {
	case doAcquire:
		ids = j.blameAcquire(s)
	case doRenew:
		ids = j.blameRenew(s)
	case doRelease:
		ids = j.blameRelease(s)
	default:
		ids = j.blameGet(s)
	}
	switch {
	case j.k.back && j.w.Lo.Before(j.k.peak):
		ids = append([]string{"EXPIRY-7"}, ids...)
	case j.k.back: // the clock has caught up since
		ids = append(ids, "EXPIRY-7")
	}
	if j.k.space != "" { // what is wrong here alone is wrong with namespaces
		ids = append([]string{"KEY-2"}, ids...)
	}
	switch {
	case j.k.nearEnd():
		ids = append([]string{"TOKEN-9", "TOKEN-8"}, ids...)
	case j.k.big():
		ids = append([]string{"TOKEN-8"}, ids...)
	}
	return want, ids
}

// explain blames the reply as seen from the first state, unless a clause that is
// known to fail explains it from another one that is possible as well.
func (j *judgement) explain(before model.State) (want string, ids []string) {
	want, ids = j.blame(before)
	for _, s := range j.k.states {
		if slices.ContainsFunc(ids, j.r.excuses.has) {
			break
		}
		if _, other := j.blame(s); slices.ContainsFunc(other, j.r.excuses.has) {
			ids = append(ids, other...)
		}
	}
	return want, ids
}

// longTime is when a wait becomes a jump of the clock.
const longTime = 12 * time.Hour

// longOver says whether the grant ended so long ago that only a jump of the
// clock can have brought it there.
func (j *judgement) longOver(s model.State) bool {
	return s.Held && j.w.Lo.Sub(s.EndLo) >= longTime
}

// live says whether the grant of s is live as far as the judge can see.
func (j *judgement) live(s model.State) bool {
	return s.Held && j.w.Lo.Before(s.EndHi)
}

// atBoundary says whether the call came within one resolution of the end of
// the grant.
func (j *judgement) atBoundary(s model.State) bool {
	if !s.Held {
		return false
	}
	d := j.w.Lo.Sub(s.EndLo.Add(j.lagAfter(s)))
	return -j.r.rules.Resolution <= d && d <= j.r.rules.Resolution
}

// boundary puts EXPIRY-2 before ids if the call came at the end of the grant:
// whatever else explains the reply elsewhere may explain it there.
func (j *judgement) boundary(s model.State, ids ...string) []string {
	if j.atBoundary(s) {
		return append([]string{"EXPIRY-2"}, ids...)
	}
	return ids
}

// set puts the clause by which the present expiry was set before ids, if that
// was not the grant itself: what judges a renewed lease wrongly, and no other,
// does not go by the renewed expiry.
func (j *judgement) set(ids ...string) []string {
	if n := len(j.k.setBy); n > 0 {
		ids = append([]string{j.k.setBy[0]}, ids...)
		return append(ids, j.k.setBy[1:]...)
	}
	return ids
}

// lagAfter is the declared ExpiryLag once the grant is over.
func (j *judgement) lagAfter(s model.State) time.Duration {
	if j.w.Lo.Before(s.EndLo) {
		return 0
	}
	return j.r.rules.ExpiryLag
}

// extreme puts the clause on unusual ttls first, if the present grant has one.
func (j *judgement) extreme(ids ...string) []string {
	switch {
	case isHuge(j.k.setTTL):
		return append([]string{"ARG-3"}, ids...)
	case j.k.setTTL < j.r.rules.Resolution && j.k.setTTL > 0:
		return append([]string{"ARG-2"}, ids...)
	}
	return ids
}

func (j *judgement) blameAcquire(s model.State) []string {
	live, own := j.live(s), s.Held && s.Holder == j.op.Holder
	switch j.reply.Outcome {
	case model.Granted:
		switch {
		case live && own && j.reply.Token == s.Token:
			return append([]string{"EXCL-4"}, j.blameExpiry("EXPIRY-1")...)
		case live && own:
			return j.boundary(s, j.extreme("EXCL-4", "TOKEN-3")...)
		case live && lookAlike(s.Holder, j.op.Holder):
			return j.boundary(s, "EXCL-6", "EXCL-1")
		case live:
			return j.boundary(s, j.set(j.extreme("EXCL-1")...)...)
		case own && j.reply.Token == s.Token: // as if the old grant were live
			return j.boundary(s, append(j.blameToken(s), j.set("EXPIRY-3")...)...)
		case j.reply.Token <= s.Max:
			return j.blameToken(s)
		}
		return j.blameExpiry("EXPIRY-1")
	case model.Held:
		switch {
		case live && own:
			return j.extreme("EXCL-4", "ERR-3")
		case s.Held && j.atBoundary(s):
			return j.boundary(s, j.set(j.extreme("EXPIRY-3")...)...)
		case len(j.k.grants) == 0:
			return j.blameNever()
		case j.longOver(s):
			return append([]string{"EXPIRY-6"}, j.set("EXPIRY-3")...)
		case s.Held:
			return j.set(j.extreme("EXPIRY-3")...)
		}
		return []string{"RELEASE-1"}
	}
	if live && !own {
		return []string{"EXCL-1", "ERR-7"}
	}
	return []string{"ERR-7"}
}

// blameNever finds the clause for a key that is refused, though it was never
// taken.
func (j *judgement) blameNever() []string {
	var ids []string
	if j.k.looked {
		ids = append(ids, "GET-3")
	}
	if isLong(j.c.key) && !j.longInUse() {
		ids = append(ids, "ARG-1")
	}
	switch id := j.inUse(); {
	case id != "":
		ids = append(ids, id)
	case j.earlierKeys():
		ids = append(ids, "KEY-1")
	}
	return append(ids, "EXCL-3", "ARG-1")
}

// earlierKeys says whether earlier runs on this store took other keys.
func (j *judgement) earlierKeys() bool { return j.r.st.fresh.Load() > 1 }

// blameToken finds the clause for a new grant whose token is not the greatest.
// A counter that begins anew gives the token again that came first: where another
// holder on another worker gets it, and it is not the last one too, it is a reset
// (TOKEN-4, TOKEN-5) whatever else is known of the tokens. Elsewhere it may as
// well be a grant that goes on under its old token, or one of a token for each
// client (TOKEN-2).
func (j *judgement) blameToken(s model.State) []string {
	if len(j.k.grants) == 0 {
		return []string{"TOKEN-2"}
	}
	first, last := j.k.grants[0], j.k.grants[len(j.k.grants)-1]
	idle := j.k.jump >= longTime
	reset := "TOKEN-5"
	if last.released && !idle {
		reset = "TOKEN-4"
	}
	switch {
	case j.reply.Token == first.token && first.token < last.token && first.holder != j.op.Holder && first.worker != j.worker:
		if reset == "TOKEN-5" && j.k.freed { // be it late
			return []string{"TOKEN-5", "TOKEN-4"}
		}
		return []string{reset}
	case j.reply.Token == last.token && last.released && last.holder != j.op.Holder && last.worker != j.worker:
		return []string{reset, "TOKEN-2", "TOKEN-4"}
	case j.reply.Token != last.token && idle && s.Held:
		return []string{"TOKEN-5", "TOKEN-2", "EXPIRY-6"}
	}
	return []string{"TOKEN-2", reset, "TOKEN-4"}
}

// blameExpiry finds the clause for a grant that ends at the wrong instant.
func (j *judgement) blameExpiry(base string) []string {
	ttl, end := j.c.ttl, j.reply.Expires
	off := end.Sub(j.w.Lo.Add(ttl))
	switch {
	case j.offByZones(off):
		if isHuge(ttl) { // what overflows is hardly off by whole zones
			return []string{"EXPIRY-5", "EXPIRY-4", "ARG-3", base}
		}
		return j.extreme("EXPIRY-5", "EXPIRY-4", base)
	case isHuge(ttl):
		return []string{"ARG-3", base}
	case ttl < j.r.rules.Resolution:
		return []string{"ARG-2", base}
	case end.Sub(plain(time.Now()).Add(ttl)).Abs() < time.Minute && off.Abs() > time.Hour:
		return []string{"EXPIRY-4", "EXPIRY-5", base}
	}
	return []string{base, "EXPIRY-5", "EXPIRY-4"}
}

// offByZones says whether two times are as far apart as one clock is in two time
// zones.
func (j *judgement) offByZones(off time.Duration) bool {
	const quarter = 15 * time.Minute // the unit of all time zones
	zone := off.Round(quarter)
	return zone != 0 && zone.Abs() <= 26*time.Hour && (off-zone).Abs() <= 2*j.r.rules.Resolution
}

// staleRenew is the clause by which the lease given to Renew is not the live
// grant.
func (j *judgement) staleRenew(s model.State) string {
	g, latest, known := j.k.grant(j.c.lease)
	switch {
	case !known && j.grantedElsewhere():
		return "KEY-2"
	case !known:
		return "RENEW-5"
	case !latest:
		return "RENEW-3"
	case g.released:
		return "RENEW-4"
	case j.live(s):
		return "RENEW-5"
	}
	return "RENEW-2"
}

// grantedElsewhere says whether the lease of the call was granted in another
// namespace.
func (j *judgement) grantedElsewhere() bool {
	for _, k := range j.r.order {
		if _, _, ok := k.grant(j.c.lease); ok && k.space != j.k.space {
			return true
		}
	}
	return false
}

func (j *judgement) blameRenew(s model.State) []string {
	own := s.Held && s.Holder == j.op.Holder && s.Token == j.op.Token
	live := j.live(s)
	if live && own {
		switch {
		case j.reply.Outcome == model.Granted && j.reply.Token != s.Token:
			return []string{"TOKEN-3"}
		case j.reply.Outcome == model.Granted:
			return append([]string{"RENEW-1"}, j.blameExpiry("EXPIRY-1")...)
		}
		ids := []string{"RENEW-1"}
		if j.worker != j.k.by {
			ids = append([]string{"RELEASE-4"}, ids...)
		}
		if !plain(j.c.lease.ExpiresAt).Equal(s.EndLo) {
			ids = append([]string{"RENEW-7"}, ids...)
		}
		if _, same := j.r.rules.GrantWindow(j.w, j.c.ttl, s.EndLo); same {
			ids = append([]string{"RENEW-6"}, ids...)
		}
		return j.boundary(s, j.extreme(ids...)...)
	}
	if j.reply.Outcome != model.Granted {
		// Refused it was, but only ErrLost says why.
		return []string{"RENEW-5", j.staleRenew(s)}
	}
	if own {
		return j.boundary(s, append([]string{j.staleRenew(s)}, j.set("EXPIRY-3")...)...)
	}
	ids := []string{j.staleRenew(s)}
	if id := j.inUse(); id != "" {
		ids = append(ids, id)
	}
	return ids
}

func (j *judgement) blameRelease(s model.State) []string {
	own := s.Held && s.Holder == j.op.Holder && s.Token == j.op.Token
	if !j.live(s) || !own {
		return []string{"RELEASE-3"}
	}
	ids := []string{"RELEASE-1"}
	if !plain(j.c.lease.ExpiresAt).Equal(s.EndLo) {
		ids = append([]string{"RENEW-7"}, ids...)
	}
	if j.worker != j.k.by {
		ids = append([]string{"RELEASE-4"}, ids...)
	}
	return j.boundary(s, j.extreme(ids...)...)
}

func (j *judgement) blameGet(s model.State) []string {
	live, granted := j.live(s), j.reply.Outcome == model.Granted
	if j.witness(s) {
		switch {
		case live && granted && j.offByZones(j.reply.Expires.Sub(s.EndLo)): // of this client's session
			return []string{"EXPIRY-5", "GET-1"}
		case live:
			return []string{"GET-1"}
		}
		return []string{"GET-2"}
	}
	switch {
	case granted || j.reply.Outcome == model.NotHeld:
	case live:
		return []string{"GET-1"}
	default: // a refusal that Get does not have
		return []string{"GET-2"}
	}
	if s.Held && j.atBoundary(s) && live != granted {
		return j.boundary(s, append([]string{"GET-2", "GET-1"}, j.set("EXPIRY-3")...)...)
	}
	if granted && live && j.reply.Holder != s.Holder && j.reply.Token == s.Token {
		return []string{"KEY-3", "GET-1"}
	}
	cause := j.k.last.clauses
	switch {
	case granted && !live && j.k.last.release:
		return []string{"RELEASE-1", "GET-2"}
	case granted && !s.Held && len(j.k.grants) == 0:
		ids := append(j.otherKeys(), append(cause, "GET-2")...)
		switch id := j.inUse(); {
		case id != "":
			ids = append(ids, id)
		case j.earlierKeys():
			ids = append(ids, "KEY-1")
		}
		return ids
	case granted && !live && !s.Held:
		return append(j.otherKeys(), append(cause, "RELEASE-1", "GET-2")...)
	case granted && !live && j.reply.Expires.Equal(s.EndLo):
		if j.longOver(s) {
			return append([]string{"EXPIRY-6", "GET-2"}, j.set("EXPIRY-3")...)
		}
		return append([]string{"GET-2"}, j.set("EXPIRY-3")...)
	case granted && !live:
		return append(append(j.otherKeys(), cause...), "GET-2")
	case !granted:
		return j.extreme(append(append(j.otherKeys(), cause...), "GET-1")...)
	}
	return append(append(j.otherKeys(), cause...), "GET-1", "GET-3", "EXPIRY-5")
}

// isLong says whether a name is one that a short text column does not take.
func isLong(name string) bool { return len(name) > 200 }

// longInUse says whether another long key was granted in this run.
func (j *judgement) longInUse() bool {
	return slices.ContainsFunc(j.r.order, func(k *keyTrack) bool { return k != j.k && len(k.grants) > 0 && isLong(k.name) })
}

// witness asks a worker that never saw the key. If it says what the contract
// expects, it is the first worker's Get that is wrong, and not the state.
func (j *judgement) witness(s model.State) bool {
	if j.asked == nil {
		no := false
		j.asked = &no
		w, err := j.r.st.worker(witnessBase+j.worker+j.r.base, j.k.space)
		if err != nil {
			return false
		}
		a := j.r.st.call(j.r.st.ctx, w, j.c)
		j.said = a.reply(doGet)
		clear := a.problem == "" && (a.err == nil || definite(a.err))
		j.asked = &clear
	}
	return *j.asked && len(j.r.rules.Step(s, j.op, j.said, j.w)) > 0
}

// otherKeys is KEY-1 if the call before this one was on another key.
func (j *judgement) otherKeys() []string {
	if j.r.lastOn == nil || j.r.lastOn == j.k {
		return nil
	}
	if j.r.lastOn.space != j.k.space {
		return []string{"KEY-2"}
	}
	return []string{"KEY-1"}
}

// inUse is the clause on independent keys if another key of the run is held,
// that a careless backend could take for this one: KEY-1, or KEY-2 where it is
// in another namespace.
func (j *judgement) inUse() string {
	id := ""
	for _, k := range j.r.order {
		switch {
		case k == j.k || len(k.grants) == 0:
		case k.space == j.k.space:
			return "KEY-1"
		default:
			id = "KEY-2"
		}
	}
	return id
}

// lookAlike says whether two names are different but easily taken for each
// other (EXCL-6): also when only the ends of long ones differ, or what comes after a
// separator, or the way to write one number.
func lookAlike(a, b string) bool {
	const column = 200 // bytes of a short text column, with some to spare
	if a == b {
		return false
	}
	x, err := strconv.ParseFloat(a, 64)
	y, other := strconv.ParseFloat(b, 64)
	return lookAlikeText(a, b) || strings.HasPrefix(a, b) || strings.HasPrefix(b, a) ||
		upToMark(a) == upToMark(b) || err == nil && other == nil && x == y ||
		len(a) > column && len(b) > column && a[:column] == b[:column]
}

// upToMark is a name up to what a backend may take for a separator.
func upToMark(name string) string {
	if i := strings.IndexAny(name, ":/|,; "); i > 0 {
		return name[:i]
	}
	return name
}

// lookAlikeText says whether two names differ only in case, in blanks around
// them, or in how their letters are encoded.
func lookAlikeText(a, b string) bool {
	if a == b {
		return false
	}
	return folded(a) == folded(b)
}

// folded reduces a name to its ASCII letters, digits and marks in one case:
// what is left when accents, blanks and case are taken for nothing.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == 'é':
			return 'e'
		case r <= ' ' || r >= 0x300 && r < 0x370: // blanks and combining accents
			return -1
		}
		return r
	}, s)
}

// expect says in words what the contract wants of the call in state s.
func (j *judgement) expect(s model.State) string {
	live := j.live(s)
	mine := s.Held && s.Holder == j.op.Holder
	switch j.c.do {
	case doAcquire:
		switch {
		case live && mine:
			return fmt.Sprintf("the same grant, token %d, %s", s.Token, j.until())
		case live:
			return fmt.Sprintf("ErrHeld: %s holds it until %s", shown(s.Holder), shownTime(s.EndHi))
		case s.Max > 0:
			return fmt.Sprintf("a new grant, its token > %d, %s", s.Max, j.until())
		}
		return "a new grant " + j.until()
	case doRenew:
		if live && mine && s.Token == j.op.Token {
			return fmt.Sprintf("the same grant, token %d, %s", s.Token, j.until())
		}
		return "ErrLost: " + j.present(s, live)
	case doRelease:
		if live && mine && s.Token == j.op.Token {
			return "nil: it is the live grant"
		}
		return "nil (or ErrLost): " + j.present(s, live)
	}
	if live {
		return fmt.Sprintf("%s token %d until %s", shown(s.Holder), s.Token, shownTime(s.EndHi))
	}
	return "ErrNotHeld: " + j.present(s, live)
}

// until says when a grant made now has to end.
func (j *judgement) until() string {
	lo, hi := j.w.Lo.Add(j.c.ttl), j.r.rules.Longest(j.w.Hi, j.c.ttl)
	if j.r.st.clock.kind == clockNone {
		return "for " + shownTTL(j.c.ttl)
	}
	return fmt.Sprintf("until %s or up to %v later", shownTime(lo), hi.Sub(lo))
}

func (j *judgement) present(s model.State, live bool) string {
	switch {
	case live:
		return fmt.Sprintf("the live grant is %s's, token %d", shown(s.Holder), s.Token)
	case s.Held:
		return fmt.Sprintf("the grant was over at %s", shownTime(s.EndHi))
	case len(j.k.grants) > 0:
		return "the grant was released"
	}
	return "nobody ever took the key"
}

// problem says in one sentence what is wrong with the reply.
func (j *judgement) problem(s model.State) string {
	got := j.a.String()
	return fmt.Sprintf("%s answers %s, where the contract expects %s", j.c.op().Kind, got, j.expect(s))
}
