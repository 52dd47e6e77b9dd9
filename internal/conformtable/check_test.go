package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// TestCheckMarkdown wants a file that shows other figures than the run found.
func TestCheckMarkdown(t *testing.T) {
	lines := []line{
		{backend: "memory", report: &leasetest.Report{Totals: map[leasetest.Verdict]int{leasetest.Pass: 3}}},
		{backend: "redis real", absent: "no server"},
	}
	file := filepath.Join(t.TempDir(), "README.md")
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"same":     {"| memory | 3 | 0 | 0 | 0 | 0 | 0 |\n", ""},
		"other":    {"| memory | 4 | 0 | 0 | 0 | 0 | 0 |\n", "| memory | 3 | 0"},
		"no table": {"nothing here\n", "| memory | 3 | 0"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			err := checkMarkdown(file, lines)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error that contains %q", err, c.want)
			}
		})
	}
	if err := checkMarkdown(filepath.Join(t.TempDir(), "none"), lines); err == nil {
		t.Error("a file that does not exist: got nil, want an error")
	}
}
