package leasetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/internal/cage"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/fencezoo"
)

// resource returns the broken resource of a name.
func resource(t *testing.T, name string) fencezoo.Resource {
	t.Helper()
	for _, r := range fencezoo.Broken() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("the zoo has no %q", name)
	return fencezoo.Resource{}
}

// checkFence runs the suite with a harness that change has altered.
func checkFence(t *testing.T, open func(testing.TB) *leasetest.FenceHarness, change func(*leasetest.FenceHarness)) *leasetest.Report {
	t.Helper()
	report, err := leasetest.CheckFence(context.Background(), func(t testing.TB) *leasetest.FenceHarness {
		h := open(t)
		if h != nil {
			change(h)
		}
		return h
	}, &leasetest.Options{Limit: time.Second, Cases: 20, Strict: true, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestFenceFailureText wants a failure that a person can read without knowing the
// suite.
func TestFenceFailureText(t *testing.T) {
	r := judgedFence(t, resource(t, "tokens-as-text"), 1)
	c := verdict(t, r, "FENCE-1")
	if c.Failure == nil {
		t.Fatalf("FENCE-1: got %s, want fail", c.Verdict)
	}
	text := c.Failure.Problem + "\n" + leasetest.HistoryText(c.Failure)
	for _, want := range []string{"Write(", ", 10, ", ", 9, ", "nil", "contract: ErrStale: 10 was seen"} {
		if !strings.Contains(text, want) {
			t.Errorf("the failure has no %q:\n%s", want, text)
		}
	}
	if len(c.Failure.History) != 2 {
		t.Errorf("the history has %d lines, want the two writes:\n%s", len(c.Failure.History), text)
	}
}

// TestFenceDeclarations wants a declared deviation reported as one, the clauses
// beside it examined, and what is declared and not so refused.
func TestFenceDeclarations(t *testing.T) {
	t.Run("shows", func(t *testing.T) {
		r := checkFence(t, resource(t, "equal-refused").OpenFence, func(h *leasetest.FenceHarness) {
			h.Deviations = map[string]string{"FENCE-2": "one write for each grant"}
		})
		if c := verdict(t, r, "FENCE-2"); c.Verdict != leasetest.Deviation || c.Failure == nil || c.Reason != "one write for each grant" {
			t.Errorf("FENCE-2: got %s (%s), want a deviation with its reason and evidence", c.Verdict, c.Reason)
		}
		for _, id := range []string{"FENCE-1", "FENCE-4", "FENCE-5"} {
			if c := verdict(t, r, id); c.Verdict != leasetest.Pass {
				t.Errorf("%s: got %s (%s), want pass", id, c.Verdict, c.Reason)
			}
		}
	})
	t.Run("does not hide others", func(t *testing.T) {
		r := checkFence(t, resource(t, "token-0-accepted").OpenFence, func(h *leasetest.FenceHarness) {
			h.Deviations = map[string]string{"FENCE-5": "0 is who has no lease"}
			connect := h.Connect
			h.Connect = func(t testing.TB) fence.Resource { return deaf{connect(t)} }
		})
		if c := verdict(t, r, "FENCE-1"); c.Verdict != leasetest.Fail {
			t.Errorf("FENCE-1: got %s (%s), want fail", c.Verdict, c.Reason)
		}
	})
	for name, c := range map[string]struct {
		change func(h *leasetest.FenceHarness)
		id     string
		want   string
	}{
		"a deviation that does not show": {func(h *leasetest.FenceHarness) { h.Deviations = map[string]string{"FENCE-4": "no disk"} }, "FENCE-4", "remove the entry"},
		"unchecked, but checked":         {func(h *leasetest.FenceHarness) { h.Unchecked = map[string]string{"FENCE-3": "one client"} }, "FENCE-3", "remove the entry"},
		"an unknown clause":              {func(h *leasetest.FenceHarness) { h.Deviations = map[string]string{"FENCE-9": "no"} }, "FENCE-1", "does not exist"},
		"no Connect":                     {func(h *leasetest.FenceHarness) { h.Connect = nil }, "FENCE-1", "Connect is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkFence(t, fencezoo.Base().OpenFence, c.change)
			if res := verdict(t, r, c.id); !r.Failed() || res.Verdict != leasetest.Error || !strings.Contains(res.Reason, c.want) {
				t.Errorf("%s: got %s (%s), want an error that contains %q", c.id, res.Verdict, res.Reason, c.want)
			}
		})
	}
	t.Run("a nil harness", func(t *testing.T) {
		r := checkFence(t, func(testing.TB) *leasetest.FenceHarness { return nil }, func(*leasetest.FenceHarness) {})
		if c := verdict(t, r, "FENCE-1"); c.Verdict != leasetest.Error || !strings.Contains(c.Reason, "nil *FenceHarness") {
			t.Errorf("FENCE-1: got %s (%s), want an error that says so", c.Verdict, c.Reason)
		}
	})
	t.Run("no Restart", func(t *testing.T) {
		for _, permitted := range []bool{false, true} {
			r := checkFence(t, fencezoo.Base().OpenFence, func(h *leasetest.FenceHarness) {
				h.Restart = nil
				if permitted {
					h.Unchecked = map[string]string{"FENCE-4": "it can't be restarted"}
				}
			})
			if c := verdict(t, r, "FENCE-4"); c.Verdict != leasetest.NotChecked || r.Failed() == permitted {
				t.Errorf("permitted %v: FENCE-4: %s (%s); failed: %v", permitted, c.Verdict, c.Reason, r.Failed())
			}
		}
	})
}

// deaf says that every valid write was accepted.
type deaf struct{ fence.Resource }

func (d deaf) Write(ctx context.Context, key string, token int64, value string) error {
	if err := d.Resource.Write(ctx, key, token, value); !errors.Is(err, fence.ErrStale) {
		return err
	}
	return nil
}

func TestCheckFenceErrors(t *testing.T) {
	if _, err := leasetest.CheckFence(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), "open is nil") {
		t.Errorf("CheckFence without open: got %v, want an error that says so", err)
	}
	if _, err := leasetest.CheckFence(context.Background(), fencezoo.Base().OpenFence, &leasetest.Options{Cases: -1}); err == nil || !strings.Contains(err.Error(), "CheckFence") {
		t.Errorf("CheckFence of -1 cases: got %v, want an error that says so", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := leasetest.CheckFence(ctx, fencezoo.Base().OpenFence, nil)
	if !errors.Is(err, context.Canceled) || r == nil || !r.Failed() || r.Totals[leasetest.Pass] > 0 {
		t.Errorf("CheckFence with a done context: got %v, %v, want its error and a report in which nothing passed", r, err)
	}
}

// TestUnderFenceDeath runs the suite on a resource that ends its process; it is a
// test of its own only in the child process that TestFenceDeadly makes.
func TestUnderFenceDeath(t *testing.T) {
	if os.Getenv(underDeath) == "" {
		return
	}
	leasetest.RunFence(t, func(t testing.TB) *leasetest.FenceHarness {
		h := fencezoo.Base().OpenFence(t)
		h.Restart = func(testing.TB) { os.Exit(3) }
		return h
	})
}

// TestFenceDeadly wants a verdict on a resource that takes the process down.
func TestFenceDeadly(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(exe, "-test.run=^TestUnderFenceDeath$", "-test.count=1", "-lease.isolate", "-lease.report="+dir)
	cmd.Env = append(os.Environ(), underDeath+"=1")
	if err := cage.Run(t.Context(), cmd, cage.Limits{Time: time.Minute}); err == nil {
		t.Error("the run passed, want it failed")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d reports (%v), want one", len(files), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var r leasetest.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if failed := with(&r, leasetest.Fail); !slices.Equal(failed, []string{"FENCE-2"}) || len(r.Clauses) != 5 {
		t.Errorf("%s: failed %v, want the five of FENCE, and FENCE-2 failed", r.Summary(), failed)
	}
	if c := verdict(t, &r, "FENCE-2"); c.Failure == nil || !strings.Contains(c.Failure.Problem, "exit status 3") {
		t.Errorf("FENCE-2: %+v, want what ended the process", c.Failure)
	}
}
