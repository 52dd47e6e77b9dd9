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
	"github.com/leasekit/lease/leasetest/internal/fencezoo"
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
// is found by threads on how they met. The schedules of hold helpers are always
// shrunk.
func (k kill) sure() bool { return k.found == "example" && k.animal.Hold == nil }

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

// everyBroken lists the broken animals of all zoos.
func everyBroken() []zoo.Animal {
	all := append(zoo.Broken(), zoo.BrokenHelpers()...)
	for _, r := range fencezoo.Broken() {
		all = append(all, r.Animal)
	}
	return all
}

// inOrder sorts kills as the zoos have their animals.
func inOrder(kills []kill) []kill {
	at := map[string]int{}
	for i, a := range everyBroken() {
		at[a.Name] = i
	}
	sorted := slices.Clone(kills)
	slices.SortFunc(sorted, func(a, b kill) int { return at[a.animal.Name] - at[b.animal.Name] })
	return sorted
}

// killFile is the matrix that is checked in. Each zoo has a part of it, written by
// the test of that zoo between two lines of its own.
const killFile = "KILLS.md"

// spliced is the file with another text for one of its parts.
func spliced(doc, part, text string) (string, error) {
	begin, end := "<!-- part: "+part+" -->\n", "<!-- end of part: "+part+" -->\n"
	before, rest, ok := strings.Cut(doc, begin)
	_, after, okEnd := strings.Cut(rest, end)
	if !ok || !okEnd {
		return "", fmt.Errorf("%s has no part %q: it stands between the lines %q and %q", killFile, part, begin, end)
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}

// TestZooIndex compares the lists of clauses and kinds with the file.
func TestZooIndex(t *testing.T) { checkKills(t, "index", clauseRows()+"\n"+kindRows()) }

// killRows is the matrix of one zoo.
func killRows(kills []kill) string {
	var b strings.Builder
	b.WriteString("| mutant | failed by | found by | calls | kinds | what is wrong |\n| --- | --- | --- | ---: | --- | --- |\n")
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
	}
	fmt.Fprintf(&b, "\nKilled %d of %d.\n", len(kills), len(kills))
	return b.String()
}

// clauseRows lists the mutants of each clause.
func clauseRows() string {
	clauses := map[string][]string{}
	for _, a := range everyBroken() {
		for _, id := range a.Clauses() {
			clauses[id] = append(clauses[id], a.Name)
		}
	}
	var b strings.Builder
	b.WriteString("## Clauses\n\n| clause | mutants that it fails |\n| --- | --- |\n")
	for _, c := range leasetest.Clauses() {
		names := strings.Join(clauses[c.ID], ", ")
		if names == "" {
			names = "none: " + unproved(c.ID)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c.ID, names)
	}
	return b.String()
}

// kindRows lists the mutants of each kind of fault.
func kindRows() string {
	var b strings.Builder
	b.WriteString("## Kinds\n\nThe kinds of faults that were found in lease and lock code in the field, and the\n" +
		"mutants that stand for them here, or the part of the project that they live in.\n\n" +
		"| kind | name | mutants, or where it is tried |\n| --- | --- | --- |\n")
	for _, kind := range zoo.Kinds() {
		var names []string
		for _, a := range everyBroken() {
			if slices.Contains(a.Kinds, kind.ID) {
				names = append(names, a.Name)
			}
		}
		where := []string{strings.Join(names, ", "), kind.Home}
		where = slices.DeleteFunc(where, func(s string) bool { return s == "" })
		fmt.Fprintf(&b, "| %s | %s | %s |\n", kind.ID, kind.Name, strings.Join(where, "; "))
	}
	return b.String()
}

// unproved says why no mutant breaks a clause.
func unproved(id string) string {
	switch {
	case leasetest.Later(id):
		return "Run has no check for it."
	case id == "TOKEN-6":
		return "it allows and forbids nothing; the odd backends with gaps and with one counter for all keys speak for it."
	}
	return "none yet."
}

// checkKills compares a run with its part of the file.
func checkKills(t *testing.T, part, text string) {
	t.Helper()
	have, err := os.ReadFile(killFile)
	if err == nil {
		text, err = spliced(string(have), part, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if *writeKills {
		if err := os.WriteFile(killFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
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
