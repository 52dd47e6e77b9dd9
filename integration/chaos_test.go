package integration

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/chaos"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

var (
	chaosDuration = flag.Duration("chaos.duration", 0, "how long campaigns are run on all stores together; 0: one campaign on each")
	chaosSeed     = flag.Uint64("chaos.seed", 1, "the seed of the first campaign on each store")
)

// chaosStore is a store, in one of its modes, that campaigns are run on. open
// starts it, and returns what makes one empty target after another.
type chaosStore struct {
	name string
	open func(t *testing.T, name string) func() chaos.Target

	// gives are the clauses that this mode does not keep, with the reason. A run
	// that is long enough has to show them.
	gives map[string]string

	// timeout of a call; 0 is the default. Where a connection takes several round
	// trips and a process of its own, it has to be longer.
	timeout time.Duration
}

var chaosStores = []chaosStore{
	{name: "redis, appendfsync always", open: openRedis("--appendonly", "yes", "--appendfsync", "always")},
	{name: "redis without persistence", open: openRedis(), gives: map[string]string{
		"TOKEN-10": "a restart forgets everything",
	}},
	{name: "redis pair, waiting", open: openPair(redislease.Options{Replicas: 1, ReplicaTimeout: 60 * time.Millisecond})},
	{name: "redis pair", open: openPair(redislease.Options{}), gives: map[string]string{
		"TOKEN-11": "replication is asynchronous, and nobody waits for it",
	}},
	{name: "postgres", open: openPostgres("synchronous_commit=on"), timeout: sqlTimeout},
	{name: "postgres, synchronous_commit off", open: openPostgres("synchronous_commit=off"), timeout: sqlTimeout, gives: map[string]string{
		"TOKEN-10": "a crash loses what was committed since the last write of the log",
	}},
	{name: "mariadb", open: openMariaDB("--innodb-flush-log-at-trx-commit=1"), timeout: sqlTimeout},
	{name: "mariadb, flush_log_at_trx_commit 0", open: openMariaDB("--innodb-flush-log-at-trx-commit=0"), timeout: sqlTimeout, gives: map[string]string{
		"TOKEN-10": "a crash loses what was committed since the last write of the log",
	}},
	{name: "sqlite", open: openSQLite},
}

const sqlTimeout = 400 * time.Millisecond

func openRedis(args ...string) func(*testing.T, string) func() chaos.Target {
	return func(t *testing.T, name string) func() chaos.Target {
		srv := server.StartRedis(t, args...)
		admin := redisClient(t, srv, nil)
		return func() chaos.Target { return redisTarget(name, srv, admin, redislease.Options{}, nil) }
	}
}

func openPair(o redislease.Options) func(*testing.T, string) func() chaos.Target {
	return func(t *testing.T, name string) func() chaos.Target {
		p := startPair(t)
		return func() chaos.Target { return p.target(name, o) }
	}
}

var starting sync.Mutex

// TestChaos runs campaigns on all stores: one on each, or for -chaos.duration. At
// the end it prints the table.
func TestChaos(t *testing.T) {
	redis.SetLogger(silence{}) // it would print each connection that a fault breaks
	var table chaosTable
	end := time.Now().Add(*chaosDuration)
	t.Run("on", func(t *testing.T) {
		// They share the processors, and wait most of the time.
		for _, s := range chaosStores {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				runChaos(t, s, end, &table)
			})
		}
	})
	fmt.Print(table.String())
}

