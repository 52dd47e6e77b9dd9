// Command conformtable prints the reports of several runs of the conformance
// suite as one table, and says with its exit code whether all was green. It is
// the last step of make conform.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const usage = `usage: conformtable [flags] NAME=DIR...

Prints one line for each backend: how many clauses of CONFORMANCE.md got which
verdict. NAME is what the line is called. DIR is the folder that was given to
the backend's test as -lease.report=DIR; several reports in it give several
lines, and none at all is an error, for then the test died on the way.

  go test ./impl/memory -run '^TestConformance$' -args -lease.report=/tmp/r
  conformtable memory=/tmp/r

  conformtable -absent 'redis real=no server found' memory=/tmp/r
  conformtable -failed memory memory=/tmp/r
  conformtable -markdown memory=/tmp/r
  conformtable -check README.md memory=/tmp/r

The exit code is 0 if every NAME has a report and no report fails, 1 if not,
and 2 if the arguments make no sense.

flags:
`

// errUsage is returned when the arguments make no sense; what is wrong with
// them has been printed.
var errUsage = errors.New("bad arguments")

// errRed is returned when the table was printed and is not all green.
var errRed = errors.New("not every backend is green")

func main() {
	err := run(os.Stdout, os.Stderr, os.Args[1:])
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "conformtable:", err)
		os.Exit(1)
	}
}

func run(w, wErr io.Writer, args []string) error {
	flags := flag.NewFlagSet("conformtable", flag.ContinueOnError)
	flags.SetOutput(wErr)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	markdown := flags.Bool("markdown", false, "print the table alone, as Markdown")
	check := flags.String("check", "", "`FILE` that holds the Markdown table: its lines must be those of this run, or the exit code is 1")
	var absent, failed list
	flags.Var(&absent, "absent", "`NAME=REASON`: add a line for a backend that was not run; may be repeated")
	flags.Var(&failed, "failed", "`NAME` of a backend whose test ended with an error, so that it can't be green; may be repeated")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	}

	lines, err := collect(flags.Args(), absent, failed)
	if err != nil {
		fmt.Fprintf(wErr, "conformtable: %v\nconformtable -help shows how it is called\n", err)
		return errUsage
	}
	if *markdown {
		writeMarkdown(w, lines)
	} else {
		writeText(w, lines)
	}
	for _, l := range lines {
		if l.red() {
			return errRed
		}
	}
	if *check != "" {
		return checkMarkdown(*check, lines)
	}
	return nil
}

// collect makes the lines of the table. It fails for arguments that make no
// sense; what is wrong with a report becomes a line.
func collect(backends, absent, failed []string) ([]line, error) {
	if len(backends)+len(absent) == 0 {
		return nil, errors.New("no backend given, want NAME=DIR")
	}
	var lines []line
	known := map[string]bool{}
	for _, arg := range backends {
		name, dir, ok := strings.Cut(arg, "=")
		if !ok || name == "" || dir == "" {
			return nil, fmt.Errorf("got %q, want NAME=DIR", arg)
		}
		if known[name] {
			return nil, fmt.Errorf("the backend %q is given twice", name)
		}
		known[name] = true
		lines = append(lines, read(name, dir)...)
	}
	for _, arg := range absent {
		name, reason, ok := strings.Cut(arg, "=")
		if !ok || name == "" || reason == "" {
			return nil, fmt.Errorf("got -absent %q, want NAME=REASON", arg)
		}
		lines = append(lines, line{backend: name, absent: reason})
	}
	for _, name := range failed {
		if !known[name] {
			return nil, fmt.Errorf("got -failed %q, but no %s=DIR", name, name)
		}
		for i := range lines {
			if lines[i].given == name {
				lines[i].testFailed = true
			}
		}
	}
	return lines, nil
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }
