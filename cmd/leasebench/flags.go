package main

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/leasekit/lease/cmd/internal/bench"
	"github.com/leasekit/lease/cmd/internal/target"
)

// options are the flags and arguments of a run.
type options struct {
	runID      string
	workloads  string
	workers    int
	rate       float64
	rateSet    bool
	warmup     time.Duration
	duration   time.Duration
	count      int64
	ttl        time.Duration
	takeover   time.Duration
	poll       time.Duration
	keys       int
	peers      bool
	background bool
	yes        bool
	out        output
	dsns       []string
}

// Without a DSN what needs no server is measured, within a few seconds.
var defaultDSNs = []string{"memory:", "embedded:redis", "embedded:sqlite"}

const (
	defaultDuration = time.Second
	// quickDuration is -duration without a DSN.
	quickDuration = 120 * time.Millisecond
	// manyKeys is how many keys want a -yes.
	manyKeys = 1_000_000
	// mostWorkers keeps a slip of the finger from asking for a million connections.
	mostWorkers = 10_000
)

func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	// What is wrong is said once, by run.
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	return flags
}

func (o *options) register(flags *flag.FlagSet) {
	flags.StringVar(&o.workloads, "workload", "all", "")
	flags.IntVar(&o.workers, "workers", 1, "")
	flags.Float64Var(&o.rate, "rate", 0, "")
	flags.DurationVar(&o.duration, "duration", 0, "")
	flags.Int64Var(&o.count, "count", 0, "")
	flags.DurationVar(&o.warmup, "warmup", -1, "")
	flags.DurationVar(&o.ttl, "ttl", time.Minute, "")
	flags.DurationVar(&o.takeover, "takeover-ttl", 20*time.Millisecond, "")
	flags.DurationVar(&o.poll, "poll", 0, "")
	flags.IntVar(&o.keys, "keys", 10_000, "")
	flags.BoolVar(&o.peers, "peers", false, "")
	flags.BoolVar(&o.background, "background", false, "")
	flags.StringVar(&o.runID, "run-id", "", "")
	flags.BoolVar(&o.yes, "yes", false, "")
	o.out.register(flags)
}

// parse reads the command line.
func parse(args []string, stdout io.Writer) (*options, error) {
	o := &options{}
	flags := newFlags("leasebench")
	o.register(flags)
	if err := parseFlags(flags, args, stdout); err != nil {
		return nil, err
	}
	flags.Visit(func(f *flag.Flag) { o.rateSet = o.rateSet || f.Name == "rate" })
	o.dsns = flags.Args()
	if err := o.check(flags); err != nil {
		return nil, err
	}
	return o, nil
}

func parseFlags(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		if _, err := io.WriteString(stdout, help()); err != nil {
			return err
		}
		return flag.ErrHelp
	case err != nil:
		return usagef("%v; leasebench -help shows the flags", err)
	}
	for _, arg := range flags.Args() {
		if strings.HasPrefix(arg, "-") {
			return usagef("flags go before the other arguments: move %s", arg)
		}
	}
	return nil
}

// check says what is wrong with the flags, and fills in defaults.
func (o *options) check(flags *flag.FlagSet) error {
	set := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
	switch {
	case o.workers < 1 || o.workers > mostWorkers:
		return usagef("-workers is %d, want 1 to %d", o.workers, mostWorkers)
	case set["rate"] && !(o.rate > 0 && o.rate <= math.MaxInt32):
		return usagef("-rate is %v, want calls per second, more than 0; leave it away for a closed loop", o.rate)
	case set["duration"] && o.duration <= 0:
		return usagef("-duration is %v, want more than 0", o.duration)
	case set["count"] && o.count <= 0:
		return usagef("-count is %d, want more than 0", o.count)
	case set["count"] && set["duration"]:
		return usagef("-count and -duration exclude each other: give one of them")
	case set["warmup"] && o.warmup < 0:
		return usagef("-warmup is %v, want 0 or more", o.warmup)
	case o.ttl <= 0:
		return usagef("-ttl is %v, want more than 0", o.ttl)
	case o.takeover <= 0:
		return usagef("-takeover-ttl is %v, want more than 0", o.takeover)
	case o.poll < 0:
		return usagef("-poll is %v, want 0 or more", o.poll)
	case o.keys < 1:
		return usagef("-keys is %d, want 1 or more", o.keys)
	case o.keys > manyKeys && !o.yes:
		return usagef("-keys %d makes that many records on the server, and removes them at the end: add -yes if you mean it", o.keys)
	case strings.ContainsAny(o.runID, ", \t\r\n") || len(o.runID) > 64:
		return usagef("-run-id is %.70q, want up to 64 characters without commas and blanks", o.runID)
	}
	if o.runID == "" {
		o.runID = strings.ToLower(rand.Text()[:8])
	}
	if o.duration == 0 {
		o.duration = defaultDuration
		if len(o.dsns) == 0 {
			o.duration = quickDuration
		}
	}
	if o.warmup < 0 {
		o.warmup = min(o.duration/5, time.Second)
	}
	return o.out.check()
}

// config makes the configuration of the run. The targets are to be closed after it.
func (o *options) config() (_ *bench.Config, closeAll func() error, err error) {
	workloads, err := findWorkloads(o.workloads)
	if err != nil {
		return nil, nil, err
	}
	dsns := o.dsns
	if len(dsns) == 0 {
		dsns = defaultDSNs
	}
	c := &bench.Config{
		RunID: o.runID, Workloads: workloads, Workers: o.workers, Rate: o.rate, Warmup: o.warmup, Duration: o.duration, Count: o.count,
		TTL: o.ttl, TakeoverTTL: o.takeover, Poll: o.poll, Keys: o.keys, Peers: o.peers, Background: o.background,
	}
	closeAll = func() error {
		var errs []error
		for _, t := range c.Targets {
			errs = append(errs, t.Close())
		}
		return errors.Join(errs...)
	}
	hasRedis := false
	for i, dsn := range dsns {
		t, err := target.Open(dsn)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("argument %d: %w", i+1, err), closeAll())
		}
		c.Targets = append(c.Targets, t)
		hasRedis = hasRedis || t.Kind.IsRedis()
	}
	if o.peers && !hasRedis {
		return nil, nil, errors.Join(usagef("-peers compares with lock libraries for Redis: add the DSN of a Redis, such as embedded:redis"), closeAll())
	}
	return c, closeAll, nil
}

// findWorkloads reads a list of names with commas between them, or "all".
func findWorkloads(names string) ([]*bench.Workload, error) {
	if names == "all" {
		return bench.Workloads, nil
	}
	var found []*bench.Workload
	for name := range strings.SplitSeq(names, ",") {
		w := bench.Find(strings.TrimSpace(name))
		if w == nil {
			var all []string
			for _, w := range bench.Workloads {
				all = append(all, w.Name)
			}
			return nil, usagef("the workload %.40q is unknown, want all, or some of %s", name, strings.Join(all, ","))
		}
		found = append(found, w)
	}
	return found, nil
}
