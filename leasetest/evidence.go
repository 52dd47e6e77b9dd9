package leasetest

import "github.com/leasekit/lease/internal/model"

// evidence lists the clauses that a reply, accepted in state s, speaks for:
// those it would have broken, had it been another. A clause that others are in
// the way of passes by such replies and by nothing else.
func (j *judgement) evidence(s model.State) []string {
	ids := append(j.places(s), "ERR-8", "ERR-7")
	live := j.live(s)
	own := s.Held && s.Holder == j.op.Holder
	k := j.k
	switch j.c.do {
	case doAcquire:
		switch {
		case j.reply.Outcome == model.Held:
			ids = append(ids, "EXCL-1", "EXCL-3")
			if lookAlike(s.Holder, j.op.Holder) {
				ids = append(ids, "EXCL-6")
			}
		case live && own:
			ids = append(ids, "EXCL-4", "TOKEN-3")
		default:
			ids = append(ids, "EXPIRY-1", "EXPIRY-5", "TOKEN-1", "EXCL-3")
			if n := len(k.grants); n > 0 {
				ids = append(ids, "TOKEN-2", "TOKEN-6", "TOKEN-7")
				if k.grants[n-1].released {
					ids = append(ids, "RELEASE-1", "TOKEN-4")
				} else {
					ids = append(ids, "EXPIRY-3")
				}
				if k.jump >= longTime {
					ids = append(ids, "TOKEN-5")
				}
			}
		}
	case doRenew:
		if j.reply.Outcome != model.Granted {
			ids = append(ids, j.staleRenew(s))
			break
		}
		ids = append(ids, "RENEW-1", "TOKEN-3")
		if j.worker != k.by {
			ids = append(ids, "RELEASE-4")
		}
		if !plain(j.c.lease.ExpiresAt).Equal(s.EndLo) {
			ids = append(ids, "RENEW-7")
		}
		if _, same := j.r.rules.GrantWindow(j.w, j.c.ttl, s.EndLo); same {
			ids = append(ids, "RENEW-6")
		}
	case doRelease:
		if !live || !own || s.Token != j.op.Token {
			ids = append(ids, "RELEASE-3")
		} else if j.worker != k.by {
			ids = append(ids, "RELEASE-4")
		}
	default:
		ids = append(append(ids, k.last.clauses...), j.otherKeys()...)
		if j.reply.Outcome == model.Granted {
			ids = append(ids, "GET-1", "KEY-3")
		} else {
			ids = append(ids, "GET-2")
		}
	}
	return ids
}

// places are the clauses that the situation of a call is about: where the clock
// stands and went, how large ttls and tokens are, what the names look like.
func (j *judgement) places(s model.State) []string {
	var ids []string
	k := j.k
	if j.atBoundary(s) && j.w.Lo.Equal(j.w.Hi) {
		ids = append(ids, "EXPIRY-2")
	}
	if j.longOver(s) {
		ids = append(ids, "EXPIRY-6")
	}
	if k.back {
		ids = append(ids, "EXPIRY-7")
	}
	switch {
	case k.nearEnd():
		ids = append(ids, "TOKEN-9")
	case k.big():
		ids = append(ids, "TOKEN-8")
	}
	ids = append(ids, j.extreme()...)
	if isLong(j.c.key) || isLong(j.c.holder) {
		ids = append(ids, "ARG-1")
	}
	if id := j.inUse(); id != "" {
		ids = append(ids, id)
	}
	return ids
}
