package leasetest_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

var writeKills = flag.Bool("zoo.write", false, "write KILLS.md from this run of TestZoo")

// kill says how one broken backend was caught.
type kill struct {
	animal  zoo.Animal
	found   string  // the check that caught it; "" if none did
	calls   int     // in the counterexample
	seconds float64 // that the whole suite took
	along   bool    // EXCL-5 failed too
}

// sure says whether the same seed gives the same kill on every machine: what is
// found in a shrunk program depends on the time there was to shrink it, and what
// is found by threads on how they met.
func (k kill) sure() bool { return k.found == "example" }

// killTable lists the kills in the order of the zoo, with a summary.
func killTable(kills []kill) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "mutant\tfailed by\tfound by\tcalls\tseconds")
	killed := 0
	var sizes []int
	var times []float64
	for _, k := range inOrder(kills) {
		failed := k.animal.Clauses()
		if k.along {
			failed = append(failed, "EXCL-5")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.2f\n", k.animal.Name, strings.Join(failed, " "), k.found, k.calls, k.seconds)
		times = append(times, k.seconds)
		if k.found != "" {
			killed++
			sizes = append(sizes, k.calls)
		}
	}
	w.Flush()
	if len(sizes) > 0 {
		fmt.Fprintf(&b, "median: %d calls, %.2f s\n", median(sizes), median(times))
	}
	fmt.Fprintf(&b, "killed %d of %d\n", killed, len(kills))
	return b.String()
}

func median[T int | float64](list []T) T {
	slices.Sort(list)
	return list[len(list)/2]
}

// inOrder sorts kills as the zoo has its animals.
func inOrder(kills []kill) []kill {
	at := map[string]int{}
	for i, a := range zoo.Broken() {
		at[a.Name] = i
	}
	sorted := slices.Clone(kills)
	slices.SortFunc(sorted, func(a, b kill) int { return at[a.animal.Name] - at[b.animal.Name] })
	return sorted
}

// killFile is the matrix that is checked in.
const killFile = "KILLS.md"

// killText is what KILLS.md has to hold.
func killText(kills []kill) string {
	var b strings.Builder
	b.WriteString("# Kill matrix\n\n" +
		"Every broken backend of the zoo (internal/zoo), the clauses that fail it, the kind of\n" +
		"check that finds it, and the calls of the counterexample where they do not depend\n" +
		"on chance. The kinds are those of real faults, listed at the end. EXCL-5, the\n" +
		"catch-all for concurrent histories, may fail any of them along. Made by\n" +
		"`make zoo-write`, from seed 1; a test fails when it is stale.\n\n" +
		"| mutant | failed by | found by | calls | kinds | what is wrong |\n| --- | --- | --- | ---: | --- | --- |\n")
	clauses := map[string][]string{}
	for _, k := range inOrder(kills) {
		size := "–"
		if k.sure() {
			size = fmt.Sprint(k.calls)
		}
		fault := strings.ReplaceAll(k.animal.Fault, "|", `\|`)
		if k.animal.Source != "" {
			fault += " ([report](" + k.animal.Source + "))"
		}
		if k.animal.Nature != "" {
			fault += " By nature " + strings.Join(k.animal.Along, " and ") + " too: " + k.animal.Nature + "."
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", k.animal.Name, strings.Join(k.animal.Clauses(), ", "),
			k.found, size, strings.Join(k.animal.Kinds, ", "), fault)
		for _, id := range k.animal.Clauses() {
			clauses[id] = append(clauses[id], k.animal.Name)
		}
	}
	fmt.Fprintf(&b, "\nKilled %d of %d.\n\n## Clauses\n\n| clause | mutants that it fails |\n| --- | --- |\n", len(kills), len(kills))
	for _, c := range leasetest.Clauses() {
		names := strings.Join(clauses[c.ID], ", ")
		if names == "" {
			names = "none: " + unproved(c.ID)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c.ID, names)
	}
	b.WriteString("\n## Kinds\n\nThe kinds of faults that were found in lease and lock code in the field, and the\n" +
		"mutants that stand for them here, or the part of the project that they live in.\n\n" +
		"| kind | name | mutants, or where it is tried |\n| --- | --- | --- |\n")
	for _, kind := range zoo.Kinds() {
		var names []string
		for _, a := range zoo.Broken() {
			if slices.Contains(a.Kinds, kind.ID) {
				names = append(names, a.Name)
			}
		}
		where := strings.Join(names, ", ")
		if where == "" {
			where = kind.Home
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", kind.ID, kind.Name, where)
	}
	return b.String()
}

// unproved says why no mutant breaks a clause.
func unproved(id string) string {
	switch {
	case leasetest.Later(id):
		return "it has no check yet."
	case id == "TOKEN-6":
		return "it allows and forbids nothing; the odd backends with gaps and with one counter for all keys speak for it."
	}
	return "none yet."
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
	if string(have) == text {
		return
	}
	old, now := strings.Split(string(have), "\n"), strings.Split(text, "\n")
	for i := 0; i < max(len(old), len(now)); i++ {
		if i >= len(old) || i >= len(now) || old[i] != now[i] {
			t.Fatalf("%s is stale from line %d on: run make zoo-write and look at what changed\nhave: %s\nwant: %s", killFile, i+1, line(old, i), line(now, i))
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}
