package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// report makes a report of the clauses given, with its totals.
func report(backend string, clauses ...leasetest.Result) *leasetest.Report {
	r := &leasetest.Report{
		Version: leasetest.ReportVersion,
		Backend: backend,
		Seconds: 1.25,
		Totals:  map[leasetest.Verdict]int{},
		Clauses: clauses,
	}
	for _, c := range clauses {
		r.Totals[c.Verdict]++
	}
	return r
}

func clause(id string, v leasetest.Verdict, reason string) leasetest.Result {
	c := leasetest.Result{ID: id, Level: leasetest.Must, Verdict: v, Reason: reason}
	if v == leasetest.Fail {
		c.Reason = ""
		c.Failure = &leasetest.Failure{Problem: reason}
	}
	return c
}

// folder makes a folder with the reports, as a run of the suite leaves it.
func folder(t *testing.T, reports ...*leasetest.Report) string {
	t.Helper()
	dir := t.TempDir()
	for i, r := range reports {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, string(rune('a'+i))+".json", string(text))
	}
	put(t, dir, "test.log", "what go test printed\n")
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table runs the command and returns what it printed.
func table(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err := run(&out, &errOut, args)
	if errOut.Len() > 0 {
		t.Errorf("run(%q) printed on stderr: %s", args, errOut.String())
	}
	return out.String(), err
}

func TestTable(t *testing.T) {
	memory := folder(t, report("TestConformance",
		clause("EXCL-1", leasetest.Pass, ""),
		clause("TOKEN-2", leasetest.Pass, ""),
		clause("TOKEN-10", leasetest.NotChecked, "no Restart"),
		clause("HOLD-1", leasetest.NotChecked, "no check yet"),
		clause("HOLD-2", leasetest.NotChecked, "no check yet"),
		clause("HOLD-3", leasetest.NotChecked, "no check yet"),
	))
	redis := folder(t, report("TestConformance",
		clause("EXCL-1", leasetest.Pass, ""),
		clause("TOKEN-2", leasetest.Deviation, "one counter for all keys,\nand it wraps"),
		clause("TOKEN-10", leasetest.Pass, ""),
		clause("HOLD-1", leasetest.NotChecked, "no check yet"),
		clause("HOLD-2", leasetest.NotChecked, "no check yet"),
		clause("HOLD-3", leasetest.NotChecked, "no check yet"),
	))
	got, err := table(t, "-absent", "redis real=no server found", "memory="+memory, "redis in process="+redis)
	if err != nil {
		t.Errorf("got %v, want no error: nothing here is red", err)
	}
	want := `backend           result  pass  fail  deviation  not checked  inconclusive  error  seconds
memory            green      2     0          0            4             0      0      1.2
redis in process  green      2     0          1            3             0      0      1.2
redis real        no server found

redis in process:
  TOKEN-2  deviation  one counter for all keys, and it wraps

not checked:
  TOKEN-10 (memory): no Restart
  HOLD-1 to HOLD-3 (all): no check yet
` + legend
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestRed(t *testing.T) {
	should := clause("TOKEN-11", leasetest.Fail, "tokens went down")
	should.Level = leasetest.Should
	good := clause("EXCL-1", leasetest.Pass, "")
	newer := report("TestConformance", good)
	newer.Version++
	strict := report("TestConformance", good, clause("KEY-2", leasetest.NotChecked, "no namespaces"))
	strict.Strict = true
	allowed := report("TestConformance", good, clause("KEY-2", leasetest.NotChecked, "no namespaces"))
	allowed.Strict, allowed.Clauses[1].Permitted = true, true
	miscounted := report("TestConformance", good, good)
	miscounted.Totals[leasetest.Pass] = 1

	for _, c := range []struct {
		name   string
		report *leasetest.Report // nil: none is written
		red    bool
		says   string
	}{
		{"pass", report("T", good), false, "green"},
		{"failed SHOULD", report("T", good, should), false, "TOKEN-11  fail (a SHOULD: a warning)  tokens went down"},
		{"deviation", report("T", good, clause("GET-3", leasetest.Deviation, "it touches the key")), false, "GET-3  deviation  it touches the key"},
		{"fail", report("T", good, clause("EXCL-2", leasetest.Fail, "B's refused call changed the expiry")), true, "EXCL-2  fail  B's refused call changed the expiry"},
		{"inconclusive", report("T", good, clause("EXCL-5", leasetest.Inconclusive, "the checker ran out of time")), true, "EXCL-5  inconclusive  the checker ran out of time"},
		{"error", report("T", good, clause("ERR-4", leasetest.Error, "the server would not start")), true, "ERR-4  error  the server would not start"},
		{"nothing checked", report("T", clause("EXCL-1", leasetest.NotChecked, "no clock")), true, "RED"},
		{"not checked under -lease.strict", strict, true, "KEY-2 (backend): no namespaces – RED: Harness.Unchecked does not permit it"},
		{"not checked, as Harness.Unchecked permits", allowed, false, "KEY-2 (backend): no namespaces"},
		{"no report", nil, true, "backend  RED: no report"},
		{"no clauses", report("T"), true, "it has no clauses"},
		{"report of a newer version", newer, true, "its version is 2, want 1"},
		{"totals that are not those of the clauses", miscounted, true, "it counts 1 pass, its clauses 2"},
		{"unknown verdict", report("T", good, clause("EXCL-2", "maybe", "")), true, "1 of its clauses have a verdict that is unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dir string
			if c.report == nil {
				dir = folder(t)
			} else {
				dir = folder(t, c.report)
			}
			got, err := table(t, "backend="+dir)
			if red := errors.Is(err, errRed); red != c.red {
				t.Errorf("got error %v, want red %v", err, c.red)
			}
			if !strings.Contains(got, c.says) {
				t.Errorf("the table does not say %q:\n%s", c.says, got)
			}
			if strings.Contains(got, "RED") != c.red {
				t.Errorf("want the word RED: %v, got:\n%s", c.red, got)
			}
		})
	}
}

