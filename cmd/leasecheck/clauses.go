package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/leasekit/lease/leasetest"
)

const listUsage = `leasecheck list [GROUP...]

Lists the clauses of the contract, all or those of some groups, such as TOKEN.
`

// list is the command list.
func list(_ context.Context, w, wErr io.Writer, args []string) int {
	flags := newFlags("list", listUsage, wErr)
	names, code, ok := parse(flags, args, 0, -1)
	if !ok {
		return code
	}
	ids, err := chosen(names)
	if err != nil {
		return misused(flags, err)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range leasetest.Clauses() {
		if len(ids) == 0 || slices.Contains(ids, c.ID) {
			fmt.Fprintf(table, "%s\t%s\t%s\n", c.ID, c.Level, c.Sentence)
		}
	}
	if table.Flush() != nil {
		return exitNothing
	}
	return exitOK
}

const explainUsage = `leasecheck explain CLAUSE

Says what a clause promises, why it matters, how it is checked, where a public
report of the fault is, and shows the history of a small backend that breaks it.
`

// explain is the command explain.
func explain(_ context.Context, w, wErr io.Writer, args []string) int {
	flags := newFlags("explain", explainUsage, wErr)
	names, code, ok := parse(flags, args, 1, 1)
	if !ok {
		return code
	}
	id := strings.ToUpper(names[0])
	i := slices.IndexFunc(leasetest.Clauses(), func(c leasetest.Clause) bool { return c.ID == id })
	if i < 0 {
		return misused(flags, fmt.Errorf("there is no clause %q; leasecheck list has them", names[0]))
	}
	c := leasetest.Clauses()[i]
	fmt.Fprintf(w, "%s (%s)\n\n%s\n\n", c.ID, c.Level, c.Sentence)
	for _, line := range []struct{ label, text string }{
		{"why", c.Why}, {"checked by", c.How}, {"needs", cmp.Or(c.Needs, "nothing beyond Connect")}, {"source", c.Source},
	} {
		if line.text != "" {
			fmt.Fprintf(w, "%-12s%s\n", line.label+":", line.text)
		}
	}
	example, err := brokenBackend(c.ID)
	if err != nil {
		fmt.Fprintln(wErr, "leasecheck:", err)
		return exitNothing
	}
	if example != nil {
		fmt.Fprintf(w, "\nA backend that breaks it: %s\n\n%s\n\n%s", example.Fault, example.Failure.Problem, example.Failure.Table())
		if example.Source != "" {
			fmt.Fprintf(w, "\nOne that did: %s\n", example.Source)
		}
	}
	return exitOK
}

// brokenText is made by make zoo-write, from the broken backends that the suite is
// tried on.
//
//go:embed broken.json
var brokenText []byte

// broken is a backend that breaks a clause, and what the suite says of it.
type broken struct {
	Fault   string             `json:"fault"`
	Source  string             `json:"source"`
	Failure *leasetest.Failure `json:"failure"`
}

// brokenBackend returns nil for a clause that no backend of the zoo breaks.
func brokenBackend(id string) (*broken, error) {
	var all map[string]*broken
	if err := json.Unmarshal(brokenText, &all); err != nil {
		return nil, fmt.Errorf("decode the examples: %w", err)
	}
	return all[id], nil
}
