package chaos_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/chaos"
	"github.com/leasekit/lease/internal/tinystore"
)

// mutant is a store that is right until something goes wrong around it.
type mutant struct {
	name   string
	clause string // that it breaks
	faults string // which bring it out

	// also is what it may be found by as well, or "": two effects that nobody saw can
	// look like a lie of another kind.
	also  string
	flaws tinystore.Flaws
}

const (
	lossy = "link/lose-reply link/cut-reply link/cut-request link/reset"
	slow  = "link/black-hole link/deaf link/half-open"
	crash = "process/kill"
)

var mutants = []mutant{
	{"an acquire is sent again by the client itself", "ERR-2", lossy, "ERR-3 ERR-4 RELEASE-2", tinystore.Flaws{Resend: 40 * time.Millisecond}},
	{"a failed acquire is queued and sent once more", "ERR-2", lossy, "ERR-3 ERR-4 RELEASE-2", tinystore.Flaws{QueueAcquire: 4 * time.Millisecond}},
	{"a release is replayed, and ends whatever its holder has", "RELEASE-2", lossy, "ERR-2 ERR-3 ERR-4", tinystore.Flaws{ReplayRelease: 4 * time.Millisecond}},
	{"a cancelled acquire is undone after the commit", "ERR-2", slow, "ERR-3 ERR-4 RELEASE-2", tinystore.Flaws{UndoCancelled: true}},
	{"a failed acquire counts as refused", "ERR-4", lossy, "ERR-2", tinystore.Flaws{FailedIsHeld: true}},
	{"a failed renewal counts as lost", "ERR-4", lossy, "RENEW-7", tinystore.Flaws{FailedIsLost: true}},
	{"a failed get counts as a free key", "ERR-4", lossy, "", tinystore.Flaws{FailedIsFree: true}},
	{"a failed release counts as done", "ERR-4", lossy, "", tinystore.Flaws{FailedIsDone: true}},
	{"an acquire is refused by its own lease", "ERR-3", lossy, "", tinystore.Flaws{AnnouncesFresh: true, RefusesFresh: true}},
	{"an acquire that is repeated gets a second token", "ERR-3", lossy, "ERR-2", tinystore.Flaws{AnnouncesFresh: true, NewTokenForFresh: true}},
	{"a renewal must name the expiry of the last", "RENEW-7", lossy, "ERR-4", tinystore.Flaws{RenewsByExpiry: true}},
	{"a counter is on disk after the next call", "TOKEN-10", crash, "", tinystore.Flaws{CounterLate: true}},
	{"a grant is on disk after the next call", "TOKEN-10", crash, "", tinystore.Flaws{GrantLate: true}},
	{"a counter is on disk every tenth time", "TOKEN-10", crash, "", tinystore.Flaws{CounterInMemory: true}},
	{"a crash frees all leases", "TOKEN-10", crash, "", tinystore.Flaws{FreesOnCrash: true}},
	{"an acquire fails once the server has forgotten its script", "ERR-5", "store/forget", "", tinystore.Flaws{ForgetsScript: "acquire"}},
	{"a renewal fails once the server has forgotten its script", "ERR-5", "store/forget", "", tinystore.Flaws{ForgetsScript: "renew"}},
	{"a release fails once the server has forgotten its script", "ERR-5", "store/forget", "", tinystore.Flaws{ForgetsScript: "release"}},
	{"a broken connection is never replaced", "ERR-5", lossy, "", tinystore.Flaws{NeverRedials: true}},
	{"a broken connection is not closed", "ERR-6", slow, "", tinystore.Flaws{KeepsBroken: true}},
	{"a failed call leaves a goroutine behind", "ERR-6", lossy, "", tinystore.Flaws{LeavesReader: true}},
	{"a call reads the reply to one that timed out", "ERR-8", slow, "ERR-4 ERR-2 TOKEN-2 TOKEN-7", tinystore.Flaws{SharesReplies: true}},
	{"a lease that ends far ahead counts as over", "EXPIRY-7", "clock/back", "", tinystore.Flaws{DoubtsFarEnds: true}},
}

// mutantCampaign is one with the faults that bring a mutant out.
func mutantCampaign(t *testing.T, faults string) chaos.Campaign {
	return chaos.Campaign{
		Seed: *seed, Calls: 600, Only: strings.Fields(faults), StoreEvery: 15,
		Timeout: 80 * time.Millisecond, Recovery: time.Second, Dir: t.TempDir(),
	}
}

// The right store passes the campaigns that the mutants are tried with.
func TestRightStore(t *testing.T) {
	tried := map[string]bool{}
	for _, m := range mutants {
		if !tried[m.faults] {
			tried[m.faults] = true
			t.Run(m.faults, func(t *testing.T) {
				t.Parallel()
				c := mutantCampaign(t, m.faults)
				c.Recovery = 0 // a busy machine needs its time
				chaos.Run(t, tiny(t, tinystore.Flaws{}), c)
			})
		}
	}
}

// Each mutant is failed by its clause, and by no other that it keeps, with the faults that bring
// it out and with few seeds.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const most = 20 // seeds
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			c := mutantCampaign(t, m.faults)
			var seen []string
			for ; c.Seed < *seed+most; c.Seed++ {
				r := check(t, m.flaws, c)
				for _, v := range r.Violations {
					// EXCL-5 takes the keys of which more than one lie was told.
					may := append(strings.Fields(m.also), m.clause, "EXCL-5")
					if !slices.ContainsFunc(append(v.Or, v.Clause), func(clause string) bool { return slices.Contains(may, clause) }) {
						t.Errorf("seed %d: failed by %s, which it keeps: %v", c.Seed, v.Clause, r)
					}
				}
				seen = append(seen, r.Broken()...)
				if slices.Contains(seen, m.clause) {
					t.Logf("failed by %s with seed %d", m.clause, c.Seed)
					return
				}
			}
			t.Errorf("not failed by %s with %d seeds, but by %q", m.clause, most, seen)
		})
	}
}

func check(t *testing.T, flaws tinystore.Flaws, c chaos.Campaign) *chaos.Report {
	t.Helper()
	r, err := chaos.Check(context.Background(), tiny(t, flaws), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
