package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes.
const (
	exitOK      = 0 // conformant
	exitBroken  = 1 // a clause fails, a declared deviation is stale, or with -strict one was not checked
	exitUsage   = 2 // the command line makes no sense
	exitNothing = 3 // inconclusive, the run itself failed, or nothing was checked
)

// usage is what leasecheck says of itself.
const usage = `Leasecheck checks lease implementations against the contract of CONFORMANCE.md.

    leasecheck run TARGET          run the suite; TARGET is a store or an adapter
    leasecheck list                list the clauses
    leasecheck explain TOKEN-4     say what a clause means, and show how it breaks
    leasecheck report A.json ...   make one matrix of many reports
    leasecheck judge HISTORY.json  judge a saved history again
    leasecheck init LANGUAGE       write a starter: go, node, python or java

"leasecheck COMMAND -help" has the flags of a command.

Exit codes: 0 conformant; 1 not conformant, or a declared deviation that is stale;
2 usage; 3 inconclusive, the run itself failed, or nothing was checked.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	os.Exit(code)
}

// commands are what leasecheck can do, by name.
var commands = map[string]func(ctx context.Context, w, wErr io.Writer, args []string) int{
	"run":     runSuite,
	"list":    list,
	"explain": explain,
	"report":  matrix,
	"judge":   judgeAgain,
	"init":    start,
}

func run(ctx context.Context, w, wErr io.Writer, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(wErr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(w, usage)
		return exitOK
	}
	command, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(wErr, "leasecheck: there is no command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	return command(ctx, w, wErr, args[1:])
}
