// Leasebench measures how fast a lease is on a server, and what it costs there: as
// figures of its own, and as multiples of bare round trips to the same server. With
// -help it says how to use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/leasekit/lease/cmd/internal/bench"
	"github.com/leasekit/lease/cmd/internal/benchreport"
	"github.com/leasekit/lease/cmd/internal/target"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the run failed, or was ended before its time
	exitUsage  = 2 // the flags or arguments are wrong; nothing was measured
)

// usageError is an error that has to do with how the command was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the command. An error is one line on stderr that says what to do.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errIncomplete):
		fmt.Fprintf(stderr, "leasebench: %v\n", err)
		return exitFailed
	}
	fmt.Fprintf(stderr, "leasebench: %s\n", strings.Join(strings.Fields(err.Error()), " "))
	if usage := (usageError{}); errors.As(err, &usage) || errors.Is(err, target.ErrDSN) || errors.Is(err, bench.ErrTTL) {
		return exitUsage
	}
	return exitFailed
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "list":
			return list(args[1:], stdout)
		case "merge":
			return merge(args[1:], stdout)
		case "help":
			_, err := io.WriteString(stdout, help())
			return err
		}
	}
	return measure(ctx, args, stdout, stderr)
}

// errIncomplete is returned when a run was ended before its time. Its results have
// been shown, and are marked.
var errIncomplete = errors.New("the run was ended before its time: the results are incomplete")

func measure(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stdout)
	if err != nil {
		return err
	}
	c, closeTargets, err := o.config()
	if err != nil {
		return err
	}
	if err := o.out.prepare(); err != nil {
		return errors.Join(err, closeTargets())
	}
	p := newProgress(stderr)
	c.Progress = p.show
	r, err := bench.Run(ctx, c)
	p.clear()
	if err = errors.Join(err, closeTargets()); err != nil {
		return err
	}
	if err := o.out.write(stdout, r); err != nil {
		return err
	}
	if r.Incomplete != "" {
		return errIncomplete
	}
	return nil
}

// list says what the workloads are.
func list(args []string, stdout io.Writer) error {
	if len(args) > 0 {
		return usagef("list takes no arguments")
	}
	for _, w := range bench.Workloads {
		if _, err := fmt.Fprintf(stdout, "%s\n%s\n", w.Name, indent(w.About)); err != nil {
			return err
		}
	}
	return nil
}

// merge makes one report of the logs of several runs.
func merge(args []string, stdout io.Writer) error {
	var out output
	flags := newFlags("leasebench merge")
	out.register(flags)
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if err := out.check(); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return usagef("merge wants the logs of a run, which -log FILE has written")
	}
	var reports []*benchreport.Report
	for _, name := range flags.Args() {
		r, err := readLog(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		reports = append(reports, r)
	}
	whole, err := benchreport.Merge(reports)
	if err != nil {
		return err
	}
	if err := out.write(stdout, whole); err != nil {
		return err
	}
	if whole.Incomplete != "" {
		return errIncomplete
	}
	return nil
}

func readLog(name string) (*benchreport.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return benchreport.ReadLog(f)
}
