package leasetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// skewedBase is where the numbers of workers with wrong clocks begin.
const skewedBase = 100

// skewOutcome is what the skew check found; a child process hands it to its
// parent as JSON.
type skewOutcome struct {
	Examined   bool      `json:"examined"`
	Cut        bool      `json:"cut"` // some programs ended early, because they broke another clause
	NotChecked string    `json:"notChecked"`
	Findings   []skewing `json:"findings"`
}

type skewing struct {
	Clause  string  `json:"clause"`
	Problem string  `json:"problem"`
	Events  []Event `json:"events"`
	at      string  // which reply it is, and how it differs
}

// traced is a reply with the window in which it came.
type traced struct {
	reply model.Reply
	w     model.Window
	event int // its number in the history
}

// checkSkew looks whether a worker's clock plays a part (EXPIRY-4, EXPIRY-5):
// the same programs are run by workers with right clocks and by workers of
// which one lives in the year 2000 and one in 2060.
func (s *suite) checkSkew() {
	var o skewOutcome
	if s.parent != nil {
		o = s.skewInChild()
	} else {
		o = s.skewHere()
	}
	if o.NotChecked != "" {
		s.notChecked("EXPIRY-4", o.NotChecked)
	}
	for _, f := range o.Findings {
		s.fail(&finding{clause: f.Clause, problem: f.Problem, events: f.Events}, "workers with wrong clocks", s.seed)
	}
	s.skewCut = o.Cut
	if o.Examined && !o.Cut {
		s.examined("EXPIRY-4")
	}
}

// checkSkewAgain repeats the check if other clauses were in its way, now that
// they are known and excused. If there are none, it was the time that ran on: on a busy
// machine a short lease may end in one of two runs and not in the other.
func (s *suite) checkSkewAgain() {
	tries := 1
	if len(s.excuses.any()) == 0 {
		tries = 4
	}
	for range tries {
		if !s.skewCut || s.excuses.has("EXPIRY-4") {
			return
		}
		s.checkSkew()
	}
	switch {
	case !s.skewCut:
	case tries > 1:
		s.notChecked("EXPIRY-4", "the programs to compare go another way each time, with right clocks too")
	default:
		s.notChecked("EXPIRY-4", "the programs to compare break other clauses first")
	}
}

// skewHere runs the check in this process.
func (s *suite) skewHere() skewOutcome {
	// A guard of its own: a client that hangs in a bubble may be in order outside.
	g := &guard{limit: s.guard.limit}
	st, err := openStore(s.parent, s.name+"/EXPIRY-4", g, s.openFn)
	if err != nil {
		return skewOutcome{NotChecked: err.Error()}
	}
	defer s.close("", st)
	connect := st.connect
	st.connect = func(n int, w Worker) (caller, error) {
		switch n - skewedBase {
		case workerA:
			return skewedWorker(st, w, -wrongBy, 0)
		case workerB:
			return skewedWorker(st, w, wrongBy, 60*365*day)
		}
		return connect(n, w)
	}
	st.notes = map[int]string{skewedBase + workerA: " (clock in 2000)", skewedBase + workerB: " (clock in 2060)"}
	if st.h.ConnectSkewed != nil {
		st.notes = map[int]string{skewedBase + workerA: " (clock 1 h slow)", skewedBase + workerB: " (clock 1 h fast)"}
	}
	for n := range 3 {
		if _, err := st.worker(skewedBase+n, ""); err != nil {
			return skewOutcome{NotChecked: "a worker with a wrong clock can't be made: " + err.Error()}
		}
	}
	var o skewOutcome
	s.compared = 0
	for _, p := range s.skewPrograms(st.h) {
		f, cut, why := s.compare(st, p)
		if why != "" {
			return skewOutcome{NotChecked: why, Findings: o.Findings}
		}
		if f != nil && f.Clause == "EXPIRY-4" {
			if why := oneClock(st); why != "" {
				return skewOutcome{NotChecked: why, Findings: o.Findings}
			}
		}
		o.Cut = o.Cut || cut
		if f != nil && !o.has(f.Clause) {
			o.Findings = append(o.Findings, *f)
		}
	}
	switch known := s.excuses.any(); {
	case st.clock.stuck || s.compared == 0 && len(known) == 0:
		o.NotChecked = "needs a server clock that goes back when Harness.Clock.Move is told to, or none that is moved at all"
		return o
	case s.compared == 0:
		o.NotChecked = "can't be told apart from what breaks " + strings.Join(known, ", ")
		return o
	}
	o.Examined = true
	return o
}

// wrongBy is how wrong the clocks of workers in other processes are: more than
// the longest ttl of the scenarios that are compared.
const wrongBy = time.Hour

// skewedWorker connects a worker whose clock is off, or, if its clock is Go's and in
// this process, one in a bubble that has slept for so long.
func skewedWorker(st *store, w Worker, off, slept time.Duration) (caller, error) {
	if st.h.ConnectSkewed == nil {
		return bubbleWorker(st, w, slept)
	}
	svc, err := st.obtain(st.tb, "ConnectSkewed", func() lease.Service { return st.h.ConnectSkewed(st.tb, w, off) })
	if err != nil {
		return nil, err
	}
	return callerOf(svc), nil
}

func (o skewOutcome) has(clause string) bool {
	for _, f := range o.Findings {
		if f.Clause == clause {
			return true
		}
	}
	return false
}

