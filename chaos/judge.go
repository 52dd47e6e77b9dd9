package chaos

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// judgeTime is how long the judge may think about one key.
const judgeTime = 5 * time.Second

// enough is how many bad keys are looked into. More would tell no more.
const enough = 8

// judge looks at each key: first at the order of tokens, which is plain to see,
// then at whether any order of its calls explains their replies.
func (s *Saved) judge(dir string) *Report {
	r := &Report{Target: s.Target, Seed: s.Seed, Calls: s.Calls, Schedule: s.Schedule, Keys: len(s.Histories)}
	r.tally(s)
	var bad []*Violation
	for n, h := range s.Histories {
		if len(bad) >= enough {
			r.Skipped = len(s.Histories) - n
			break
		}
		v, verdict := s.judgeKey(h)
		switch verdict {
		case history.Unknown:
			r.Unjudged++
		case inPart:
			r.InPart++
		}
		if v != nil {
			bad = append(bad, v)
		}
	}
	settleBlame(bad, s.Declared)
	for n, v := range bad {
		if n < pictures {
			dir, v.Files = s.keep(v.Key, v, dir)
		}
		r.add(*v, s.Declared)
	}
	return r
}

// pictures is of how many bad keys files are kept.
const pictures = 3

// judgeKey returns what is wrong with a key, or nil.
func (s *Saved) judgeKey(h history.History) (*Violation, history.Verdict) {
	byStart(h)
	part := history.Ok
	if at, lost := s.loss(h); lost {
		// What is not a grant may be lost as well, and what was seen of a grant that
		// was never answered. That leaves the tokens that were answered.
		if v := s.tokens(answers(h)); v != nil {
			return v, history.Illegal
		}
		h, part = until(h, at), inPart
	}
	if v := s.tokens(h); v != nil {
		return v, history.Illegal
	}
	verdict := history.Judge(h, judgeTime)
	if verdict == history.Unknown {
		// Too many calls of unknown outcome to think of: judge what was before.
		h, part = fewUnknown(h), inPart
		verdict = history.Judge(h, judgeTime)
	}
	switch verdict {
	case history.Ok:
		return nil, part
	case history.Unknown:
		return nil, verdict
	}
	cut := firstIllegal(h)
	window := history.Shorten(cut, judgeTime)
	return &Violation{
		Key: h.Key, window: window, blames: s.explain(cut, window),
		Problem: fmt.Sprintf("no order of these %d calls explains their replies", len(window.Calls)),
	}, verdict
}

// byStart sorts the calls by when they began.
func byStart(h history.History) {
	slices.SortStableFunc(h.Calls, func(a, b history.Call) int { return cmp.Compare(a.Called, b.Called) })
}

// loss returns when the first fault began that a key has lived to see, and that
// may lose more than what its clause forbids: a failover, and a crash of a store
// that declares to lose grants by it.
func (s *Saved) loss(h history.History) (at time.Duration, lost bool) {
	for _, e := range s.Events {
		if (e.Loses == "TOKEN-11" || e.Loses != "" && slices.Contains(s.Declared, e.Loses)) &&
			len(h.Calls) > 0 && e.Healed >= h.Calls[0].Called && (!lost || e.Started < at) {
			at, lost = e.Started, true
		}
	}
	return at, lost
}

// answers are the grants and renewals of a history that were answered.
func answers(h history.History) history.History {
	h.Calls = slices.DeleteFunc(slices.Clone(h.Calls), func(c history.Call) bool {
		return c.Back != nil || c.Reply.Outcome != model.Granted || c.Op.Kind == model.Get
	})
	return h
}

// inPart is the verdict on a key of which only the beginning could be judged.
const inPart history.Verdict = "ok in part"

// fewUnknown cuts a history off before the call by which too many have an unknown
// outcome.
func fewUnknown(h history.History) history.History {
	n := 0
	for _, c := range h.Calls {
		if unknown(c) && c.Op.Kind != model.Get {
			if n++; n > history.MaxUnknown {
				return until(h, c.Called-1)
			}
		}
	}
	return h
}

// seen is a grant in a reply: its token, and from when to when it was out.
type seen struct {
	model.Reply
	call    history.Call
	acquire bool
}

