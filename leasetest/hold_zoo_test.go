package leasetest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// judgedHold runs the suite on a hold helper of the zoo: with all of the random
// schedules, since virtual time makes them cheap.
func judgedHold(t *testing.T, a zoo.Animal, seed uint64) *leasetest.Report {
	t.Helper()
	report, err := leasetest.Helper{Hold: a.Hold}.Check(context.Background(), &leasetest.Options{
		Name: a.Name, Seed: seed, Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestHoldZoo wants every broken helper failed by the clauses that it breaks, and by
// no others. With -v it prints who was caught by what.
func TestHoldZoo(t *testing.T) {
	for i := range *zooSeeds {
		seed := *zooSeed + uint64(i)
		var kills []kill
		var mu sync.Mutex
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			for _, a := range someOf(zoo.BrokenHelpers(), seed) {
				t.Run(a.Name, func(t *testing.T) {
					t.Parallel()
					k := caught(t, a, judgedHold(t, a, seed))
					mu.Lock()
					defer mu.Unlock()
					kills = append(kills, k)
				})
			}
		})
		t.Logf("seed %d\n%s", seed, killTable(kills))
		if seed == 1 && !t.Failed() && !sampling() {
			checkKills(t, "hold", killRows(kills))
		}
	}
}

// TestHoldOdd wants the base and every odd but correct helper to pass.
func TestHoldOdd(t *testing.T) {
	for _, a := range append(zoo.OddHelpers(), zoo.BaseHelper()) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, problem := range alarms(judgedHold(t, a, 0), a.Unseen) {
				t.Error(problem)
			}
		})
	}
}
