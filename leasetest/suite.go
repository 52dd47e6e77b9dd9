package leasetest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// suite is one run of all checks on one subject: a backend, or what subject says. Everything is computed before
// anything is reported, so that a run restricted to one clause (-run) meets the
// same programs and the same relaxations as the full one.
type suite struct {
	subject
	parent   testing.TB // nil outside of go test
	name     string
	compared int    // programs that the skew check could compare to their end
	skewCut  bool   // the skew check met other broken clauses
	ordinal  int    // of the Run calls in one test
	pkg      string // for the command that repeats a failure; "" if unknown
	openFn   func(testing.TB) *Harness
	guard    *guard
	knobs    knobs
	seed     uint64
	dir      string // where histories are saved
	ctx      context.Context
	progress func(made, of int)                                 // nil: nobody wants to know
	repeatBy func(clause string, seed uint64, cases int) string // nil: the suite's own way

	excuses *excuses
	h       *Harness // of the first store opened: its figures and declarations
	noStart error    // why there is none

	mu           sync.Mutex
	verdicts     map[string]*tally
	programsDone bool // all random programs were run, and enough of them told something
}

// subject is what a suite is about. Run's is a backend of leases.
type subject struct {
	clauses []Clause                 // those that it gives verdicts on
	later   map[string]string        // those of them that it has no check for, and why
	died    func(why string) *Report // the report, if the process that judges dies
	examine func(r *Report)          // opens the subject, makes all checks, and fills in the figures
}

// tally is what the checks have said of one clause so far.
type tally struct {
	examined     bool
	failure      *Failure
	broken       string // the harness failed
	inconclusive string
	notChecked   string
	spoken       int    // replies of random programs that spoke for the clause
	offPlan      string // why an example could not be followed
	lacking      string // what the harness lacks for some example of the clause
}

func newSuite(parent testing.TB, name, pkg string, open func(testing.TB) *Harness, k knobs) *suite {
	s := &suite{
		parent: parent, name: name, pkg: pkg, openFn: open,
		guard: &guard{limit: callLimit}, knobs: k, seed: k.seed,
		verdicts: map[string]*tally{}, ctx: context.Background(),
	}
	s.subject = subject{
		clauses: clauses, later: laterClauses, examine: s.examineBackend,
		died: func(why string) *Report { return Died(name, why) },
	}
	return s
}

// run judges the subject.
func (s *suite) run() *Report {
	started := time.Now()
	report := &Report{
		Version: ReportVersion, Backend: s.name, Started: started.UTC(),
		Seed: s.seed, Cases: s.knobs.cases, Strict: s.knobs.strict,
	}
	s.examine(report)
	for _, c := range s.clauses {
		report.Clauses = append(report.Clauses, s.result(c))
	}
	report.count()
	report.Seconds = time.Since(started).Seconds()
	return report
}

// examineBackend makes the checks of Run.
func (s *suite) examineBackend(report *Report) {
	st, err := s.open("set-up")
	if err != nil {
		s.notStarted(err)
		return
	}
	s.h = st.h
	s.excuses = newExcuses(st.h)
	report.Figures = figures(st.h)
	s.close("set-up", st)
	s.phases()
}

// notStarted notes that there is nothing to judge, and why.
func (s *suite) notStarted(err error) {
	s.noStart = err
	for _, c := range s.clauses {
		s.broken(c.ID, err)
	}
}

// phases runs the checks, the most telling first: what they find is excused in
// those that follow.
func (s *suite) phases() {
	if s.checkApart() {
		for _, c := range clauses {
			if c.ID != "EXCL-1" {
				s.notChecked(c.ID, "the workers share no store (EXCL-1)")
			}
		}
		return
	}
	checks := []func(){s.checkSkew}
	for _, e := range examples(s.h) {
		checks = append(checks, func() { s.runExample(e) })
	}
	checks = append(checks, s.checkSkewAgain, s.checkDamage, s.checkProgram, s.checkMany, s.checkRaces, s.checkHistories, s.checkContexts, s.checkWaits, s.checkRestart)
	for i, check := range checks {
		if s.progress != nil {
			s.progress(i, len(checks))
		}
		if s.ctx.Err() != nil {
			s.cutShort()
			break
		}
		check()
	}
	for id, why := range s.later {
		s.notChecked(id, why)
	}
}

