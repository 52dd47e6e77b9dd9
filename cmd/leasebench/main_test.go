package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/leasekit/lease/cmd/internal/bench"
	"github.com/leasekit/lease/cmd/internal/benchreport"
)

// command runs leasebench, and returns its exit code and output.
func command(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

const secret = "s3cr3t"

func TestBadInput(t *testing.T) {
	guarded := miniredis.RunT(t)
	guarded.RequireAuth("right")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	dir := t.TempDir()
	log := filepath.Join(dir, "no.log")
	if err := os.WriteFile(log, []byte("hello\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string // part of the line
	}{
		{"-workload nap memory:", 2, "want all, or some of acquire-release,renew"},
		{"-workload renew,,get memory:", 2, `the workload "" is unknown`},
		{"nonsense", 2, "it has no scheme, want one such as redis://"},
		{"http://host", 2, "the scheme \"http\" is unknown, want memory"},
		{"redis://user:" + secret + "@host:x", 2, "bad DSN"},
		{"postgres://user:" + secret + "/x@host/db", 2, "must be percent-encoded"},
		{"-rate 0 memory:", 2, "leave it away for a closed loop"},
		{"-rate -1 memory:", 2, "want calls per second"},
		{"-rate NaN memory:", 2, "want calls per second"},
		{"-rate x memory:", 2, "leasebench -help shows the flags"},
		{"-workers 0 memory:", 2, "want 1 to 10000"},
		{"-workers 10001 memory:", 2, "want 1 to 10000"},
		{"-duration 0s memory:", 2, "want more than 0"},
		{"-count 0 memory:", 2, "want more than 0"},
		{"-count 5 -duration 1s memory:", 2, "exclude each other"},
		{"-warmup -1s memory:", 2, "want 0 or more"},
		{"-ttl 0s memory:", 2, "want more than 0"},
		{"-takeover-ttl 0s memory:", 2, "want more than 0"},
		{"-poll -1s memory:", 2, "want 0 or more"},
		{"-keys 0 memory:", 2, "want 1 or more"},
		{"-keys 1000001 memory:", 2, "add -yes if you mean it"},
		{"-ttl 1ns embedded:redis", 2, "the ttl is too short"},
		{"-peers memory:", 2, "add the DSN of a Redis"},
		{"-run-id a,b memory:", 2, "without commas and blanks"},
		{"-o xml memory:", 2, "want table, json or bench"},
		{"-nope memory:", 2, "leasebench -help shows the flags"},
		{"memory: -json", 2, "flags go before the other arguments: move -json"},
		{"-log " + dir + "/none/x.log memory:", 2, "the results can't be written"},
		{"list renew", 2, "list takes no arguments"},
		{"merge", 2, "merge wants the logs of a run"},
		{"merge -o xml x.log", 2, "want table, json or bench"},
		{"merge " + dir + "/none.log", 1, "no such file"},
		{"merge " + log, 1, "not a log of leasebench: make one with -log"},
		{"redis://user:" + secret + "@" + nobody, 1, "is the server running, and reachable from here?"},
		{"postgres://user:" + secret + "@" + nobody + "/db?sslmode=disable", 1, "is the server running, and reachable from here?"},
		{"mysql://user:" + secret + "@" + nobody + "/db", 1, "is the server running, and reachable from here?"},
		{"redis://:" + secret + "@" + guarded.Addr(), 1, "check the user and the password in the DSN"},
		{"sqlite:" + dir, 1, "connect to sqlite:" + dir},
	} {
		code, stdout, stderr := command(t.Context(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("leasebench %s: exit code %d, %q; want %d and %q", c.args, code, stderr, c.code, c.want)
		}
		if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "leasebench: ") || stdout != "" {
			t.Errorf("leasebench %s: got %q and %q, want one line on stderr alone", c.args, stdout, stderr)
		}
		if strings.Contains(stderr, secret) {
			t.Errorf("leasebench %s: the password is shown: %q", c.args, stderr)
		}
	}
}

func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	code, stdout, stderr := command(t.Context(), "-workload", "renew,get", "-count", "50", "-warmup", "1ms", "-run-id", "r1", "-json",
		"-log", file("a.log"), "-html", file("a.html"), "-hgrm", file("hgrm"), "-peers", "memory:", "embedded:redis")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var r benchreport.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != benchreport.Schema || r.RunID != "r1" || len(r.Rows) != 11 || r.Rows[0].Calls < 50 {
		t.Errorf("got schema %q, run %q and %d rows, want %q, r1 and 11", r.Schema, r.RunID, len(r.Rows), benchreport.Schema)
	}
	if page, err := os.ReadFile(file("a.html")); err != nil || bytes.Count(page, []byte("<svg")) != 8 {
		t.Errorf("the page has %d plots, want 8; %v", bytes.Count(page, []byte("<svg")), err)
	}
	if files, err := os.ReadDir(file("hgrm")); err != nil || len(files) != 11 {
		t.Errorf("got %d percentile files, want 11; %v", len(files), err)
	}

	code, stdout, stderr = command(t.Context(), "merge", "-json", file("a.log"), file("a.log"))
	var whole benchreport.Report
	if err := json.Unmarshal([]byte(stdout), &whole); code != 0 || err != nil {
		t.Fatalf("merge: exit code %d, %v, %s", code, err, stderr)
	}
	if whole.Merged != 2 || whole.Rows[0].Calls != 2*r.Rows[0].Calls || whole.Rows[0].Latency.P50 != r.Rows[0].Latency.P50 {
		t.Errorf("the log merged with itself: got %d of %d runs, p50 %d; want twice %d, p50 %d",
			whole.Rows[0].Calls, whole.Merged, whole.Rows[0].Latency.P50, r.Rows[0].Calls, r.Rows[0].Latency.P50)
	}
	if code, stdout, _ = command(t.Context(), "merge", "-o", "bench", file("a.log")); code != 0 || !strings.Contains(stdout, "\nBenchmarkRenew/target=memory/by=lease/workers=1\t") {
		t.Errorf("merge -o bench: exit code %d, got\n%s", code, stdout)
	}
}

// Without a DSN it shows something useful.
func TestWithoutDSN(t *testing.T) {
	code, stdout, stderr := command(t.Context(), "-count", "3", "-warmup", "1ms", "-takeover-ttl", "200ms")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"\nmemory:\n", "\nembedded:redis\n", "\nembedded:sqlite\n", "acquire-release  lease", "x floor"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the table has no %q:\n%s", want, stdout)
		}
	}
}

