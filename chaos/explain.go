package chaos

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// explanation is what may be wrong with a store: a clause, and what a history
// would be, if the clause had been broken once and were none. If that makes an
// illegal history legal, the clause is to blame.
type explanation struct {
	clause string
	why    string
	relax  func(history.History) [][]history.Call // each way in which it may have been broken
}

// thought is how long the judge may think about one way. It needs some ms, as a
// rule, and a busy machine lets it wait.
const thought = time.Second

// explanations are in the order in which they are believed.
var explanations = []explanation{
	{"ERR-3", "but for an Acquire that was refused by its own lease, whose reply had been lost", withoutOwnRefusals},
	{"ERR-4", "but for an answer that was given while the store could not know it", doubtDuringFaults},
	{"RENEW-7", "but for a renewal that was refused although its holder and token were right", withoutLostRenewals},
	{"ERR-2", "unless a call took effect more than once", doubleUnknown},
	{"ERR-3", "unless an Acquire ended the live lease that its holder had, and took another", withSecondTokens},
	{"ERR-2", "unless a call took effect and was undone", withUndone},
	{"RELEASE-2", "unless a release of a stale lease ended a later grant", greedyReleases},
}

// explain returns what an illegal history may be put to, likeliest first: clauses,
// and why. The history ends where it becomes illegal, so that one lie explains it,
// as a rule; the window is the part of it that is illegal by itself.
func (s *Saved) explain(h, window history.History) []blame {
	var list []blame
	add := func(clause, why string) {
		if !slices.ContainsFunc(list, func(b blame) bool { return b.clause == clause }) {
			list = append(list, blame{clause, why})
		}
	}
	for _, e := range explanations {
		verdict := e.makesLegal(h)
		if verdict == history.Unknown { // which a busy machine may make of a long history
			verdict = e.makesLegal(window)
		}
		if verdict == history.Ok {
			add(e.clause, ", "+e.why)
		}
	}
	if n := len(window.Calls); n > 0 {
		if clause, by := s.lossBetween(window.Calls[0], window.Calls[n-1]); clause != "" {
			add(clause, fmt.Sprintf(", and there was a %s meanwhile", by))
		}
	}
	if slices.ContainsFunc(window.Calls, func(c history.Call) bool { return c.Back != nil }) {
		add("EXPIRY-7", ", and the clock stepped back meanwhile")
	}
	add(catchAll, "")
	return list
}

// makesLegal says whether one of the ways makes an illegal history legal.
func (e explanation) makesLegal(h history.History) history.Verdict {
	// The last call shows the lie, and it is rarely an old one.
	for _, calls := range slices.Backward(e.relax(h)) {
		h.Calls = calls
		if verdict := history.Judge(h, thought); verdict != history.Illegal {
			return verdict // if the time did not suffice, the other ways would take as long
		}
	}
	return history.Illegal
}

// blame is a clause that a bad key may be put to, and why.
type blame struct{ clause, why string }

// settleBlame puts each bad key to one of the clauses that explain it, and as few
// clauses as can be to blame in all: first those that the store declares not to keep,
// then the one that explains the most keys. EXCL-5, which explains nothing, takes what
// is left. The other clauses that would explain a key are noted as well.
func settleBlame(bad []*Violation, declared []string) {
	open := slices.Clone(bad)
	for len(open) > 0 {
		best := mostBlamed(open, declared)
		open = slices.DeleteFunc(open, func(v *Violation) bool {
			i := slices.IndexFunc(v.blames, func(b blame) bool { return b.clause == best })
			if i < 0 {
				return false
			}
			v.Clause = best
			v.Problem += v.blames[i].why
			for _, b := range v.blames {
				if b.clause != best && b.clause != catchAll {
					v.Or = append(v.Or, b.clause)
				}
			}
			return true
		})
	}
}

// catchAll is the clause that every illegal history breaks.
const catchAll = "EXCL-5"

// mostBlamed is the clause that explains the most keys, of those that are declared if
// one of them explains any.
func mostBlamed(open []*Violation, declared []string) string {
	count := map[string]int{}
	for _, v := range open {
		for _, b := range v.blames {
			if b.clause != catchAll {
				count[b.clause]++
			}
		}
	}
	best, bestDeclared := catchAll, false
	for _, v := range open { // in order: the likeliest of those that explain as much
		for _, b := range v.blames {
			is := b.clause != catchAll && slices.Contains(declared, b.clause)
			if is && !bestDeclared || is == bestDeclared && count[b.clause] > count[best] {
				best, bestDeclared = b.clause, is
			}
		}
	}
	return best
}

// without leaves out each of the calls that f means.
func without(h history.History, f func(i int, c history.Call) bool) (ways [][]history.Call) {
	for i, c := range h.Calls {
		if c.Back == nil && f(i, c) {
			ways = append(ways, slices.Delete(slices.Clone(h.Calls), i, i+1))
		}
	}
	return ways
}

// with adds what f adds to each of the calls, if anything.
func with(h history.History, f func(i int, c history.Call) []history.Call) (ways [][]history.Call) {
	for i, c := range h.Calls {
		if c.Back != nil {
			continue
		}
		if more := f(i, c); len(more) > 0 {
			ways = append(ways, append(slices.Clone(h.Calls), more...))
		}
	}
	return ways
}