// cutShort notes that the run was ended early.
func (s *suite) cutShort() {
	for _, c := range s.clauses {
		s.inconclusive(c.ID, "the run was ended before all checks were made")
	}
}

// laterClauses are in the contract, and Run has no check for them.
var laterClauses = func() map[string]string {
	later := map[string]string{
		"TOKEN-11": "a harness can't fail its store over; campaigns of package chaos do",
		"ERR-6":    "a Service has no Close; campaigns of package chaos look for what a closed client leaves",
	}
	for _, c := range clauses {
		switch {
		case strings.HasPrefix(c.ID, "HOLD-"):
			later[c.ID] = "it is about the hold helper: RunHold checks it"
		case strings.HasPrefix(c.ID, "FENCE-"):
			later[c.ID] = "it is about the protected resource: RunFence checks it"
		}
	}
	return later
}()

func (s *suite) open(what string) (*store, error) {
	return openStore(s.parent, s.name+"/"+what, s.guard, s.openFn)
}

// close ends a store; what goes wrong there is the harness's fault.
func (s *suite) close(clause string, st *store) {
	if err := st.close(); err != nil {
		if _, ok := clauseByID(clause); ok {
			s.broken(clause, err)
		}
	}
}

func (s *suite) tally(id string) *tally {
	v, ok := s.verdicts[id]
	if !ok {
		v = &tally{}
		s.verdicts[id] = v
	}
	return v
}

func (s *suite) examined(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.tally(id).examined = true
	}
}

func (s *suite) notChecked(id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.tally(id); v.notChecked == "" {
		v.notChecked = why
	}
}

// lacks notes that the harness lacks what one scenario of the clause needs.
func (s *suite) lacks(id, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.tally(id); v.lacking == "" {
		v.lacking = what
	}
}

func (s *suite) inconclusive(id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.tally(id); v.inconclusive == "" {
		v.inconclusive = why
	}
}