func TestBrokenReports(t *testing.T) {
	cut := folder(t)
	put(t, cut, "cut.json", `{"version": 1, "backend": "TestConf`)
	for name, c := range map[string]struct{ dir, says string }{
		"cut short": {cut, "unexpected end of JSON input"},
		"no folder": {filepath.Join(t.TempDir(), "none"), "no report"},
	} {
		got, err := table(t, "one="+c.dir)
		if !errors.Is(err, errRed) {
			t.Errorf("%s: got error %v, want %v", name, err, errRed)
		}
		if !strings.Contains(got, "one      RED:") || !strings.Contains(got, c.says) {
			t.Errorf("%s: want a red line that says %q, got:\n%s", name, c.says, got)
		}
	}
}

// A test can fail though every clause in its report is green, such as when
// the report can't be written, or a second test fails. Its backend must not be called green.
func TestFailedTestIsRed(t *testing.T) {
	good := folder(t, report("T", clause("EXCL-1", leasetest.Pass, "")))
	got, err := table(t, "-failed", "one", "one="+good, "two="+good)
	if !errors.Is(err, errRed) {
		t.Errorf("got error %v, want %v", err, errRed)
	}
	for _, want := range []string{"one      RED ", "two      green ", "one:\n  the test failed, and its report does not say why"} {
		if !strings.Contains(got, want) {
			t.Errorf("the table does not say %q:\n%s", want, got)
		}
	}

	bad := folder(t, report("T", clause("EXCL-1", leasetest.Fail, "two holders")))
	got, _ = table(t, "-failed", "one", "one="+bad)
	if strings.Contains(got, "does not say why") {
		t.Errorf("the failing clause explains the failed test, yet the table says that none does:\n%s", got)
	}
}

