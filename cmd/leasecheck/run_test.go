package main

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// TestExitCodes has the outcomes of a run that a CI job has to tell apart.
func TestExitCodes(t *testing.T) {
	right := keeper{}.target(t)
	broken := keeper{refusesOwn: true}.target(t)
	good := file(t, "good.txt", "# it knows no holder\nEXCL-4: who asks is not looked at\n\n")
	stale := file(t, "stale.txt", "TOKEN-4: it begins again after a release\n")
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"conformant", []string{"run", "memory:"}, exitOK},
		{"conformant adapter", []string{"run", right}, exitOK},
		{"strict", []string{"run", "-strict", "memory:"}, exitOK},
		{"strict adapter", []string{"run", "-strict", right}, exitBroken}, // TOKEN-8, for one, needs a feature
		{"failing", []string{"run", broken}, exitBroken},
		{"failing elsewhere", []string{"run", "-clause", "KEY-3", broken}, exitOK},
		{"declared", []string{"run", "-deviations", good, broken}, exitOK},
		{"stale", []string{"run", "-deviations", stale, "memory:"}, exitBroken},
		{"nothing checked", []string{"run", "-clause", "HOLD", "memory:"}, exitNothing},
		{"out of time", []string{"run", "-timeout", "1ms", "memory:"}, exitNothing},
		{"unreachable", []string{"run", "exec:exit 1"}, exitNothing},
		{"no such program", []string{"run", "exec:/no/such/program"}, exitNothing},
		{"no place for the report", []string{"run", "-report", "/no/such/folder/r.json", "memory:"}, exitNothing},
		{"no command", nil, exitUsage},
		{"bad command", []string{"walk"}, exitUsage},
		{"bad flag", []string{"run", "-no-such-flag", "memory:"}, exitUsage},
		{"bad target", []string{"run", "carrier-pigeon:home"}, exitUsage},
		{"bad clause", []string{"run", "-clause", "TOKEN-99", "memory:"}, exitUsage},
		{"bad format", []string{"run", "-report", "r.doc", "memory:"}, exitUsage},
		{"bad deviations", []string{"run", "-deviations", file(t, "d.txt", "TOKEN-99: why not\n"), "memory:"}, exitUsage},
		{"no target", []string{"run"}, exitUsage},
		{"empty command", []string{"run", "exec: "}, exitUsage},
		{"help", []string{"help"}, exitOK},
		{"help of a command", []string{"run", "-help"}, exitOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := c.args
			if len(args) > 1 && args[0] == "run" {
				args = append([]string{"run", "-checks", "3"}, args[1:]...)
			}
			out, errOut, code := leasecheck(t, args...)
			if code != c.want {
				t.Errorf("got the exit code %d, want %d\n%s%s", code, c.want, out, errOut)
			}
			if code == exitUsage && strings.TrimSpace(errOut) == "" {
				t.Error("a command line that makes no sense is met with silence")
			}
		})
	}
}

func TestMemory(t *testing.T) {
	r, code := reported(t, "memory:", "-checks", "100")
	if code != exitOK || r.Backend != "memory:" || r.Totals[leasetest.Pass] < 40 {
		t.Errorf("got exit code %d and %s", code, r.Summary())
	}
}

// BenchmarkMemory is how long the report of a run on memory takes; 2 s are the aim.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		if code := run(b.Context(), io.Discard, os.Stderr, []string{"run", "-quiet", "-report", filepath.Join(b.TempDir(), "r.html"), "memory:"}); code != exitOK {
			b.Fatalf("got the exit code %d", code)
		}
	}
}

