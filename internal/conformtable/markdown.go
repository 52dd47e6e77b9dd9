package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/leasekit/lease/leasetest"
)

// writeMarkdown prints the table as it stands in README.md. Seconds are left
// out: they tell more of the machine than of the backend.
func writeMarkdown(w io.Writer, lines []line) {
	verdicts := leasetest.Verdicts()
	fmt.Fprint(w, "| backend |")
	for _, v := range verdicts {
		fmt.Fprintf(w, " %s |", v)
	}
	fmt.Fprint(w, "\n| --- |"+strings.Repeat(" ---: |", len(verdicts))+"\n")
	for _, l := range lines {
		name := strings.ReplaceAll(l.backend, "|", `\|`)
		if l.report == nil {
			fmt.Fprintf(w, "| %s |%s\n", name, strings.Repeat(" – |", len(verdicts)))
			continue
		}
		fmt.Fprintf(w, "| %s |", name)
		for _, v := range verdicts {
			fmt.Fprintf(w, " %d |", l.report.Totals[v])
		}
		fmt.Fprint(w, "\n")
	}
}

// checkMarkdown looks for the lines of this run in a file that shows the table,
// so that what it shows stays true. A backend that was not run has no line to
// look for.
func checkMarkdown(file string, lines []line) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("check the table: %w", err)
	}
	for _, l := range lines {
		if l.report == nil {
			continue
		}
		var b strings.Builder
		writeMarkdown(&b, []line{l})
		rows := strings.Split(strings.TrimSpace(b.String()), "\n")
		if want := rows[len(rows)-1]; !strings.Contains(string(text), want+"\n") {
			return fmt.Errorf("%s does not have the line of this run:\n%s\nput it there, or find out why it changed", file, want)
		}
	}
	return nil
}