// Ctrl-C shows what there is, marked as incomplete.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	code, stdout, stderr := command(ctx, "-duration", "100ms", "memory:", "embedded:redis", "memory:", "memory:")
	if code != 1 || !strings.HasPrefix(stdout, "INCOMPLETE: ") || !strings.Contains(stderr, "the results are incomplete") {
		t.Errorf("exit code %d, %q, got\n%s", code, stderr, stdout)
	}
}

func TestList(t *testing.T) {
	code, stdout, _ := command(t.Context(), "list")
	for _, w := range bench.Workloads {
		if !strings.Contains(stdout, w.Name+"\n    ") {
			t.Errorf("list does not describe %s", w.Name)
		}
	}
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// The help names every flag, and no other one.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-help"}, {"-h"}, {"merge", "-help"}} {
		code, stdout, stderr := command(t.Context(), args...)
		if code != 0 || stdout != help() || stderr != "" {
			t.Errorf("%v: exit code %d, %q; got\n%s", args, code, stderr, stdout)
		}
	}
	described := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^    -([a-z-]+)`).FindAllStringSubmatch(help(), -1) {
		described[found[1]] = true
	}
	flags := newFlags("leasebench")
	(&options{}).register(flags)
	for name := range described {
		if flags.Lookup(name) == nil {
			t.Errorf("the help describes -%s, which there is not", name)
		}
	}
	flags.VisitAll(func(f *flag.Flag) {
		if !described[f.Name] {
			t.Errorf("the help does not describe -%s", f.Name)
		}
	})
	for line := range strings.Lines(help()) {
		if len([]rune(line)) > 92 {
			t.Errorf("a line of the help has %d characters: %s", len([]rune(line)), line)
		}
	}
}

// The flags in the example for Kubernetes are right.
func TestKubernetesJob(t *testing.T) {
	text, err := os.ReadFile("kubernetes-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "          args:\n")
	rest, _, _ = strings.Cut(rest, "          resources:\n")
	var args []string
	for line := range strings.Lines(rest) {
		arg := strings.TrimPrefix(strings.TrimSpace(line), "- ")
		args = append(args, strings.Replace(arg, "$(REDIS_URL)", "redis://127.0.0.1:6379", 1))
	}
	o, err := parse(args, nil)
	if err != nil || o.runID == "" || o.out.log == "" || len(o.dsns) != 1 {
		t.Fatalf("%v: got %+v, %v", args, o, err)
	}
	if _, closeAll, err := o.config(); err != nil {
		t.Error(err)
	} else if err := closeAll(); err != nil {
		t.Error(err)
	}
}
