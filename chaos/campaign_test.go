package chaos_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	"github.com/leasekit/lease/internal/tinystore"
)

var (
	seed  = flag.Uint64("chaos.seed", 1, "the seed of the first campaign")
	seeds = flag.Int("chaos.seeds", 1, "how many seeds are tried")
)

// tiny is a store in this process, with the flaws of one mutant.
func tiny(t testing.TB, flaws tinystore.Flaws) chaos.Target {
	clock := &runningClock{}
	s, err := tinystore.Start(clock.Now, flaws)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Kill() })
	forgotten := 0
	return chaos.Target{
		Name: "tinystore",
		Connect: func(dial chaos.Dial) (lease.Service, func() error, error) {
			c := tinystore.Connect(s.Addr(), dial, flaws)
			return c, c.Close, nil
		},
		Clock: clock,
		Faults: append(chaos.ProcessKinds(s)[:2], chaos.Kind{
			Name: "store/forget", On: chaos.OnStore,
			Make: func(chaos.Scene, *rand.Rand) chaos.Fault {
				return &chaos.Store{
					Title: "store/forget",
					Begin: func(context.Context) error { forgotten = s.Forgotten(); s.Forget(); return nil },
					Count: func() int { return s.Forgotten() - forgotten },
				}
			},
		}),
	}
}

// A right store passes, whatever is done to it, and everything that can be done
// to it hits.
func TestCampaign(t *testing.T) {
	for n := range uint64(*seeds) {
		r := chaos.Run(t, tiny(t, tinystore.Flaws{}), chaos.Campaign{Seed: *seed + n, Calls: 2000, StoreEvery: 40})
		if r.Hit() < r.Injected()/4 {
			t.Errorf("%d of %d faults hit, want more", r.Hit(), r.Injected())
		}
		for _, k := range append(append(chaos.LinkKinds(), chaos.PartitionKind()), chaos.ClockKinds()...) {
			if r.Faults[k.Name].Hit == 0 {
				t.Errorf("%s hit nothing: %+v", k.Name, r.Faults[k.Name])
			}
		}
	}
}

// The same seed gives the same schedule, and another one another.
func TestScheduleBySeed(t *testing.T) {
	run := func(seed uint64) *chaos.Report {
		return chaos.Run(t, tiny(t, tinystore.Flaws{}), chaos.Campaign{Seed: seed, Calls: 200})
	}
	first, again, other := run(1), run(1), run(2)
	if !reflect.DeepEqual(first.Schedule, again.Schedule) {
		t.Errorf("one seed, two schedules:\n%v\n%v", first.Schedule, again.Schedule)
	}
	if reflect.DeepEqual(first.Schedule, other.Schedule) {
		t.Error("two seeds, one schedule")
	}
}

// A campaign in which nothing is hit shows nothing.
func TestCampaignThatHitsNothing(t *testing.T) {
	target := tiny(t, tinystore.Flaws{})
	target.Faults = []chaos.Kind{{Name: "store/nothing", On: chaos.OnStore, Make: func(chaos.Scene, *rand.Rand) chaos.Fault {
		return &chaos.Store{Title: "store/nothing", Begin: func(context.Context) error { return nil }, Count: func() int { return 0 }}
	}}}
	r, err := chaos.Check(context.Background(), target, chaos.Campaign{Calls: 400, Only: []string{"store/nothing"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != chaos.Inconclusive || r.Injected() == 0 {
		t.Errorf("got %s after %d faults, want inconclusive: %v", r.Verdict, r.Injected(), r)
	}
}

// A fault that can't be started or healed is the campaign's failure.
func TestCampaignWithFaultThatFails(t *testing.T) {
	target := tiny(t, tinystore.Flaws{})
	target.Faults = []chaos.Kind{{Name: "store/x", On: chaos.OnStore, Make: func(chaos.Scene, *rand.Rand) chaos.Fault {
		return &chaos.Store{
			Title: "store/x", Count: func() int { return 1 },
			Begin: func(context.Context) error { return nil },
			End:   func(context.Context) error { return context.Canceled },
		}
	}}}
	_, err := chaos.Check(context.Background(), target, chaos.Campaign{Calls: 400, Only: []string{"store/x"}})
	if err == nil || !strings.Contains(err.Error(), "heal store/x") {
		t.Errorf("got %v, want an error about healing", err)
	}
	if _, err := chaos.Check(context.Background(), target, chaos.Campaign{Only: []string{"store/y"}}); err == nil {
		t.Error("a fault that there is not can be asked for")
	}
}

// A saved campaign is judged again as it was.
func TestSavedCampaign(t *testing.T) {
	target := tiny(t, tinystore.Flaws{FailedIsHeld: true})
	dir := t.TempDir()
	r, err := chaos.Check(context.Background(), target, chaos.Campaign{Seed: *seed, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != chaos.Fail {
		t.Fatalf("got %s, want fail: %v", r.Verdict, r)
	}
	files, err := filepath.Glob(filepath.Join(dir, "campaign-*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is saved: %v, %v", files, err)
	}
	saved, err := chaos.Load(r.Violations[0].Files[0])
	if err != nil {
		t.Fatal(err)
	}
	again := saved.Judge(t.TempDir())
	if again.Verdict != r.Verdict || !reflect.DeepEqual(again.Broken(), r.Broken()) || len(again.Violations) != len(r.Violations) {
		t.Errorf("judged again: %s %v, want %s %v", again.Verdict, again.Broken(), r.Verdict, r.Broken())
	}
}

// Clauses that the target gives up are deviations, and do not fail it.
func TestDeclaredDeviation(t *testing.T) {
	target := tiny(t, tinystore.Flaws{FailedIsHeld: true})
	target.Deviations = map[string]string{"ERR-4": "it lies", "ERR-3": "it lies", "EXCL-5": "it lies", "ERR-2": "it lies"}
	r := chaos.Run(t, target, chaos.Campaign{Seed: *seed})
	if len(r.Deviations) == 0 {
		t.Errorf("no deviation is reported: %v", r)
	}
}

// runningClock is the machine's clock, moved.
type runningClock struct{ c shifted }

func (c *runningClock) Now() time.Time       { return c.c.now() }
func (c *runningClock) Move(d time.Duration) { c.c.move(d) }
func (c *runningClock) Freeze(on bool)       { c.c.freeze(on) }
