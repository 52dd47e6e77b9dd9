package leasetest_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease/internal/race"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

var (
	zooSeed  = flag.Uint64("zoo.seed", 1, "first `seed` of TestZoo")
	zooSeeds = flag.Int("zoo.seeds", 1, "number of `seeds` that TestZoo tries, one after the other")
)

// judged runs the suite on an animal of the zoo, with half of the random programs:
// there are many animals.
func judged(t *testing.T, a zoo.Animal, seed uint64) *leasetest.Report {
	t.Helper()
	report, err := leasetest.Check(context.Background(), a.Open, &leasetest.Options{
		Name: a.Name, Seed: seed, Cases: 50, Dir: t.TempDir(), Limit: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// with returns the ids of the clauses that have one of the verdicts.
func with(r *leasetest.Report, verdicts ...leasetest.Verdict) []string {
	var ids []string
	for _, c := range r.Clauses {
		for _, v := range verdicts {
			if c.Verdict == v {
				ids = append(ids, c.ID)
			}
		}
	}
	return ids
}

// TestZoo wants every broken backend failed by the clauses that it breaks, and by
// no others. EXCL-5, the catch-all for concurrent histories, may fail along. With
// -v it prints who was caught by what; what does not depend on chance is checked
// against KILLS.md.
func TestZoo(t *testing.T) {
	for i := range *zooSeeds {
		seed := *zooSeed + uint64(i)
		var kills []kill
		var mu sync.Mutex
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			for _, a := range someOf(zoo.Broken(), seed) {
				t.Run(a.Name, func(t *testing.T) {
					t.Parallel()
					k := hunt(t, a, seed)
					mu.Lock()
					defer mu.Unlock()
					kills = append(kills, k)
				})
			}
		})
		t.Logf("seed %d\n%s", seed, killTable(kills))
		if seed == 1 && !t.Failed() && !sampling() {
			checkKills(t, "backends", killRows(kills))
		}
	}
}

// sampling says whether a part of a zoo has to do. The race detector makes it
// eight times as slow, and looks at the suite rather than at the animals; make test
// runs the whole zoo without it.
func sampling() bool { return race.Enabled || testing.Short() }

// someOf are the animals to try: all, or if sampling every fifth, others with
// another seed.
func someOf[T any](animals []T, seed uint64) []T {
	if !sampling() {
		return animals
	}
	var some []T
	for i := int(seed % 5); i < len(animals); i += 5 {
		some = append(some, animals[i])
	}
	return some
}

// hunt judges one broken backend.
func hunt(t *testing.T, a zoo.Animal, seed uint64) kill {
	t.Helper()
	return caught(t, a, judged(t, a, seed))
}

// caught wants a broken animal failed by its clauses and by no others.
func caught(t *testing.T, a zoo.Animal, report *leasetest.Report) kill {
	t.Helper()
	k := kill{animal: a, seconds: report.Seconds}
	failed := with(report, leasetest.Fail)
	for _, id := range failed {
		c, _ := report.Result(id)
		switch {
		case id == a.Clause:
			k.found, k.calls = how(c.Failure), calls(c.Failure)
		case id == "EXCL-5":
			k.along = true
		case !slices.Contains(a.Along, id):
			t.Errorf("%s (%s) is failed by %s too: %s (%s; %s)\n%s", a.Name, a.Fault, id, c.Failure.Problem, c.Failure.Found, c.Failure.Repeat, leasetest.HistoryText(c.Failure))
		}
	}
	for _, id := range a.Clauses() {
		if !slices.Contains(failed, id) {
			c, _ := report.Result(id)
			t.Errorf("%s (%s) is not failed by %s: %s %s (seed %d)", a.Name, a.Fault, id, c.Verdict, c.Reason, report.Seed)
		}
	}
	for _, c := range report.Clauses {
		if c.Verdict == leasetest.Error {
			t.Errorf("%s: error: %s", c.ID, c.Reason)
		}
	}
	return k
}

// how is the kind of check that found a failure.
func how(f *leasetest.Failure) string {
	for _, kind := range []string{"example", "random programs"} {
		if strings.HasPrefix(f.Found, kind) {
			return kind
		}
	}
	return f.Found
}

// calls is the number of calls in the counterexample.
func calls(f *leasetest.Failure) int {
	n := 0
	for _, e := range f.History {
		if e.Worker != "" {
			n++
		}
	}
	return n
}

// TestOdd wants the base and every odd but correct backend to pass all that
// can be checked.
func TestOdd(t *testing.T) {
	for _, a := range append(zoo.Odd(), zoo.Base()) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, problem := range alarms(judged(t, a, 0), a.Unseen) {
				t.Error(problem)
			}
		})
	}
}

// alarms are the verdicts that a backend which keeps the contract must not get;
// the clauses in unseen have to be not checked.
func alarms(report *leasetest.Report, unseen []string) []string {
	var list []string
	for _, c := range report.Clauses {
		switch {
		case slices.Contains(unseen, c.ID):
			if c.Verdict != leasetest.NotChecked {
				list = append(list, fmt.Sprintf("%s: %s, though it can't be checked there (seed %d)", c.ID, c.Verdict, report.Seed))
			}
		case c.Verdict == leasetest.Pass, c.Verdict == leasetest.NotChecked && leasetest.Later(c.ID):
		case c.Failure != nil:
			list = append(list, fmt.Sprintf("%s: %s (%s, seed %d)\n%s", c.ID, c.Failure.Problem, c.Failure.Found, report.Seed, leasetest.HistoryText(c.Failure)))
		default:
			list = append(list, fmt.Sprintf("%s: %s: %s (seed %d)", c.ID, c.Verdict, c.Reason, report.Seed))
		}
	}
	return list
}