// TestReports wants each format written, and to hold what was found.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "-checks", "3", "-name", "seven | up", "-histories", dir}
	for _, name := range []string{"r.json", "r.badge.json", "r.xml", "r.md", "r.html", "r.txt"} {
		args = append(args, "-report", filepath.Join(dir, name))
	}
	if out, errOut, code := leasecheck(t, append(args, keeper{refusesOwn: true}.target(t))...); code != exitBroken {
		t.Fatalf("got the exit code %d\n%s%s", code, out, errOut)
	}
	text := map[string]string{}
	for _, name := range []string{"r.json", "r.badge.json", "r.xml", "r.md", "r.html", "r.txt"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text[name] = string(b)
		if name != "r.badge.json" && !strings.Contains(text[name], "EXCL-4") {
			t.Errorf("%s does not speak of EXCL-4", name)
		}
		if len(b) > 1<<20 {
			t.Errorf("%s has %d bytes, want less than 1 MB", name, len(b))
		}
	}
	var r leasetest.Report
	if err := json.Unmarshal([]byte(text["r.json"]), &r); err != nil {
		t.Fatal(err)
	}
	var badge struct {
		SchemaVersion  int
		Message, Color string
	}
	if err := json.Unmarshal([]byte(text["r.badge.json"]), &badge); err != nil || badge.SchemaVersion != 1 || badge.Color != "red" || badge.Message == "" {
		t.Errorf("got the badge %s (%v)", text["r.badge.json"], err)
	}
	var junit struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text["r.xml"]), &junit); err != nil {
		t.Fatal(err)
	}
	if junit.Tests != len(r.Clauses) || junit.Failures != r.Totals[leasetest.Fail] || junit.Skipped != r.Totals[leasetest.NotChecked] || len(junit.Suites) != 1 || len(junit.Suites[0].Cases) != junit.Tests {
		t.Errorf("got %d test cases, %d failures, %d skipped for %s", junit.Tests, junit.Failures, junit.Skipped, r.Summary())
	}
	if !strings.Contains(text["r.md"], `## seven \| up: not conformant`) {
		t.Errorf("got the Markdown %.100s", text["r.md"])
	}
	for _, outside := range []string{"<script", "<link", "src=", "@import", "url("} {
		if strings.Contains(text["r.html"], outside) {
			t.Errorf("the page has %q, and is to need nothing but itself", outside)
		}
	}
	if !strings.Contains(text["r.html"], "<svg") {
		t.Error("the page has no timeline")
	}
	if want := "leasecheck run -clause EXCL-4 -seed "; !strings.Contains(text["r.txt"], want) {
		t.Errorf("the text has no %q", want)
	}

	html := filepath.Join(dir, "matrix.html")
	if _, errOut, code := leasecheck(t, "report", "-o", html, filepath.Join(dir, "r.json"), filepath.Join(dir, "r.json")); code != exitOK {
		t.Errorf("report: got the exit code %d: %s", code, errOut)
	}
	out, _, code := leasecheck(t, "report", filepath.Join(dir, "r.json"), "other="+filepath.Join(dir, "r.json"))
	if code != exitOK || !strings.Contains(out, "| other |") || !strings.Contains(out, "| EXCL-4 | ✗ | ✗ |") {
		t.Errorf("report: got the exit code %d and %s", code, out)
	}
	if _, _, code := leasecheck(t, "report", filepath.Join(dir, "r.md")); code != exitNothing {
		t.Errorf("report of what is none: got the exit code %d, want %d", code, exitNothing)
	}
}

// TestNotChecked wants what an adapter can't be asked for reported as such.
func TestNotChecked(t *testing.T) {
	r, _ := reported(t, keeper{hello: line{"features": []string{"now"}}}.target(t))
	for id, want := range map[string]string{
		"TOKEN-8":  "needs a counter that can be set",
		"KEY-2":    "the adapter has no namespaces",
		"ERR-1":    "Worker.Dial",
		"EXPIRY-4": "could not be made wrong", // a program in Go is out of the shim's reach
	} {
		if got, _ := r.Result(id); got.Verdict != leasetest.NotChecked || !strings.Contains(got.Reason, want) {
			t.Errorf("%s: got %s (%s), want not checked because of %q", id, got.Verdict, got.Reason, want)
		}
	}
	timeless, _ := reported(t, keeper{hello: line{"features": []string{"now"}, "time": ""}}.target(t))
	if got, _ := timeless.Result("EXPIRY-4"); got.Verdict != leasetest.NotChecked || !strings.Contains(got.Reason, "hello has no time") {
		t.Errorf("EXPIRY-4: got %s (%s), want not checked since nobody knows the worker's clock", got.Verdict, got.Reason)
	}
	for id, want := range map[string]string{"ARG-1": "not UTF-8", "ERR-2": "thrown away"} {
		if got, _ := r.Result(id); got.Verdict != leasetest.Pass || !strings.Contains(got.Reason, want) {
			t.Errorf("%s: got %s (%s), want a pass in part: %q", id, got.Verdict, got.Reason, want)
		}
	}
}
