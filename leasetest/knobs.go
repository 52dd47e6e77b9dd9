package leasetest

import (
	"flag"
	"strconv"
	"time"
)

// defaultCases is the number of random programs, and defaultWorkers that of
// workers in the concurrent checks.
const (
	defaultCases   = 100
	defaultWorkers = 8
)

var (
	reportDir = flag.String("lease.report", "", "write one JSON report per leasetest.Run into this `folder`")
	isolate   = flag.Bool("lease.isolate", false, "judge each backend in a child process, so that one which ends the process gets a verdict too")
	strict    = flag.Bool("lease.strict", false, "fail clauses that are not checked, unless Harness.Unchecked permits it")
)

// knobs are the settings of one run.
type knobs struct {
	seed    uint64
	cases   int
	workers int
	strict  bool
	isolate bool
	report  string
}

// flagKnobs reads the settings of a go test run. The seed and the number of
// cases are rapid's own flags, so that they mean the same in every property of
// a test binary; rapid's default number of cases is ours too.
func flagKnobs() knobs {
	k := knobs{cases: defaultCases, workers: defaultWorkers, strict: *strict, isolate: *isolate, report: *reportDir}
	if n, err := strconv.Atoi(flagValue("rapid.checks")); err == nil && n > 0 {
		k.cases = n
	}
	if n, err := strconv.ParseUint(flagValue("rapid.seed"), 10, 64); err == nil {
		k.seed = n
	}
	k.fill()
	return k
}

// fill draws a seed where none was given, and sets defaults.
func (k *knobs) fill() {
	if k.seed == 0 {
		k.seed = uint64(time.Now().UnixNano()) >> 1
	}
	if k.cases == 0 {
		k.cases = defaultCases
	}
	if k.workers == 0 {
		k.workers = defaultWorkers
	}
}

func flagValue(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}