// broken notes that the harness failed while clause id was checked; a harness
// that asked to be excused makes it not checked.
func (s *suite) broken(id string, err error) {
	if why, ok := isSkipped(err); ok {
		s.notChecked(id, string(why))
		return
	}
	if errors.Is(err, errExhausted) {
		s.inconclusive(id, fmt.Sprintf("it was not examined: %d calls did not return within %v", hangLimit, s.guard.limit))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.tally(id); v.broken == "" {
		v.broken = err.Error()
	}
}

// offPlan notes that an example could not be followed to its end, though its
// own clause was not seen broken. If nothing is known to fail, nobody knows
// why. Otherwise what fails is in the way, and the random programs have to
// tell.
func (s *suite) offPlan(id, name, why string) {
	known := s.excuses.any()
	if len(known) == 0 {
		s.inconclusive(id, fmt.Sprintf("%s went off its plan at %s", name, why))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.tally(id); v.offPlan == "" {
		v.offPlan = fmt.Sprintf("%s went off its plan at %s, because of %s", name, why, strings.Join(known, ", "))
	}
}

// fail records that a clause is broken, and excuses it from now on.
func (s *suite) fail(f *finding, found string, seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.excuses.failed[f.clause] = true
	if v := s.tally(f.clause); v.failure == nil {
		v.failure = s.failure(f, found, seed)
	}
}

func (s *suite) failure(f *finding, found string, seed uint64) *Failure {
	return &Failure{
		Problem: f.problem, Found: found, Files: f.files,
		History: append([]Event{}, f.events...),
		Repeat:  s.repeat(f.clause, seed),
	}
}

// repeat is the command that meets the same failure again.
func (s *suite) repeat(clause string, seed uint64) string {
	cases := s.knobs.cases
	if seed != s.seed {
		cases = 1
	}
	switch {
	case s.repeatBy != nil:
		return s.repeatBy(clause, seed, cases)
	case s.parent == nil:
		return fmt.Sprintf("leasetest.Check with Options{Seed: %d, Cases: %d}", seed, cases)
	}
	pkg := s.pkg
	if pkg == "" {
		pkg = "."
	}
	// The package comes before the flags that go test does not know.
	pattern := strings.ReplaceAll(runPattern(s.name)+"/^"+clause+"$", "'", `'\''`)
	return fmt.Sprintf("go test -count=1 -run '%s' %s -rapid.seed=%d -rapid.checks=%d", pattern, pkg, seed, cases)
}

// runPattern makes the -run pattern of a test name.
func runPattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// result is the verdict on one clause, after all checks.
func (s *suite) result(c Clause) Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.tally(c.ID)
	r := Result{ID: c.ID, Level: c.Level, Sentence: c.Sentence}
	declared, permitted := "", s.later[c.ID]
	var shown *finding
	if s.h != nil {
		declared = s.h.Deviations[c.ID]
		permitted += s.h.Unchecked[c.ID]
		shown = s.excuses.shown[c.ID]
	}
	switch {
	case declared != "" && shown != nil:
		r.Verdict, r.Reason = Deviation, declared
		r.Failure = s.failure(shown, shown.foundBy, s.seed)
	case declared != "" && v.failure != nil:
		r.Verdict, r.Reason, r.Failure = Deviation, declared, v.failure
	case v.failure != nil:
		r.Verdict, r.Failure = Fail, v.failure
	case v.broken != "":
		r.Verdict, r.Reason = Error, v.broken
	case v.inconclusive != "":
		r.Verdict, r.Reason = Inconclusive, v.inconclusive
	case v.notChecked != "":
		r.Verdict, r.Reason, r.Permitted = NotChecked, v.notChecked, permitted != ""
	case s.obscured(c.ID) != "" && declared == "":
		r.Verdict, r.Permitted = NotChecked, permitted != ""
		r.Reason = "a reply that may break it was put down to " + s.obscured(c.ID) + ", which is known to fail"
	case v.offPlan != "" && !(s.programsDone && v.spoken >= enough && slices.Contains(programClauses, c.ID)):
		r.Verdict, r.Reason, r.Permitted = NotChecked, v.offPlan, permitted != ""
	case !v.examined && v.offPlan != "":
		r.Verdict, r.Reason = Pass, v.offPlan+"; random programs found nothing"
	case !v.examined && v.lacking != "":
		r.Verdict, r.Reason, r.Permitted = NotChecked, v.lacking, permitted != ""
	case !v.examined:
		r.Verdict, r.Reason = Inconclusive, "no check came to its end"
	case declared != "" && byChance[c.ID]:
		r.Verdict, r.Reason = Deviation, declared+" (declared; it did not show in this run, which can be chance)"
	case declared != "":
		r.Verdict, r.Stale = Error, true
		r.Reason = fmt.Sprintf("Harness.Deviations declares %s (%q), but the backend keeps the clause: remove the entry", c.ID, declared)
	case permitted != "":
		r.Verdict, r.Stale = Error, true
		r.Reason = fmt.Sprintf("Harness.Unchecked says that %s can't be checked (%q), but it was: remove the entry", c.ID, permitted)
	default:
		r.Verdict = Pass
		if v.lacking != "" {
			r.Reason = "in part: one of its scenarios " + v.lacking
		}
	}
	if r.Verdict == NotChecked && declared != "" {
		r.Reason += "; declared as a deviation: " + declared
	}
	return r
}

// obscured is the clause that a reply was put down to which may have broken id.
func (s *suite) obscured(id string) string {
	if s.excuses == nil {
		return ""
	}
	return s.excuses.obscured[id]
}

// byChance are the clauses whose checks depend on how threads interleave: a
// deviation from them may fail to show.
var byChance = map[string]bool{"EXCL-3": true, "EXCL-5": true, "TOKEN-7": true, "ERR-1": true, "ERR-2": true, "ERR-7": true, "FENCE-3": true}

func figures(h *Harness) Figures {
	f := Figures{Clock: kindOf(h.Clock).String(), Resolution: h.resolution().String()}
	set := func(to *string, d time.Duration) {
		if d > 0 {
			*to = d.String()
		}
	}
	set(&f.MinTTL, h.MinTTL)
	set(&f.MaxTTL, h.MaxTTL)
	set(&f.ExpiryLag, h.ExpiryLag)
	return f
}
