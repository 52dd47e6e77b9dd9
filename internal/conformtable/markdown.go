package main

import (
	"fmt"
	"io"
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
