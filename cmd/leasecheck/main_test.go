package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// TestMain makes this test binary stand in for leasecheck, which runs itself again
// for stores, and for adapters of any conduct.
func TestMain(m *testing.M) {
	if kind := os.Getenv(conductVar); kind != "" {
		behave(kind)
		os.Exit(0)
	}
	if isChild() || os.Getenv(actAsVar) != "" {
		main()
	}
	os.Exit(m.Run())
}

// actAsVar makes this test binary leasecheck itself, for scripts that call it.
const actAsVar = "LEASECHECK_TEST_ACT_AS"

// leasecheck runs a command line, and returns what it printed and its exit code.
func leasecheck(t *testing.T, args ...string) (out, errOut string, code int) {
	t.Helper()
	var w, wErr bytes.Buffer
	code = run(context.Background(), &w, &wErr, args)
	return w.String(), wErr.String(), code
}

// reported runs the suite on a target, and returns its report and the exit code.
func reported(t *testing.T, target string, flags ...string) (*leasetest.Report, int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	out, errOut, code := leasecheck(t, append(append([]string{"run", "-checks", "5", "-report", file}, flags...), target)...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; it printed %s%s", err, out, errOut)
	}
	var r leasetest.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r, code
}

// file makes a file with the text.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