// skewPrograms are the examples that show something of expiry and grants, and
// where time can be moved some random programs.
func (s *suite) skewPrograms(h *Harness) []program {
	var list []program
	var chosen []example
	chosen = append(chosen, expiryReportExamples()...)
	chosen = append(chosen, exclusionExamples()...)
	chosen = append(chosen, tokenExamples()...)
	chosen = append(chosen, renewExamples()...)
	chosen = append(chosen, releaseExamples()...)
	chosen = append(chosen, expiryExamples()...)
	chosen = append(chosen, clockExamples()...)
	for _, e := range chosen {
		if e.needs.missing(h) == "" {
			list = append(list, e.steps)
		}
	}
	if kindOf(h.Clock) == clockFrozen {
		gen := programs(terrainOf(h))
		for i := range 10 {
			list = append(list, drawn(gen, caseSeed(s.seed, i)))
		}
	}
	return list
}

// sure is how often a difference has to come back, at the same reply. Where keys
// share what they should not, about half of the fresh names may meet another key.
const sure = 6

// compare runs p with right clocks and with wrong ones. A difference that does
// not come back is one of timing or of names, and none.
func (s *suite) compare(st *store, p program) (f *skewing, cut bool, why string) {
	before := ""
	for i := range sure {
		right, wrong := newRunner(st, s.excuses), newRunner(st, s.excuses)
		wrong.base = skewedBase
		for _, r := range []*runner{right, wrong} {
			r.run(p)
			if r.failed != nil {
				return nil, false, r.failed.Error()
			}
			if st.guard.hung.Load() > 0 {
				return nil, false, fmt.Sprintf("a call did not return within %v", st.guard.limit)
			}
		}
		var whole bool
		if f, whole = difference(st, right, wrong); whole {
			s.compared++
		}
		if f == nil || i > 0 && f.at != before {
			return nil, f != nil || right.found != nil || wrong.found != nil, ""
		}
		before = f.at
	}
	return f, false, ""
}

// difference says where two runs of a program went apart, or nil. whole says whether
// they were compared to their end.
func difference(st *store, right, wrong *runner) (f *skewing, whole bool) {
	if st.clock.kind == clockFrozen && !right.began.Equal(wrong.began) {
		return nil, false // a clock that could not be brought back: other instants may give other answers
	}
	for i := 0; i < min(len(right.took), len(wrong.took)); i++ {
		if right.took[i] != wrong.took[i] {
			return nil, false // the clock did not go the same way: nothing to compare
		}
	}
	// What follows a reply that is put down to another clause may follow from that.
	comparable := min(len(right.replies), len(wrong.replies))
	for _, r := range []*runner{right, wrong} {
		if r.excused {
			comparable = min(comparable, r.clear)
		}
	}
	slack := 2 * st.h.resolution()
	rightTokens, wrongTokens := map[int64]int{}, map[int64]int{}
	for i := range comparable {
		a, b := right.replies[i], wrong.replies[i]
		problem, by := "", ""
		switch {
		case a.reply.Outcome != b.reply.Outcome:
			problem = "another answer"
		case a.reply.Outcome != model.Granted:
			continue
		case nth(rightTokens, a.reply.Token) != nth(wrongTokens, b.reply.Token):
			problem = "another grant's token"
		case st.clock.kind != clockNone:
			off := a.reply.Expires.Sub(a.w.Lo) - b.reply.Expires.Sub(b.w.Lo)
			wide := a.w.Hi.Sub(a.w.Lo) + b.w.Hi.Sub(b.w.Lo)
			if i > 0 && st.clock.kind != clockFrozen {
				// Get and what follows an earlier grant report an expiry that
				// was set some time ago, and time runs on.
				wide += right.replies[i].w.Hi.Sub(right.replies[0].w.Lo) + wrong.replies[i].w.Hi.Sub(wrong.replies[0].w.Lo)
			}
			if off.Abs() > slack+wide {
				problem, by = "an expiry that is off", " by "+off.Abs().String()
			}
		}
		if problem == "" {
			continue
		}
		if st.clock.kind == clockFrozen && a.w.Lo.Sub(right.began) != b.w.Lo.Sub(wrong.began) {
			// It ticks, and each run began at another moment between two ticks: a
			// move has taken it over one tick more.
			return nil, false
		}
		list := wrong.upTo(i)
		list[len(list)-1].Want = "as with right clocks: " + right.upTo(i)[len(right.upTo(i))-1].Reply
		return &skewing{
			Clause:  "EXPIRY-4",
			Problem: "workers with wrong clocks get " + problem + by + " for the same calls",
			Events:  list,
			at:      fmt.Sprint(i, problem, a.reply.Outcome, b.reply.Outcome),
		}, false
	}
	for _, r := range []*runner{right, wrong} {
		if r.found != nil && r.found.clause == "EXPIRY-5" {
			return &skewing{Clause: "EXPIRY-5", Problem: r.found.problem, Events: r.found.events}, false
		}
	}
	return nil, comparable == len(right.replies) && comparable == len(wrong.replies)
}

// oneClock says why a difference proves nothing: a store that lives in this
// process may rightly read the process's clock, which inside a bubble is the
// bubble's. Without a server clock to look at nobody can tell such a store from
// a worker that judges by its own clock.
func oneClock(st *store) string {
	const see = "the replies follow the clock of the process that calls; "
	switch {
	case st.h.Clock == nil:
		return see + "without Harness.Clock the suite can't tell whether that is the store's own clock too"
	case st.h.ConnectSkewed == nil && followsBubble(st.h.Clock):
		return see + "that is the store's own clock too, since Harness.Clock reads it: give the store a clock of its own to have this checked"
	}
	return ""
}

// nth numbers tokens in the order in which they were first seen.
func nth(seen map[int64]int, token int64) int {
	if _, ok := seen[token]; !ok {
		seen[token] = len(seen)
	}
	return seen[token]
}

// upTo is the history up to the call with reply i.
func (r *runner) upTo(i int) []Event {
	return append([]Event(nil), r.events[:r.replies[i].event+1]...)
}
