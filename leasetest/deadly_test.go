package leasetest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/internal/cage"
	"github.com/leasekit/lease/internal/race"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// underDeath marks the process in which TestUnderDeath runs and fails.
const underDeath = "ZOO_UNDER_DEATH"

// TestUnderDeath runs the suite on backends that take their process down, the
// way an author would: it fails, and is a test of its own only in the child
// process that TestDeadly makes.
func TestUnderDeath(t *testing.T) {
	if os.Getenv(underDeath) == "" {
		return
	}
	for _, a := range append(zoo.Deadly(), zoo.Base()) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			leasetest.Run(t, a.Open)
		})
	}
}

// TestDeadly wants a verdict on backends that take their process down, in one
// run that goes on.
func TestDeadly(t *testing.T) {
	t.Parallel()
	says := map[string]string{
		"panics-elsewhere":    "panic: in a goroutine of the backend",
		"exits":               "exit status 3",
		"exits-with-success":  "ended as if all were well",
		"grows-without-end":   "too much memory",
		"overflows-the-stack": "stack overflow",
		"unlocked-map":        "concurrent map",
		"unlocked-number":     "DATA RACE",
	}
	unharmed := []string{"base"} // the cage itself
	if race.Enabled {
		says["unlocked-map"] = "DATA RACE"
	} else {
		delete(says, "unlocked-number") // nobody can see it
		unharmed = append(unharmed, "unlocked-number")
	}
	reports := dead(t, "TestUnderDeath", "-lease.isolate")
	if len(reports) != len(zoo.Deadly())+1 {
		t.Fatalf("%d reports, want one for each of the %d backends", len(reports), len(zoo.Deadly())+1)
	}
	for _, report := range reports {
		name := strings.TrimPrefix(report.Backend, "TestUnderDeath/")
		r, _ := report.Result("ERR-7")
		want, dies := says[name]
		switch {
		case !dies && !slices.Contains(unharmed, name):
			t.Errorf("%s: nobody knows how it ends", name)
		case !dies && report.Failed():
			t.Errorf("%s: %s, want it passed", name, report.Summary())
		case dies && (!report.Failed() || r.Failure == nil || !strings.Contains(r.Failure.Problem, want)):
			t.Errorf("%s: ERR-7: %s (%s): %+v, want it failed with %q", name, r.Verdict, r.Reason, r.Failure, want)
		}
	}
}

// TestHelpersUnderDeath is the same for hold helpers, which need no flag for it.
func TestHelpersUnderDeath(t *testing.T) {
	if os.Getenv(underDeath) == "" {
		return
	}
	for _, a := range append(zoo.DeadlyHelpers(), zoo.BaseHelper()) {
		t.Run(a.Name, func(t *testing.T) { leasetest.RunHold(t, a.Hold) })
	}
}

func TestDeadlyHelpers(t *testing.T) {
	reports := dead(t, "TestHelpersUnderDeath")
	if len(reports) != len(zoo.DeadlyHelpers())+1 {
		t.Fatalf("%d reports, want one for each of the %d helpers", len(reports), len(zoo.DeadlyHelpers())+1)
	}
	for _, report := range reports {
		first := report.Clauses[0]
		switch name := strings.TrimPrefix(report.Backend, "TestHelpersUnderDeath/"); name {
		case "base-helper":
			if report.Failed() {
				t.Errorf("%s: %s, want it passed", name, report.Summary())
			}
		case "body-on-its-own":
			if failed := with(report, leasetest.Fail); !slices.Equal(failed, []string{"HOLD-7"}) {
				t.Errorf("%s: failed by %v, want HOLD-7 alone", name, failed)
			}
		case "exits-on-loss":
			if first.Verdict != leasetest.Inconclusive || !strings.Contains(first.Reason, "exit status 3") {
				t.Errorf("%s: got %s (%s), want inconclusive with the exit status", name, first.Verdict, first.Reason)
			}
		default:
			t.Errorf("%s: nobody knows how it ends", name)
		}
	}
}

// dead runs a test that is to fail in a child process, and returns the reports that
// it left.
func dead(t *testing.T, test string, flags ...string) []*leasetest.Report {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(exe, append(flags, "-test.run=^"+test+"$", "-test.count=1", "-rapid.checks=20", "-lease.report="+dir)...)
	cmd.Env = append(os.Environ(), underDeath+"=1")
	if err := cage.Run(t.Context(), cmd, cage.Limits{Time: 5 * time.Minute}); err == nil {
		t.Error("the run passed, want it failed")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var reports []*leasetest.Report
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var report leasetest.Report
		if err := json.Unmarshal(text, &report); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, &report)
	}
	return reports
}
