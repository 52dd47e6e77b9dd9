package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// newFlags makes the flags of a command. Its help begins with text.
func newFlags(name, text string, wErr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("leasecheck "+name, flag.ContinueOnError)
	flags.SetOutput(wErr)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), text)
		flags.PrintDefaults()
	}
	return flags
}

// parse reads flags and arguments in any order, and wants between least and most
// arguments; most < 0 is no limit. If ok is false, the command ends with the code.
func parse(flags *flag.FlagSet, args []string, least, most int) (rest []string, code int, ok bool) {
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return nil, exitOK, false
		case err != nil:
			return nil, exitUsage, false
		}
		if flags.NArg() == 0 {
			break
		}
		rest = append(rest, flags.Arg(0))
		args = flags.Args()[1:]
	}
	if len(rest) < least || most >= 0 && len(rest) > most {
		return nil, misused(flags, fmt.Errorf("got %d arguments", len(rest))), false
	}
	return rest, 0, true
}

// misused says what is wrong with the command line.
func misused(flags *flag.FlagSet, err error) int {
	fmt.Fprintf(flags.Output(), "%s: %v\n%s -help shows how it is called\n", flags.Name(), err, flags.Name())
	return exitUsage
}

// texts is a flag that may be repeated.
type texts []string

func (t *texts) String() string     { return fmt.Sprint([]string(*t)) }
func (t *texts) Set(s string) error { *t = append(*t, s); return nil }
