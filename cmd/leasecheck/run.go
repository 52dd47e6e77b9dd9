package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leasekit/lease/cmd/internal/adapter"
	"github.com/leasekit/lease/cmd/internal/report"
	"github.com/leasekit/lease/cmd/internal/target"
	"github.com/leasekit/lease/internal/cage"
	"github.com/leasekit/lease/leasetest"
)

const runUsage = `leasecheck run [flags] TARGET

Runs the suite against TARGET and prints the verdicts. TARGET is one of

    exec:COMMAND    a worker in any language that speaks the adapter protocol
                    (PROTOCOL.md); leasecheck starts as many as it needs
%s
Flags:
`

// settings are what the command line asks for.
type settings struct {
	target     string
	shown      string   // as it may be shown: without a password
	clauses    []string // shown and judged; empty means all
	deviations map[string]string
	declaredIn string // the file with the deviations
	seed       uint64
	checks     int
	timeout    time.Duration
	limit      time.Duration
	strict     bool
	name       string
	histories  string // folder
	progress   *progress
}

// codeOf is the exit code for what a report comes to.
var codeOf = map[report.Outcome]int{
	report.Conformant: exitOK, report.NotConformant: exitBroken, report.Inconclusive: exitNothing, report.Nothing: exitNothing,
}

// runSuite is the command run.
func runSuite(ctx context.Context, w, wErr io.Writer, args []string) int {
	flags := newFlags("run", fmt.Sprintf(runUsage, targetForms()), wErr)
	var clauses, files texts
	var s settings
	flags.Var(&clauses, "clause", "judge this `clause` alone, such as TOKEN-4, or this group, such as TOKEN; commas and repetition make a list")
	flags.Uint64Var(&s.seed, "seed", 0, "`seed` of the random programs; drawn afresh if not given")
	flags.IntVar(&s.checks, "checks", 0, "`number` of random programs (default 100)")
	flags.DurationVar(&s.timeout, "timeout", 10*time.Minute, "end the run after this `time`")
	flags.DurationVar(&s.limit, "limit", adapter.DefaultLimit, "`time` that one call may take")
	flags.StringVar(&s.declaredIn, "deviations", "", "`file` with a line \"CLAUSE: reason\" for each clause that the backend is known to break")
	flags.Var(&files, "report", "write a report to this `file`, in the format of its ending ("+report.Endings()+"); may be repeated")
	format := flags.String("format", "", "`format` of the reports, whatever their files are called: "+report.Names())
	flags.BoolVar(&s.strict, "strict", false, "fail what was not checked as well, except for what never can be")
	flags.StringVar(&s.name, "name", "", "`name` of the backend in reports (default: what the adapter says, or the target)")
	flags.StringVar(&s.histories, "histories", "", "save the histories of failed concurrent checks in this `folder` (default: a new temporary one)")
	quiet := flags.Bool("quiet", false, "show no progress")
	rest, code, ok := parse(flags, args, 1, 1)
	if !ok {
		return code
	}
	s.target, s.shown = rest[0], rest[0]
	err := s.check()
	if err == nil {
		s.clauses, err = chosen(clauses)
	}
	if err == nil && s.declaredIn != "" {
		s.deviations, err = readDeviations(s.declaredIn)
	}
	var outputs []report.Output
	if err == nil {
		outputs, err = report.Outputs(files, *format)
	}
	if err != nil {
		return misused(flags, err)
	}
	s.progress = newProgress(wErr, *quiet)
	return s.run(ctx, w, wErr, outputs)
}

// check looks at what the flags can't see to.
func (s *settings) check() error {
	command, isExec := strings.CutPrefix(s.target, "exec:")
	switch {
	case isExec && strings.TrimSpace(command) == "":
		return errors.New("exec: names no command")
	case !isExec && !strings.HasPrefix(s.target, "embedded:"): // those begin to run when they are opened
		t, err := target.Open(s.target)
		if err != nil {
			return fmt.Errorf("the target is neither exec:COMMAND nor a store: %w", err)
		}
		s.shown = t.Name
	case s.checks < 0 || s.timeout <= 0 || s.limit <= 0:
		return fmt.Errorf("-checks %d, -timeout %v, -limit %v: want more than 0", s.checks, s.timeout, s.limit)
	}
	return nil
}

func (s *settings) run(ctx context.Context, w, wErr io.Writer, outputs []report.Output) int {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, err := s.judge(ctx)
	s.progress.done()
	if err != nil {
		fmt.Fprintln(wErr, "leasecheck:", err)
	}
	if r == nil {
		return exitNothing
	}
	if isChild() {
		if err := cage.Leave(childFile, r); err != nil {
			fmt.Fprintln(wErr, "leasecheck:", err)
			return exitNothing
		}
		return exitOK
	}
	s.settle(r)
	code := codeOf[report.OutcomeOf(r)]
	if err := report.Text(w, r); err != nil {
		fmt.Fprintln(wErr, "leasecheck:", err)
		code = exitNothing
	}
	for _, o := range outputs {
		if err := o.Write(r); err != nil {
			fmt.Fprintln(wErr, "leasecheck:", err)
			code = exitNothing
		}
	}
	return code
}

// judge runs the suite on the target.
func (s *settings) judge(ctx context.Context) (*leasetest.Report, error) {
	if command, ok := strings.CutPrefix(s.target, "exec:"); ok {
		return s.judgeAdapter(ctx, command)
	}
	if isChild() {
		return s.judgeStore(ctx)
	}
	return s.judgeInChild(ctx)
}

// judgeAdapter runs the suite on the workers of an adapter. They are processes of
// their own, so it may run in this one.
func (s *settings) judgeAdapter(ctx context.Context, command string) (*leasetest.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := adapter.Start(command, s.limit, func(error) { cancel() })
	if err != nil {
		return s.unable(s.named(s.shown), fmt.Errorf("the adapter: %w", err))
	}
	r, err := leasetest.Check(ctx, s.declaring(a.Open), s.options(s.named(a.Name())))
	if broken := a.Err(); broken != nil {
		r, err = s.unable(s.named(a.Name()), fmt.Errorf("the adapter: %w", broken))
	}
	for i := range r.Clauses {
		c := &r.Clauses[i]
		if c.Verdict == leasetest.Pass && c.Reason == "" {
			c.Reason = adapter.Notes[c.ID]
		}
	}
	return r, errors.Join(err, a.Close())
}

// unable is the report of a run that could not be made: an error for each clause.
func (s *settings) unable(name string, why error) (*leasetest.Report, error) {
	return leasetest.Check(context.Background(), failing(why), s.options(name))
}

// options are the settings of the suite.
func (s *settings) options(name string) *leasetest.Options {
	return &leasetest.Options{
		Name: name, Seed: s.seed, Cases: s.checks, Strict: s.strict,
		Limit:    3 * s.limit, // an adapter is to be heard of first
		Dir:      s.histories,
		Progress: s.progress.show,
		Repeat:   s.repeat,
	}
}

// repeat is the command that meets a failure again.
func (s *settings) repeat(clause string, seed uint64, cases int) string {
	return fmt.Sprintf("leasecheck run -clause %s -seed %d -checks %d %s", clause, seed, cases, quoted(s.shown))
}

func (s *settings) named(otherwise string) string {
	if s.name != "" {
		return s.name
	}
	return otherwise
}

// quoted makes text one word for a shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
