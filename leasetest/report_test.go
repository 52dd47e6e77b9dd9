package leasetest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// reportOf makes a report of a run in which the clauses have these verdicts.
func reportOf(strict bool, clauses ...Result) *Report {
	r := &Report{
		Version: ReportVersion, Backend: "TestStore/real", Started: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC),
		Seconds: 1.25, Seed: 7, Cases: 100, Strict: strict,
		Figures: Figures{Clock: "frozen", Resolution: "1ms"}, Clauses: clauses,
	}
	r.count()
	return r
}

func result(v Verdict) Result { return Result{ID: "EXCL-1", Level: Must, Verdict: v} }

func TestReportFailed(t *testing.T) {
	passed := result(Pass)
	should := result(Fail)
	should.Level = Should
	permitted := result(NotChecked)
	permitted.Permitted = true
	tests := []struct {
		name           string
		clauses        []Result
		failed, strict bool // whether it fails without strict and with it
	}{
		{"no clauses", nil, true, true},
		{"pass", []Result{passed}, false, false},
		{"fail", []Result{passed, result(Fail)}, true, true},
		{"fail of a SHOULD", []Result{passed, should}, false, false},
		{"deviation", []Result{passed, result(Deviation)}, false, false},
		{"only a deviation", []Result{result(Deviation)}, false, false},
		{"not checked", []Result{passed, result(NotChecked)}, false, true},
		{"not checked, permitted", []Result{passed, permitted}, false, false},
		{"nothing checked", []Result{result(NotChecked)}, true, true},
		{"nothing checked, permitted", []Result{permitted}, true, true},
		{"only a SHOULD, failed", []Result{should}, true, true},
		{"inconclusive", []Result{passed, result(Inconclusive)}, true, true},
		{"error", []Result{passed, result(Error)}, true, true},
		{"the last of many", []Result{passed, passed, permitted, result(Error)}, true, true},
	}
	for _, tt := range tests {
		for strict, want := range map[bool]bool{false: tt.failed, true: tt.strict} {
			if got := reportOf(strict, tt.clauses...).Failed(); got != want {
				t.Errorf("%s, strict %v: got failed %v, want %v", tt.name, strict, got, want)
			}
		}
	}
}

func TestReportSummary(t *testing.T) {
	r := reportOf(false, result(Pass), result(Fail), result(Pass), result(NotChecked))
	want := "TestStore/real: 2 pass, 1 fail, 0 deviation, 1 not checked, 0 inconclusive, 0 error (1.2 s, seed 7)"
	if got := r.Summary(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestReportResult(t *testing.T) {
	r := reportOf(false, Result{ID: "GET-1", Verdict: Pass}, Result{ID: "GET-2", Verdict: Fail})
	if got, ok := r.Result("GET-2"); !ok || got.Verdict != Fail {
		t.Errorf("GET-2: got %+v, %v, want the failed clause", got, ok)
	}
	if got, ok := r.Result("GET-3"); ok {
		t.Errorf("GET-3: got %+v, want nothing", got)
	}
}

func TestReportWrite(t *testing.T) {
	failed := result(Fail)
	failed.Failure = &Failure{
		Problem: "p", Found: "f", Repeat: "go test", Files: []string{"h.json"},
		History: []Event{{Time: "12:00", Worker: "A", Call: "Get", Reply: "ErrNotHeld", Want: "a lease"}},
	}
	r := reportOf(true, result(Pass), failed)
	dir := filepath.Join(t.TempDir(), "deep", "reports")
	first, err := r.write(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.write(dir)
	if err != nil {
		t.Fatal(err)
	}
	if first == second {
		t.Errorf("both reports went to %s, want a file for each", first)
	}
	for _, file := range []string{first, second} {
		base := filepath.Base(file)
		if filepath.Dir(file) != dir || !strings.HasPrefix(base, "TestStore_real-") || !strings.HasSuffix(base, ".json") {
			t.Errorf("got the file %s, want TestStore_real-….json in %s", file, dir)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got Report
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(&got, r) {
			t.Errorf("%s reads as %+v, %v, want %+v", base, got, err, r)
		}
	}
}

// TestReportCountsAllVerdicts looks at the JSON itself: who reads it must find
// a verdict that nothing has, too.
func TestReportCountsAllVerdicts(t *testing.T) {
	text, err := json.Marshal(reportOf(false, result(Pass), result(Pass), result(Error)))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Totals map[string]int }
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"pass": 2, "fail": 0, "deviation": 0, "not checked": 0, "inconclusive": 0, "error": 1,
	}
	if !reflect.DeepEqual(got.Totals, want) {
		t.Errorf("got %v, want %v", got.Totals, want)
	}
}

func TestReportWriteFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var wrong *fs.PathError
	if got, err := reportOf(false).write(filepath.Join(file, "reports")); !errors.As(err, &wrong) || got != "" {
		t.Errorf("a folder inside of a file: got %q, %v, want a *fs.PathError", got, err)
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"TestConformance":      "TestConformance",
		"TestStore/real_redis": "TestStore_real_redis",
		"Test-1.5":             "Test-1.5",
		"my backend: v2*":      "my_backend__v2_",
		"../etc":               ".._etc",
		"Größe":                "Gr__e",
		"":                     "",
	} {
		if got := fileName(name); got != want {
			t.Errorf("fileName(%q): got %q, want %q", name, got, want)
		}
	}
}
