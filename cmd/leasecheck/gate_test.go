package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGate runs the script that the recipes for CI call.
func TestGate(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stale := file(t, "stale.txt", "TOKEN-4: it begins again after a release\n")
	for name, c := range map[string]struct {
		args []string
		want int
		says string
	}{
		"conformant": {[]string{"memory:"}, exitOK, "memory:: conformant"},
		"stale":      {[]string{"-deviations", stale, "memory:"}, exitBroken, "remove the line"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			reports, summary := filepath.Join(dir, "reports"), filepath.Join(dir, "summary.md")
			cmd := exec.Command("../../tools/gate", append([]string{reports, "-checks", "5"}, c.args...)...)
			cmd.Env = append(os.Environ(), "LEASECHECK="+exe, "GITHUB_STEP_SUMMARY="+summary, actAsVar+"=leasecheck")
			out, err := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != c.want {
				t.Errorf("got the exit code %d (%v), want %d: %s", got, err, c.want, out)
			}
			text, err := os.ReadFile(summary)
			if err != nil || !strings.Contains(string(text), c.says) {
				t.Errorf("got the summary %s (%v), want %q in it", text, err, c.says)
			}
			for _, ending := range []string{"json", "badge.json", "xml", "md", "html"} {
				if _, err := os.Stat(filepath.Join(reports, "leasecheck."+ending)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