func TestSeveralReportsInOneFolder(t *testing.T) {
	dir := folder(t,
		report("TestConformance", clause("EXCL-1", leasetest.Pass, "")),
		report("TestConformanceCluster", clause("EXCL-1", leasetest.Fail, "two holders")))
	got, err := table(t, "redis="+dir)
	if !errors.Is(err, errRed) {
		t.Errorf("got error %v, want %v", err, errRed)
	}
	for _, want := range []string{"redis (TestConformance)         green ", "redis (TestConformanceCluster)  RED "} {
		if !strings.Contains(got, want) {
			t.Errorf("the table does not say %q:\n%s", want, got)
		}
	}
}

// The suite saves the history of a failure beside the report.
func TestSavedHistoriesAreNoReports(t *testing.T) {
	dir := folder(t, report("T", clause("EXCL-1", leasetest.Pass, "")))
	put(t, dir, "T-EXCL-5-k1.json", `{"key": "k1", "calls": []}`)
	got, err := table(t, "one="+dir)
	if err != nil || !strings.Contains(got, "one      green ") || strings.Contains(got, "RED") {
		t.Errorf("got error %v, want one green line:\n%s", err, got)
	}

	alone := folder(t)
	put(t, alone, "T-EXCL-5-k1.json", `{"key": "k1", "calls": []}`)
	got, err = table(t, "one="+alone)
	if !errors.Is(err, errRed) || !strings.Contains(got, "one      RED: no report") {
		t.Errorf("got error %v, want a red line that says there is no report:\n%s", err, got)
	}
}

func TestMarkdown(t *testing.T) {
	dir := folder(t, report("T",
		clause("EXCL-1", leasetest.Pass, ""),
		clause("EXCL-2", leasetest.Fail, "it changed the expiry")))
	got, err := table(t, "-markdown", "-absent", "redis real=no server found", "memory="+dir)
	if !errors.Is(err, errRed) {
		t.Errorf("got error %v, want %v", err, errRed)
	}
	want := `| backend | pass | fail | deviation | not checked | inconclusive | error |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| memory | 1 | 1 | 0 | 0 | 0 | 0 |
| redis real | – | – | – | – | – | – |
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"memory"},
		{"=dir"},
		{"memory="},
		{"memory=a", "memory=b"},
		{"-absent", "redis", "memory=a"},
		{"-failed", "redis", "memory=a"},
		{"-no-such-flag", "memory=a"},
	} {
		var out, errOut bytes.Buffer
		if err := run(&out, &errOut, args); !errors.Is(err, errUsage) {
			t.Errorf("run(%q): got error %v, want %v", args, err, errUsage)
		}
		if errOut.Len() == 0 {
			t.Errorf("run(%q) does not say what is wrong", args)
		}
		if out.Len() > 0 {
			t.Errorf("run(%q) printed a table:\n%s", args, out.String())
		}
	}
}

func TestHelp(t *testing.T) {
	var out, errOut bytes.Buffer
	if err := run(&out, &errOut, []string{"-help"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NAME=DIR", "-lease.report=DIR", "exit code", "-absent", "-failed", "-markdown"} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("-help does not speak of %q:\n%s", want, errOut.String())
		}
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"GET-1"}, "GET-1"},
		{[]string{"GET-1", "GET-2"}, "GET-1, GET-2"},
		{[]string{"GET-1", "GET-2", "GET-3", "KEY-1"}, "GET-1 to GET-3, KEY-1"},
		{[]string{"GET-3", "KEY-4", "KEY-6", "odd", "odder"}, "GET-3, KEY-4, KEY-6, odd, odder"},
		{[]string{"HOLD-9", "HOLD-10", "HOLD-11"}, "HOLD-9 to HOLD-11"},
	} {
		if got := ranges(c.ids); got != c.want {
			t.Errorf("ranges(%q): got %q, want %q", c.ids, got, c.want)
		}
	}
}
