// Command workflow is a small runner of durable workflows, and shows what the leases
// and the fencing tokens of leasekit are for. Its workers are processes, which it kills,
// pauses and doubles.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const usage = `usage: workflow [flags]

Takes runs of four steps to their end, by worker processes that lock runs and steps
by leases and write results under fencing tokens. Without -faults it tells a story:
two workers, one run, and a pause at a bad moment.

  workflow                           the story: the late write is refused
  workflow -fencing=false            the same without fencing: it is taken
  workflow -faults 20 -seed 7        20 faults at random, on 3 workers and 4 runs
  workflow -leases redis://127.0.0.1:6379 -data sqlite:/tmp/flow.db -ttl 500ms

The exit code is 0 if every run was finished and no stale result landed, 1 if not,
and 2 if the arguments make no sense.

An address is one of:
` + addresses + `

flags:
`

// errUsage is returned when the arguments make no sense; what is wrong with them has
// been printed.
var errUsage = errors.New("bad arguments")

func main() {
	if workerMain() {
		return
	}
	err := run(os.Stdout, os.Stderr, os.Args[1:])
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "workflow:", err)
		os.Exit(1)
	}
}

func run(w, wErr io.Writer, args []string) error {
	flags := flag.NewFlagSet("workflow", flag.ContinueOnError)
	flags.SetOutput(wErr)
	flags.Usage = func() {
		fmt.Fprint(wErr, usage)
		flags.PrintDefaults()
	}
	leases := flags.String("leases", "memory", "`address` of the store of leases")
	data := flags.String("data", "", "`address` of the store of data (default a SQLite database that is removed afterwards)")
	ttl := flags.Duration("ttl", 0, "how long a lease lasts (default 30s if the leases are in memory, where time is moved, else 1s)")
	fencing := flags.Bool("fencing", true, "let the data store refuse stale tokens")
	faults := flags.Int("faults", 0, "how many `times` to kill, pause or double a worker")
	seed := flags.Uint64("seed", 0, "of the faults (default random)")
	workers := flags.Int("workers", 3, "how many workers there are at first, with -faults")
	runs := flags.Int("runs", 4, "how many runs there are, with -faults")
	limit := flags.Duration("limit", time.Minute, "how long all may take")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return errUsage
	}
	if *ttl == 0 {
		*ttl = time.Second
		if *leases == "memory" {
			*ttl = 30 * time.Second
		}
	}
	for _, bad := range []struct {
		is  bool
		say string
	}{
		{flags.NArg() > 0, fmt.Sprintf("there are no arguments but flags, got %q", flags.Args())},
		{*ttl < 100*time.Millisecond, fmt.Sprintf("-ttl %v: want at least 100ms", *ttl)},
		{*faults < 0 || *faults > 1000, fmt.Sprintf("-faults %d: want 0 to 1000", *faults)},
		{*workers < 1 || *workers > 20, fmt.Sprintf("-workers %d: want 1 to 20", *workers)},
		{*runs < 1 || *runs > 100, fmt.Sprintf("-runs %d: want 1 to 100", *runs)},
		{*limit <= 0, fmt.Sprintf("-limit %v: want more than 0", *limit)},
	} {
		if bad.is {
			fmt.Fprintf(wErr, "workflow: %s; workflow -help says more\n", bad.say)
			return errUsage
		}
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	if *data == "" {
		dir, err := os.MkdirTemp("", "workflow-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		*data = "sqlite:" + filepath.Join(dir, "data.db")
	}
	s := settings{Leases: *leases, Data: *data, TTL: *ttl, Fencing: *fencing,
		Namespace: fmt.Sprintf("workflow-%x", rand.Uint64())}
	ctx, cancel := context.WithTimeoutCause(context.Background(), *limit, fmt.Errorf("the limit of %v is over", *limit))
	defer cancel()
	if *faults == 0 {
		return tell(ctx, w, s)
	}
	return harass(ctx, w, s, newCampaign(*seed, *faults), *seed, *workers, *runs)
}

// tell runs the story.
func tell(ctx context.Context, w io.Writer, s settings) error {
	s.Runs = []string{"order-1"}
	f, err := openFloor(ctx, s, &story{w: w})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Two workers and a run of four steps. %s.\n\n", s.pairing())
	for _, name := range []string{"w1", "w2"} {
		if err := f.start(name, f.Runs); err != nil {
			f.clear()
			return err
		}
	}
	if err := f.run(ctx); err != nil {
		return err
	}
	return f.report(ctx, w)
}

// harass runs a campaign.
func harass(ctx context.Context, w io.Writer, s settings, c *campaign, seed uint64, workers, runs int) error {
	for i := range runs {
		s.Runs = append(s.Runs, fmt.Sprintf("order-%d", i+1))
	}
	f, err := openFloor(ctx, s, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d workers, %d runs, %d faults, seed %d. %s.\n", workers, runs, c.left, seed, s.pairing())
	for i := range workers {
		// Each begins with another run.
		from := i % runs
		order := append(append([]string{}, f.Runs[from:]...), f.Runs[:from]...)
		if err := f.start(fmt.Sprintf("w%d", i+1), order); err != nil {
			f.clear()
			return err
		}
	}
	if err := f.run(ctx); err != nil {
		return err
	}
	fmt.Fprintf(w, "processes: %d, of which killed: %d, beside another of the same name: %d; pauses: %d; attempts: %d\n",
		c.counts[started], c.counts[killed], c.counts[started]-workers-c.counts[killed], c.counts[paused], f.tally.begun)
	return f.report(ctx, w)
}

// pairing says what the stores are, without the passwords that addresses may have.
func (s settings) pairing() string {
	leases, _, _ := strings.Cut(s.Leases, ":")
	data, _, _ := strings.Cut(s.Data, ":")
	fencing := "on"
	if !s.Fencing {
		fencing = "off"
	}
	return fmt.Sprintf("Leases in %s, data in %s, fencing %s", leases, data, fencing)
}

// report tells how it ended, and returns what is wrong with that.
func (f *floor) report(ctx context.Context, w io.Writer) error {
	data, err := openData(ctx, f.Data, f.Namespace)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "\nBy whom, and under which token:")
	for _, run := range f.Runs {
		j, err := load(ctx, data, run)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, "  "+j.summary(run))
	}
	fmt.Fprintf(w, "\nstale results refused: %d, landed: %d; steps done by more than one attempt: %d\n",
		len(f.tally.refused), len(f.tally.stale), f.tally.redone())
	return f.audit(ctx)
}
