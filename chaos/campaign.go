package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Campaign is how a store is tried. Zero fields mean the defaults.
type Campaign struct {
	// Seed draws the schedule and the calls. The same seed gives the same
	// schedule.
	Seed uint64

	// Workers is how many make calls at once, each over a link of its own.
	// Default 4.
	Workers int

	// Calls is how many they make in all. Default 1000.
	Calls int

	// Limit ends a campaign that takes longer. Default 1 minute.
	Limit time.Duration

	// Timeout bounds each call while there are faults. Default 150 ms.
	Timeout time.Duration

	// Recovery is how soon after healing every worker must have a definite
	// reply again, and an expired key be granted. A machine that has other things
	// to do needs time for it. Default 30 s.
	Recovery time.Duration

	// StoreEvery is after how many calls, about, the store itself has a fault.
	// Default 100.
	StoreEvery int

	// Only are the names of the faults to use. Nil: all that are available.
	Only []string

	// Dir is where the histories of a failed campaign are kept. Default: a new
	// temporary folder.
	Dir string
}

func (c Campaign) withDefaults() Campaign {
	c.Workers = cmp.Or(c.Workers, 4)
	c.Calls = cmp.Or(c.Calls, 1000)
	c.Limit = cmp.Or(c.Limit, time.Minute)
	c.Timeout = cmp.Or(c.Timeout, 150*time.Millisecond)
	c.Recovery = cmp.Or(c.Recovery, 30*time.Second)
	c.StoreEvery = cmp.Or(c.StoreEvery, 100)
	return c
}

// Run runs a campaign as a test: it fails t if the store broke a clause that it
// does not declare as a deviation, if no fault hit anything, or if a fault
// could not be healed.
func Run(t testing.TB, target Target, c Campaign) *Report {
	t.Helper()
	r, err := Check(context.Background(), target, c)
	if err != nil {
		t.Fatalf("campaign on %s with seed %d: %v", target.Name, c.Seed, err)
	}
	if r.Verdict == Pass {
		t.Log(r.String())
	} else {
		t.Error(r.String())
	}
	return r
}

// Check runs a campaign and returns its report. The error is of the campaign
// itself: a fault that could not be started or healed, a client that could not
// be made.
func Check(ctx context.Context, target Target, c Campaign) (*Report, error) {
	c = c.withDefaults()
	if c.Workers < 1 || c.Calls < c.Workers {
		return nil, fmt.Errorf("a campaign of %d calls by %d workers: want a call for each at least", c.Calls, c.Workers)
	}
	began := time.Now()
	goroutines := newLeash()
	r, err := newRun(target, c, goroutines)
	if err != nil {
		return nil, err
	}
	err = r.do(ctx)
	leaks := r.close()
	if err != nil {
		return nil, err
	}
	saved := r.saved()
	report := saved.judge(c.Dir)
	for _, v := range leaks {
		report.add(v, saved.Declared)
	}
	for _, v := range r.violations {
		report.add(v, saved.Declared)
	}
	report.NotAvailable = r.missing
	report.Took = time.Since(began)
	report.finish()
	return report, nil
}

// errOver ends a campaign that takes too long.
var errOver = errors.New("the campaign's limit is over")
