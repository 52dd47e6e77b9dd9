package leasetest_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/fencezoo"
)

// judgedFence runs the suite on a resource of the zoo.
func judgedFence(t *testing.T, r fencezoo.Resource, seed uint64) *leasetest.Report {
	t.Helper()
	report, err := leasetest.CheckFence(context.Background(), r.OpenFence, &leasetest.Options{
		Name: r.Name, Seed: seed, Cases: 50, Dir: t.TempDir(), Limit: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestFenceZoo wants every broken resource failed by the clauses that it breaks,
// and by no others. With -v it prints who was caught by what.
func TestFenceZoo(t *testing.T) {
	for i := range *zooSeeds {
		seed := *zooSeed + uint64(i)
		var kills []kill
		var mu sync.Mutex
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			for _, r := range someOf(fencezoo.Broken(), seed) {
				t.Run(r.Name, func(t *testing.T) {
					t.Parallel()
					k := caught(t, r.Animal, judgedFence(t, r, seed))
					mu.Lock()
					defer mu.Unlock()
					kills = append(kills, k)
				})
			}
		})
		t.Logf("seed %d\n%s", seed, killTable(kills))
		if seed == 1 && !t.Failed() && !sampling() {
			checkKills(t, "fence", killRows(kills))
		}
	}
}

// TestFenceOdd wants the base and every odd but correct resource to pass all that
// can be checked.
func TestFenceOdd(t *testing.T) {
	for _, r := range append(fencezoo.Odd(), fencezoo.Base()) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			report := judgedFence(t, r, 0)
			for _, problem := range alarms(report, r.Unseen) {
				t.Error(problem)
			}
			if want := len(report.Clauses) - len(r.Unseen); len(report.Clauses) != 5 || report.Totals[leasetest.Pass] != want {
				t.Errorf("%s: want %d of the 5 clauses of FENCE passed", report.Summary(), want)
			}
		})
	}
}

// TestFenceHostile wants a verdict on resources that play by no rule.
func TestFenceHostile(t *testing.T) {
	for _, r := range fencezoo.Hostile() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			report, err := leasetest.CheckFence(context.Background(), r.OpenFence, &leasetest.Options{
				Name: r.Name, Cases: 20, Dir: t.TempDir(), Limit: 50 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !report.Failed() || !slices.Contains(with(report, leasetest.Fail, leasetest.Inconclusive, leasetest.Error), r.Clause) {
				c, _ := report.Result(r.Clause)
				t.Errorf("%s; %s: %s (%s)", report.Summary(), r.Clause, c.Verdict, c.Reason)
			}
		})
	}
}
