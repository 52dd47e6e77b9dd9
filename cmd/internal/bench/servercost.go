package bench

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/cmd/internal/target"
)

// serverTime reads how long a server has spent so far on what a run asks of it, by
// kinds of work, in µs. It returns nil where the server does not tell.
type serverTime func(ctx context.Context) map[string]float64

// newServerTime finds out whether the server tells. The tables are those of the run in a
// SQL database.
func newServerTime(ctx context.Context, c *target.Client, t *target.Target, tables []string) serverTime {
	switch {
	case t.Embedded:
	case c.Redis != nil:
		return func(ctx context.Context) map[string]float64 { return redisTime(ctx, c.Redis) }
	case t.Kind == target.PostgreSQL && hasStatements(ctx, c.DB):
		return func(ctx context.Context) map[string]float64 { return postgresTime(ctx, c.DB, tables) }
	}
	return func(context.Context) map[string]float64 { return nil }
}

// works are the kinds of work that calls of a workload are on the server, for the
// floor and for the lease.
func (s *store) works(w *Workload) (ofFloor, ofLease []string) {
	if s.client.DB == nil {
		script := []string{"evalsha", "eval"}
		return script, script
	}
	floor, own := s.tables[:1], s.tables[1:]
	if slices.Contains(w.floor, read) {
		floor = nil // SELECT 1 has no table, and others ask it too
	}
	return floor, own
}

// hasStatements tells whether a PostgreSQL counts statements, where this user sees it.
func hasStatements(ctx context.Context, db *sql.DB) bool {
	var n int
	return db.QueryRowContext(ctx, "SELECT count(*) FROM pg_extension WHERE extname = 'pg_stat_statements'").Scan(&n) == nil && n > 0 &&
		db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_statements").Scan(&n) == nil
}

// postgresTime reads how long a PostgreSQL has spent so far on executing statements
// that name a table, as a whole word, by table. It counts neither their planning nor
// what is left to do for the commit.
func postgresTime(ctx context.Context, db *sql.DB, tables []string) map[string]float64 {
	total := map[string]float64{}
	for _, table := range tables {
		var ms float64
		err := db.QueryRowContext(ctx, "SELECT coalesce(sum(total_exec_time), 0) FROM pg_stat_statements WHERE query ~ ('\\m' || $1::text || '\\M')", table).Scan(&ms)
		if err != nil {
			return nil
		}
		total[table] = ms * 1000
	}
	return total
}

// redisTime reads how long a Redis has spent so far on commands, by their names; of a
// cluster all masters together. A script's time includes that of the commands that it
// calls, which are counted under their own names too.
func redisTime(ctx context.Context, client redis.UniversalClient) map[string]float64 {
	total := map[string]float64{}
	if cluster, ok := client.(*redis.ClusterClient); ok {
		var mu sync.Mutex
		err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			text, err := node.Info(ctx, "commandstats").Result()
			mu.Lock()
			defer mu.Unlock()
			addCommandStats(total, text)
			return err
		})
		if err != nil || len(total) == 0 {
			return nil
		}
		return total
	}
	text, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return nil
	}
	addCommandStats(total, text)
	if len(total) == 0 {
		return nil
	}
	return total
}

// addCommandStats adds lines such as
// "cmdstat_evalsha:calls=3,usec=120,usec_per_call=40.00,…".
func addCommandStats(total map[string]float64, text string) {
	for line := range strings.Lines(text) {
		name, fields, ok := strings.Cut(strings.TrimSpace(line), ":")
		name, isStat := strings.CutPrefix(name, "cmdstat_")
		if !ok || !isStat {
			continue
		}
		for field := range strings.SplitSeq(fields, ",") {
			if text, ok := strings.CutPrefix(field, "usec="); ok {
				us, _ := strconv.ParseFloat(text, 64)
				total[strings.ToLower(name)] += us
			}
		}
	}
}
