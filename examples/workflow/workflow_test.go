package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/leasetest"
)

// The workers are processes of the test binary.
func TestMain(m *testing.M) {
	if !workerMain() {
		os.Exit(m.Run())
	}
}

// runs the command, and returns what it prints.
func command(args ...string) (string, error) {
	var out strings.Builder
	err := run(&out, io.Discard, args)
	return out.String(), err
}

// figure is the number that follows a word of the report.
func figure(t *testing.T, out, word string) int {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(word) + `: (\d+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("the report has no figure for %q:\n%s", word, out)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStory(t *testing.T) {
	out, err := command()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	place := 0
	for _, want := range []string{"PAUSED in the middle of charge", "token 2, and claims it", "finished", "WAKES UP", "REFUSED: token 1, where the data store has seen 2", "finds every run finished"} {
		at := strings.Index(out[place:], want)
		if at < 0 {
			t.Fatalf("%q does not come in its place:\n%s", want, out)
		}
		place += at
	}
	if figure(t, out, "refused") != 1 || figure(t, out, "landed") != 0 {
		t.Errorf("want one stale result refused and none landed:\n%s", out)
	}
}

// Without fencing the late write replaces what the newer attempt wrote.
func TestStoryWithoutFencing(t *testing.T) {
	out, err := command("-fencing=false")
	if err == nil || !strings.Contains(err.Error(), "the result of charge under token 1 landed, after a newer attempt had begun") {
		t.Errorf("got %v, want an error that names the stale result\n%s", err, out)
	}
	if figure(t, out, "landed") != 1 || figure(t, out, "refused") != 0 {
		t.Errorf("want one stale result landed and none refused:\n%s", out)
	}
}

// TestCampaign kills, pauses and doubles workers. With fencing each worker that wakes
// too late is refused, and every run is finished as one would wish; without, stale
// results land.
func TestCampaign(t *testing.T) {
	for _, data := range []string{"memory", "sqlite"} {
		for _, fencing := range []bool{true, false} {
			t.Run(fmt.Sprintf("data=%s,fencing=%v", data, fencing), func(t *testing.T) {
				t.Parallel()
				args := []string{"-faults=12", "-fencing=" + strconv.FormatBool(fencing), "-data=" + data}
				if data == "sqlite" {
					args[2] = "-data=sqlite:" + filepath.Join(t.TempDir(), "data.db")
				}
				out, err := command(args...)
				late, refused, landed := figure(t, out, "pauses"), figure(t, out, "refused"), figure(t, out, "landed")
				// When the clock is moved, more leases end than that of the worker that
				// is paused, so others may be late too.
				switch {
				case fencing && (err != nil || refused < late || landed != 0):
					t.Errorf("got %v, want no error, and each of at least %d late results refused\n%s", err, late, out)
				case !fencing && (refused != 0 || late > 0 && (landed == 0 || err == nil)):
					t.Errorf("got %v, want an error that tells of late results that landed\n%s", err, out)
				}
			})
		}
	}
}

// Leases that are not in memory end with time.
func TestCampaignOnSQLite(t *testing.T) {
	file := "sqlite:" + filepath.Join(t.TempDir(), "both.db")
	out, err := command("-faults=4", "-ttl=300ms", "-leases="+file, "-data="+file)
	if err != nil || figure(t, out, "landed") != 0 {
		t.Errorf("got %v, want no error and no stale result landed\n%s", err, out)
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-ttl=1ms"}, {"-faults=-1"}, {"-workers=0"}, {"-runs=1000"}, {"-nonsense"}, {"story"}, {"-limit=0s"}} {
		var says strings.Builder
		if err := run(io.Discard, &says, args); err != errUsage || says.Len() == 0 {
			t.Errorf("%v: got %v and %q, want what is wrong", args, err, says.String())
		}
	}
	if _, err := command("-data=floppy:a"); err == nil || !strings.Contains(err.Error(), "sqlite:FILE") {
		t.Errorf("got %v, want an error that lists the kinds of addresses", err)
	}
}

// What the workers share is itself held to the contract.
func TestHubConformance(t *testing.T) {
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
		h := testHub(t)
		return &leasetest.Harness{
			Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
				if w.Namespace != "" {
					t.Skip("a hub has one namespace")
				}
				return testClient(t, h)
			},
			Clock:      &leasetest.Clock{Now: h.now, Move: h.advance},
			Resolution: memlease.Resolution,
		}
	})
}

func TestHubFenceConformance(t *testing.T) {
	leasetest.RunFence(t, func(t testing.TB) *leasetest.FenceHarness {
		h := testHub(t)
		return &leasetest.FenceHarness{
			Connect:   func(t testing.TB) fence.Resource { return testClient(t, h) },
			Unchecked: map[string]string{"FENCE-4": "a hub ends with its process"},
		}
	})
}

func testHub(t testing.TB) *hub {
	t.Helper()
	h, err := startHub()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func testClient(t testing.TB, h *hub) *hubClient {
	t.Helper()
	c, err := dialHub(h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.rpc.Close() })
	return c
}