func runChaos(t *testing.T, s chaosStore, end time.Time, table *chaosTable) {
	next := func() func() chaos.Target {
		starting.Lock() // some take their time, alone as they are
		defer starting.Unlock()
		return s.open(t, s.name)
	}()
	for seed := *chaosSeed; ; seed++ {
		target := next()
		target.Deviations = s.gives
		dir := filepath.Join(reportDir(t), fmt.Sprintf("%s-%d", strings.NewReplacer(" ", "-", ",", "").Replace(s.name), seed))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		c := chaos.Campaign{Seed: seed, Calls: 1500, StoreEvery: 100, Timeout: s.timeout, Dir: dir}
		if *chaosDuration == 0 {
			c.Calls, c.StoreEvery = 600, 60
		}
		r, err := chaos.Check(context.Background(), target, c)
		if err != nil {
			t.Fatalf("campaign on %s with seed %d: %v", s.name, seed, err)
		}
		table.add(s.name, r)
		if r.Verdict != chaos.Pass {
			t.Errorf("%vrepeat: go test ./integration -run '^TestChaos$/^on$/^%s$' -chaos.seed=%d", r, strings.ReplaceAll(s.name, " ", "_"), seed)
		}
		os.Remove(dir) // unless something is kept in it
		if t.Failed() || !time.Now().Before(end) {
			break
		}
	}
	for clause, why := range s.gives {
		// Enough faults for it to show.
		if row := table.row(s.name); row.losses() >= 30 && !slices.Contains(row.deviated, clause) {
			t.Errorf("%s: no campaign shows that %s is not kept (%s)", s.name, clause, why)
		}
	}
}

// reportDir is where histories of failed campaigns are kept.
func reportDir(t *testing.T) string {
	dir, err := filepath.Abs("../.report/chaos")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// silence is a log that nobody reads.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// chaosTable sums up what campaigns found: store x fault.
type chaosTable struct {
	mu   sync.Mutex
	rows map[string]*chaosRow
}

type chaosRow struct {
	campaigns          int
	calls              chaos.Calls
	faults             map[string]chaos.Tally
	violated, deviated []string // clauses, each time
}

func (c *chaosTable) add(store string, r *chaos.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = map[string]*chaosRow{}
	}
	row := c.rows[store]
	if row == nil {
		row = &chaosRow{faults: map[string]chaos.Tally{}}
		c.rows[store] = row
	}
	row.campaigns++
	row.calls = row.calls.Plus(r.Calls)
	for name, f := range r.Faults {
		sum := row.faults[name]
		row.faults[name] = chaos.Tally{Injected: sum.Injected + f.Injected, Hit: sum.Hit + f.Hit, Calls: sum.Calls.Plus(f.Calls)}
	}
	for _, v := range r.Violations {
		row.violated = append(row.violated, v.Clause)
	}
	for _, v := range r.Deviations {
		row.deviated = append(row.deviated, v.Clause)
	}
}

func (c *chaosTable) row(store string) chaosRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.rows[store]
}

// losses is how many faults have hit that may lose what was answered.
func (r chaosRow) losses() (n int) {
	for _, fault := range []string{"process/kill", "store/immediate-stop", "store/failover"} {
		n += r.faults[fault].Hit
	}
	return n
}

// String is the table, and under it the sums of each fault.
func (c *chaosTable) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(store, fault string, f chaos.Tally, violations string) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", store, fault, f.Injected, f.Hit, f.Calls.OK, f.Calls.Fail, f.Calls.Info, violations)
	}
	fmt.Fprintln(w, "store\tfault\tinjected\thit\tok\tfail\tunknown\tviolations")
	all := map[string]chaos.Tally{}
	for _, store := range slices.Sorted(maps.Keys(c.rows)) {
		row := c.rows[store]
		total := chaos.Tally{Calls: row.calls}
		for _, name := range slices.Sorted(maps.Keys(row.faults)) {
			f := row.faults[name]
			line(store, name, f, "")
			total.Injected, total.Hit = total.Injected+f.Injected, total.Hit+f.Hit
			all[name] = chaos.Tally{Injected: all[name].Injected + f.Injected, Hit: all[name].Hit + f.Hit, Calls: all[name].Calls.Plus(f.Calls)}
		}
		violations := fmt.Sprint(len(row.violated))
		if len(row.deviated) > 0 {
			violations += fmt.Sprintf(", and %d declared (%s)", len(row.deviated), strings.Join(slices.Compact(slices.Sorted(slices.Values(row.deviated))), ", "))
		}
		line(store, fmt.Sprintf("all of %d campaigns", row.campaigns), total, violations)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		line("all", name, all[name], "")
	}
	w.Flush()
	return b.String()
}
