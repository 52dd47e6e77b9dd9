package leasetest

import (
	"fmt"
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
		case live && j.atBoundary(s):
			return []string{"EXPIRY-2", "EXCL-1", "EXCL-4"}
		case live && own:
			return j.extreme("EXCL-4", "TOKEN-3")
		case live && lookAlike(s.Holder, j.op.Holder):
			return []string{"EXCL-6", "EXCL-1"}
		case live:
			return j.extreme("EXCL-1")
		case own && j.atBoundary(s) && j.reply.Token == s.Token:
			return []string{"EXPIRY-2", "TOKEN-2"}
		case j.reply.Token <= s.Max:
			return j.blameToken(s)
		}
		return j.blameExpiry("EXPIRY-1")
	case model.Held:
		switch {
		case live && own:
			return j.extreme("EXCL-4", "ERR-3")
		case s.Held && j.atBoundary(s):
			return []string{"EXPIRY-2", "EXPIRY-3"}
		case len(j.k.grants) == 0 && j.inUse() != "":
			return []string{j.inUse()}
		case j.longOver(s):
			return []string{"EXPIRY-6", "EXPIRY-3"}
		case s.Held:
			return j.extreme("EXPIRY-3")
		case len(j.k.grants) > 0:
			return []string{"RELEASE-1"}
		}
		return []string{"EXCL-3"}
	}
	if live && !own {
		return []string{"EXCL-1", "ERR-7"}
	}
	return []string{"ERR-7"}
}

// blameToken finds the clause for a new grant whose token is not the greatest.
func (j *judgement) blameToken(s model.State) []string {
	if len(j.k.grants) == 0 {
		return []string{"TOKEN-2"}
	}
	last := j.k.grants[len(j.k.grants)-1]
	reset := j.reply.Token <= j.k.first && (j.k.first < last.token || last.holder != j.op.Holder)
	idle := j.k.jump >= longTime
	switch {
	case idle && s.Held:
		return []string{"TOKEN-5", "TOKEN-2", "EXPIRY-6"}
	case idle && reset:
		return []string{"TOKEN-5", "TOKEN-4", "TOKEN-2"}
	case reset && last.released:
		return []string{"TOKEN-4", "TOKEN-2"}
	case reset:
		return []string{"TOKEN-5", "TOKEN-2"}
	}
	return []string{"TOKEN-2"}
}

// blameExpiry finds the clause for a grant that ends at the wrong instant.
func (j *judgement) blameExpiry(base string) []string {
	ttl, end := j.c.ttl, j.reply.Expires
	off := end.Sub(j.w.Lo.Add(ttl))
	const quarter = 15 * time.Minute // the unit of all time zones
	zone := off.Round(quarter)
	switch {
	case isHuge(ttl):
		return []string{"ARG-3", base}
	case ttl < j.r.rules.Resolution:
		return []string{"ARG-2", base}
	case zone != 0 && zone.Abs() <= 26*time.Hour && (off-zone).Abs() <= 2*j.r.rules.Resolution:
		return []string{"EXPIRY-5", "EXPIRY-4", base}
	case end.Sub(plain(time.Now()).Add(ttl)).Abs() < time.Minute && off.Abs() > time.Hour:
		return []string{"EXPIRY-4", "EXPIRY-5", base}
	}
	return []string{base, "EXPIRY-5", "EXPIRY-4"}
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
		case j.atBoundary(s):
			return []string{"EXPIRY-2", "RENEW-1"}
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
		return j.extreme(ids...)
	}
	if own && j.atBoundary(s) {
		return []string{"EXPIRY-2", "RENEW-2"}
	}
	return []string{j.staleRenew(s)}
}

func (j *judgement) blameRelease(s model.State) []string {
	own := s.Held && s.Holder == j.op.Holder && s.Token == j.op.Token
	if !j.live(s) || !own {
		return []string{"RELEASE-3"}
	}
	if j.atBoundary(s) {
		return []string{"EXPIRY-2", "RELEASE-1"}
	}
	ids := []string{"RELEASE-1"}
	if !plain(j.c.lease.ExpiresAt).Equal(s.EndLo) {
		ids = append([]string{"RENEW-7"}, ids...)
	}
	if j.worker != j.k.by {
		ids = append([]string{"RELEASE-4"}, ids...)
	}
	return j.extreme(ids...)
}

func (j *judgement) blameGet(s model.State) []string {
	live, granted := j.live(s), j.reply.Outcome == model.Granted
	switch {
	case granted || j.reply.Outcome == model.NotHeld:
	case live:
		return []string{"GET-1"}
	default: // a refusal that Get does not have
		return []string{"GET-2"}
	}
	if s.Held && j.atBoundary(s) && live != granted {
		return []string{"EXPIRY-2", "GET-2", "GET-1"}
	}
	if granted && live && lookAlikeText(j.reply.Holder, s.Holder) && j.reply.Token == s.Token {
		return []string{"KEY-3", "GET-1"}
	}
	cause := j.k.last.clauses
	switch {
	case granted && !live && j.k.last.release:
		return []string{"RELEASE-1", "GET-2"}
	case granted && !s.Held && len(j.k.grants) == 0:
		return append(j.otherKeys(), append(cause, "GET-2")...)
	case granted && !live && !s.Held:
		return append(j.otherKeys(), append(cause, "RELEASE-1", "GET-2")...)
	case granted && !live && j.reply.Expires.Equal(s.EndLo):
		if j.longOver(s) {
			return []string{"EXPIRY-6", "GET-2", "EXPIRY-3"}
		}
		return []string{"GET-2", "EXPIRY-3"}
	case granted && !live:
		return append(append(j.otherKeys(), cause...), "GET-2")
	case !granted:
		return j.extreme(append(append(j.otherKeys(), cause...), "GET-1")...)
	}
	return append(append(j.otherKeys(), cause...), "GET-1", "GET-3")
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
// other (EXCL-6): also when only the ends of long ones differ.
func lookAlike(a, b string) bool {
	const column = 200 // bytes of a short text column, with some to spare
	return a != b && (lookAlikeText(a, b) || strings.HasPrefix(a, b) || strings.HasPrefix(b, a) ||
		len(a) > column && len(b) > column && a[:column] == b[:column])
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
