package integration

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var writeKills = flag.Bool("zoo.write", false, "write KILLS.md from this run of TestServerZoo")

// killFile is the matrix that is checked in.
const killFile = "KILLS.md"

// killText is what KILLS.md has to hold.
func killText(kills []kill) string {
	place := map[string]int{}
	for _, herd := range herds() {
		for _, m := range herd.mutants {
			place[herd.store+m.name] = len(place)
		}
	}
	slices.SortFunc(kills, func(a, b kill) int { return cmp.Compare(place[a.store+a.name], place[b.store+b.name]) })

	var b strings.Builder
	b.WriteString("# Kill matrix of the servers\n\n" +
		"The bundled backends with a fault in a statement or a script, on real servers: the\n" +
		"clauses that fail each, the check that finds it, and the kinds of real faults that\n" +
		"it stands for, as [leasetest/KILLS.md](../leasetest/KILLS.md) lists them. Everything\n" +
		"else of a mutant is the backend that passes the whole suite. EXCL-5, the catch-all\n" +
		"for concurrent histories, may fail any of them along. Made by `make zoo-write`, from\n" +
		"seed 1; a test fails when it is stale.\n\n" +
		"| server | mutant | failed by | found by | kinds | what is wrong |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, k := range kills {
		fault := k.fault
		if k.nature != "" {
			fault += " By nature " + strings.Join(k.along, " and ") + " too: " + k.nature + "."
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", k.store, k.name, strings.Join(k.clauses(), ", "),
			k.found, strings.Join(k.kinds, ", "), strings.ReplaceAll(fault, "|", `\|`))
	}
	fmt.Fprintf(&b, "\nKilled %d of %d.\n", len(kills), len(place))
	return b.String()
}

// checkKills compares a run with the file.
func checkKills(t *testing.T, kills []kill) {
	t.Helper()
	text := killText(kills)
	if *writeKills {
		if err := os.WriteFile(killFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(killFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != text {
		t.Fatalf("%s is stale: run make zoo-write and look at what changed; want:\n%s", killFile, text)
	}
}