func unknown(c history.Call) bool {
	return c.Back == nil && c.Reply.Outcome == model.Unknown && !c.Perhaps
}

// repeats says whether an earlier Acquire by the same holder had an unknown
// outcome.
func repeats(h history.History, i int) bool {
	return slices.ContainsFunc(h.Calls[:i], func(b history.Call) bool {
		return unknown(b) && b.Op.Kind == model.Acquire && b.Op.Holder == h.Calls[i].Op.Holder
	})
}

func withoutOwnRefusals(h history.History) [][]history.Call {
	return without(h, func(i int, c history.Call) bool {
		return c.Op.Kind == model.Acquire && c.Reply.Outcome == model.Held && repeats(h, i)
	})
}

func withoutLostRenewals(h history.History) [][]history.Call {
	return without(h, func(_ int, c history.Call) bool {
		return c.Op.Kind == model.Renew && c.Reply.Outcome == model.Lost
	})
}

// doubtDuringFaults takes a refusal, or a release that was done, during a fault
// for no answer.
func doubtDuringFaults(h history.History) (ways [][]history.Call) {
	for i, c := range h.Calls {
		switch c.Reply.Outcome {
		case model.Held, model.Lost, model.NotHeld, model.Done:
			if c.Back == nil && c.During != "" {
				calls := slices.Clone(h.Calls)
				calls[i].Reply = model.Reply{}
				ways = append(ways, calls)
			}
		}
	}
	return ways
}

// doubleUnknown lets each call that a fault may have hit take effect once more.
func doubleUnknown(h history.History) [][]history.Call {
	return with(h, func(_ int, c history.Call) []history.Call {
		if c.Op.Kind == model.Get || !unknown(c) && c.During == "" {
			return nil
		}
		return copies(c, 1)
	})
}

// withSecondTokens lets an Acquire that repeats one of unknown outcome end what its
// holder had.
func withSecondTokens(h history.History) [][]history.Call {
	return with(h, func(i int, c history.Call) (more []history.Call) {
		if c.Op.Kind == model.Acquire && c.Reply.Outcome == model.Granted && repeats(h, i) {
			for _, token := range tokensOf(h)[c.Op.Holder] {
				if token < c.Reply.Token {
					more = append(more, endedBy(c, token))
				}
			}
		}
		return more
	})
}

// greedyReleases lets a release end a later grant of its holder.
func greedyReleases(h history.History) [][]history.Call {
	return with(h, func(_ int, c history.Call) (more []history.Call) {
		if c.Op.Kind == model.Release {
			for _, token := range tokensOf(h)[c.Op.Holder] {
				if token > c.Op.Token {
					more = append(more, endedBy(c, token))
				}
			}
		}
		return more
	})
}

// withUndone lets an Acquire of unknown outcome end its own grant, or one that its
// holder had.
func withUndone(h history.History) [][]history.Call {
	return with(h, func(_ int, c history.Call) (more []history.Call) {
		if !unknown(c) || c.Op.Kind != model.Acquire {
			return nil
		}
		for _, token := range append(tokensOf(h)[c.Op.Holder], math.MaxInt64) { // which fits a grant that nobody saw
			more = append(more, endedBy(c, token))
		}
		return more
	})
}

// tokensOf returns the tokens that each holder was seen with.
func tokensOf(h history.History) map[string][]int64 {
	tokens := map[string][]int64{}
	for _, c := range h.Calls {
		if c.Back == nil && c.Reply.Outcome == model.Granted && !slices.Contains(tokens[c.Reply.Holder], c.Reply.Token) {
			tokens[c.Reply.Holder] = append(tokens[c.Reply.Holder], c.Reply.Token)
		}
	}
	return tokens
}

// endedBy is a release that a call may have brought about.
func endedBy(c history.Call, token int64) history.Call {
	c.Op = model.Op{Kind: model.Release, Holder: c.Op.Holder, Token: token}
	c.Reply, c.During = model.Reply{}, ""
	return c
}

// takenBack are the releases of the grants that an Acquire of unknown outcome may
// have made: tokens that its holder was not seen with before.
func takenBack(h history.History) []history.Call {
	first := map[model.Reply]time.Duration{} // a holder with a token, when it was first seen
	for _, c := range h.Calls {
		if c.Back == nil && c.Reply.Outcome == model.Granted {
			grant := model.Reply{Holder: c.Reply.Holder, Token: c.Reply.Token}
			if at, ok := first[grant]; !ok || c.Returned < at {
				first[grant] = c.Returned
			}
		}
	}
	var list []history.Call
	for _, c := range h.Calls {
		if !unknown(c) || c.Op.Kind != model.Acquire {
			continue
		}
		also := endedBy(c, math.MaxInt64) // fits a grant that nobody saw
		also.Text, also.ReplyTxt = also.Text+", taken back", "perhaps"
		list = append(list, also)
		for grant, at := range first {
			if grant.Holder == c.Op.Holder && at >= c.Called {
				also.Op.Token = grant.Token
				list = append(list, also)
			}
		}
	}
	return list
}
