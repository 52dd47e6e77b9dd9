package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/cmd/internal/adapter"
	"github.com/leasekit/lease/internal/need"
	"github.com/leasekit/lease/leasetest"
)

// TestStarters wants each starter to run as it is, and to say what is to be put in.
func TestStarters(t *testing.T) {
	for language, program := range map[string]string{"node": "node adapter.js", "python": "python3 adapter.py", "java": "java Adapter.java"} {
		t.Run(language, func(t *testing.T) {
			dir := t.TempDir()
			out, errOut, code := leasecheck(t, "init", "-dir", dir, language)
			if code != exitOK || !strings.Contains(out, program) {
				t.Fatalf("got the exit code %d and %s%s", code, out, errOut)
			}
			if _, err := exec.LookPath(strings.Fields(program)[0]); err != nil {
				need.Missing(t, err.Error()+"; tools/install-needs installs it")
			}
			a, err := adapter.Start("cd "+quoted(dir)+" && exec "+program, 0, func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			})
			s := a.Open(t).Connect(t, leasetest.Worker{})
			if _, err := s.Acquire(t.Context(), "k \"quoted\" é", "h", time.Minute); err == nil || !strings.Contains(err.Error(), "put acquire in") {
				t.Errorf("got %v, want the error that says what to put in", err)
			}
			if _, errOut, code := leasecheck(t, "init", "-dir", dir, language); code != exitNothing || !strings.Contains(errOut, "left alone") {
				t.Errorf("once more: got the exit code %d and %s, want the file left alone", code, errOut)
			}
		})
	}
	if _, errOut, code := leasecheck(t, "init", "cobol"); code != exitUsage || !strings.Contains(errOut, "cobol") {
		t.Errorf("got the exit code %d and %s for a language that there is no starter for", code, errOut)
	}
}

// TestGoStarter compiles the starter, in a module that has no other file.
func TestGoStarter(t *testing.T) {
	dir := t.TempDir()
	if out, errOut, code := leasecheck(t, "init", "-dir", dir, "go"); code != exitOK {
		t.Fatalf("got the exit code %d and %s%s", code, out, errOut)
	}
	// Within this module, so that it has what the starter imports.
	in, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "vet", filepath.Join(dir, "lease_conformance_test.go"))
	cmd.Dir = in
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
