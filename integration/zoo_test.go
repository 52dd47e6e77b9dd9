package integration

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leasekit/lease/internal/race"
	"github.com/leasekit/lease/leasetest"
)

// mutant is a bundled backend on a real server with one fault, which is a text
// that is replaced in what it sends: in a statement or a script. Where the server
// does not get that text, the backend is the one that passes the whole suite.
type mutant struct {
	name   string // short, unique, kebab-case
	clause string // the clause that it breaks
	fault  string // one sentence: what is wrong

	// along are up to two more clauses that the fault breaks by its nature, and
	// nature says why. The suite has to fail these too, and no others.
	along  []string
	nature string

	kinds []string // ids of the kinds of faults that it stands for, as in leasetest/KILLS.md
	edit  []string // what is replaced, by what, and so on; {table} is the table's name

	// change replaces what edit can't express. Nil: nothing.
	change func(text string) string

	cluster bool // on a Redis Cluster

	// answer is what the backend takes for the answer of Redis to a script, or nil:
	// the answer itself.
	answer func(text string, err error) []any

	// judge judges in place of the suite.
	judge *judge
}

// judge looks at what the suite can't, or not yet.
type judge struct {
	name string
	run  func(t testing.TB, tab *sqlTable, c sqlClient) string // the first thing that is wrong, or ""
}

// clauses returns all clauses that the mutant breaks.
func (m mutant) clauses() []string { return append([]string{m.clause}, m.along...) }

// replace returns what makes the replacements, and whether it made any.
func (m mutant) replace() (pass func(string) string, hit *atomic.Bool) {
	hit = new(atomic.Bool)
	return func(text string) string {
		before := text
		for i := 0; i < len(m.edit); i += 2 {
			text = strings.ReplaceAll(text, m.edit[i], strings.ReplaceAll(m.edit[i+1], "{table}", tableName.FindString(text)))
		}
		if m.change != nil {
			text = m.change(text)
		}
		if text != before {
			hit.Store(true)
		}
		return text
	}, hit
}

// tableName finds the table in a statement.
var tableName = regexp.MustCompile("[\"`]leases\\w*[\"`]")

// kill says how a mutant was caught.
type kill struct {
	mutant
	store   string
	found   string // the check that caught it
	seconds float64
}

// TestServerZoo wants every mutant failed by the clauses that it breaks, and by no
// others. EXCL-5, the catch-all for concurrent histories, may fail along. Who was
// caught by what is checked against KILLS.md.
func TestServerZoo(t *testing.T) {
	if race.Enabled {
		t.Skip("the mutants are tried without -race: they run the suite dozens of times, and what they break is not how goroutines meet in this process")
	}
	var kills []kill
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for _, herd := range herds() {
			t.Run(herd.store, func(t *testing.T) {
				t.Parallel() // each has a server, and a clock, of its own
				for _, m := range herd.mutants {
					t.Run(m.name, func(t *testing.T) {
						k := herd.hunt(t, m)
						k.mutant, k.store = m, herd.store
						t.Logf("%v, by %s, in %.1f s", m.clauses(), k.found, k.seconds)
						mu.Lock()
						defer mu.Unlock()
						kills = append(kills, k)
					})
				}
			})
		}
	})
	if all := 0; !t.Failed() {
		for _, herd := range herds() {
			all += len(herd.mutants)
		}
		if len(kills) == all { // and not some that -run picked
			checkKills(t, kills)
		}
	}
}

// herd are the mutants of one server.
type herd struct {
	store   string
	mutants []mutant
	hunt    func(t *testing.T, m mutant) kill
}

// herds are all mutants, in the order of KILLS.md.
func herds() []herd {
	return []herd{
		{"PostgreSQL", postgresMutants, huntsOn(postgresServer)},
		{"MariaDB", mariadbMutants, huntsOn(mariadbServer)},
		{"SQLite", sqliteMutants, huntSQLite},
		{"Redis", redisMutants, huntRedis},
	}
}

// tried has the suite judge a mutant.
func tried(t *testing.T, m mutant, hit *atomic.Bool, open func(t testing.TB) *leasetest.Harness) kill {
	t.Helper()
	report, err := leasetest.Check(context.Background(), open, &leasetest.Options{Name: m.name, Seed: 1, Cases: 5, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if !hit.Load() {
		t.Fatalf("%s changes nothing: what it replaces is not there", m.name)
	}
	k := kill{seconds: report.Seconds}
	for _, c := range report.Clauses {
		switch {
		case c.Verdict == leasetest.Error:
			t.Errorf("%s: error: %s", c.ID, c.Reason)
		case c.Verdict != leasetest.Fail:
			if slices.Contains(m.clauses(), c.ID) {
				t.Errorf("%s (%s) is not failed by %s: %s %s", m.name, m.fault, c.ID, c.Verdict, c.Reason)
			}
		case c.ID == m.clause:
			k.found = how(c.Failure)
		case c.ID != "EXCL-5" && !slices.Contains(m.along, c.ID):
			t.Errorf("%s (%s) is failed by %s too: %s (%s)", m.name, m.fault, c.ID, c.Failure.Problem, c.Failure.Found)
		}
	}
	return k
}

// how is the kind of check that found a failure.
func how(f *leasetest.Failure) string {
	for _, kind := range []string{"example", "random programs"} {
		if strings.HasPrefix(f.Found, kind) {
			return kind
		}
	}
	return f.Found
}