// tokens looks for a token that was given to two holders, or a grant with a
// token that is not above one that was answered before.
func (s *Saved) tokens(h history.History) *Violation {
	var all []seen
	for _, c := range h.Calls {
		if c.Back == nil && c.Reply.Outcome == model.Granted {
			all = append(all, seen{c.Reply, c, c.Op.Kind == model.Acquire})
		}
	}
	for i, b := range all {
		for _, a := range all[:i] {
			switch {
			case a.Token == b.Token && a.Holder != b.Holder:
				return s.tokenFault(h, a, b, "TOKEN-7", "token %d was granted to two holders", b.Token)
			case b.acquire && a.Token > b.Token && a.call.Returned < b.call.Called:
				return s.tokenFault(h, a, b, "TOKEN-2", "a grant has token %d after one with %d", b.Token, a.Token)
			}
		}
	}
	return nil
}

func (s *Saved) tokenFault(h history.History, a, b seen, clause, format string, args ...any) *Violation {
	problem := fmt.Sprintf(format, args...)
	if lost, by := s.lossBetween(a.call, b.call); lost != "" {
		clause = lost
		problem += " after " + by
	}
	window := h
	window.Calls = []history.Call{a.call, b.call}
	return &Violation{Key: h.Key, Problem: problem, window: window, blames: []blame{{clause: clause}}}
}

// lossBetween returns the clause that forbids what a fault between two calls has
// brought about, and its name; else "".
func (s *Saved) lossBetween(a, b history.Call) (clause, by string) {
	for _, e := range s.Events {
		if e.Loses != "" && e.Healed >= a.Called && e.Started <= b.Returned && e.Loses > clause {
			clause, by = e.Loses, e.Fault
		}
	}
	return clause, by
}

// firstIllegal cuts an illegal history off as soon as it is illegal.
func firstIllegal(h history.History) history.History {
	var ends []time.Duration
	for _, c := range h.Calls {
		ends = append(ends, c.Returned)
	}
	slices.Sort(ends)
	for _, end := range ends {
		if cut := until(h, end); history.Judge(cut, judgeTime) == history.Illegal {
			return cut
		}
	}
	return h
}

// until is what had been seen of a history at a moment: calls that had not
// returned by then had an unknown outcome.
func until(h history.History, end time.Duration) history.History {
	cut := h
	cut.Calls = nil
	for _, c := range h.Calls {
		switch {
		case c.Called > end:
			continue
		case c.Returned > end && c.Back == nil:
			if c.Op.Kind == model.Get || c.Reply.Outcome == model.Held {
				continue
			}
			c.Reply, c.ReplyTxt = model.Reply{}, "not yet"
		}
		cut.Calls = append(cut.Calls, c)
	}
	return cut
}

// copies are further deliveries of a call's request, each of which may have
// taken effect.
func copies(c history.Call, n int) []history.Call {
	if n == 0 || c.Op.Kind == model.Get {
		return nil
	}
	c.Text, c.During = c.Text+", delivered once more", ""
	c.Reply, c.ReplyTxt = model.Reply{}, "unknown"
	return slices.Repeat([]history.Call{c}, n)
}

// keep writes the campaign and the picture of a bad key into dir, or into a new
// temporary folder if that is "". It returns the folder.
func (s *Saved) keep(key string, v *Violation, dir string) (string, []string) {
	files, err := func() ([]string, error) {
		if dir == "" {
			var err error
			if dir, err = os.MkdirTemp("", "leasekit-chaos-"); err != nil {
				return nil, err
			}
		}
		campaign := filepath.Join(dir, fmt.Sprintf("campaign-%d.json", s.Seed))
		if err := s.Save(campaign); err != nil {
			return nil, err
		}
		files, err := history.Save(v.window, dir, fmt.Sprintf("campaign-%d-%s", s.Seed, key), judgeTime)
		return append([]string{campaign}, files...), err
	}()
	if err != nil {
		v.Problem += fmt.Sprintf(" (not saved: %v)", err)
	}
	return dir, files
}

// events shows a window as lines.
func windowText(h history.History) string {
	var b strings.Builder
	for _, c := range h.Calls {
		who := fmt.Sprint("worker ", c.Worker)
		if c.Back != nil {
			fmt.Fprintf(&b, "    +%-12v %-10s %s\n", c.Called.Round(time.Microsecond), "", c.Text)
			continue
		}
		during := ""
		if c.During != "" {
			during = "   (during " + c.During + ")"
			if strings.HasPrefix(c.During, after) {
				during = "   (" + c.During + ")"
			}
		}
		fmt.Fprintf(&b, "    +%-12v %-10s %s → %s%s\n", c.Called.Round(time.Microsecond), who, c.Text, c.ReplyTxt, during)
	}
	return b.String()
}
