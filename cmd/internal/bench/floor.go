package bench

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"

	"github.com/leasekit/lease/cmd/internal/target"
)

// trip is a kind of bare round trip.
type trip int

const (
	write trip = iota // a no-op script, a raw upsert, a change in a map under a mutex
	read              // a no-op script, SELECT 1, a look into a map under a mutex
)

// floor makes bare round trips to a store, over the connections of a client.
type floor func(ctx context.Context, kind trip, key string) error

// newFloor needs a name for a table of its own in a SQL database; drop it after use.
func newFloor(ctx context.Context, c *target.Client, table string) (floor, error) {
	switch {
	case c.Redis != nil:
		return redisFloor(ctx, c.Redis)
	case c.DB != nil:
		return sqlFloor(ctx, c.DB, c.Dialect, table)
	}
	return memoryFloor(), nil
}

// redisFloor runs a script that does nothing. It names two keys, as the scripts of a
// lease do, under which nothing is stored.
func redisFloor(ctx context.Context, client redis.UniversalClient) (floor, error) {
	noop := redis.NewScript("return {'ok'}")
	trip := func(ctx context.Context, _ trip, key string) error {
		return noop.EvalSha(ctx, client, []string{"{" + key + "}l", "{" + key + "}n"}).Err()
	}
	load := noop.Load(ctx, client).Err()
	if cluster, ok := client.(*redis.ClusterClient); ok {
		load = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			return noop.Load(ctx, node).Err()
		})
	}
	if load != nil {
		return nil, fmt.Errorf("load a script that does nothing: %w", load)
	}
	return trip, nil
}

// floorSQL is how a dialect makes a table of keys and figures, and raises one.
var floorSQL = map[sqllease.Dialect]struct{ create, upsert string }{
	sqllease.PostgreSQL: {
		"CREATE TABLE %s (k bytea PRIMARY KEY, n bigint NOT NULL)",
		"INSERT INTO %s AS f VALUES ($1, 1) ON CONFLICT (k) DO UPDATE SET n = f.n + 1",
	},
	sqllease.MariaDB: {
		"CREATE TABLE %s (k VARBINARY(512) PRIMARY KEY, n BIGINT NOT NULL)",
		"INSERT INTO %s VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1",
	},
	sqllease.MySQL: {
		"CREATE TABLE %s (k VARBINARY(512) PRIMARY KEY, n BIGINT NOT NULL)",
		"INSERT INTO %s VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1",
	},
	sqllease.SQLite: {
		"CREATE TABLE %s (k BLOB PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID",
		"INSERT INTO %s VALUES (?, 1) ON CONFLICT (k) DO UPDATE SET n = n + 1",
	},
}

func sqlFloor(ctx context.Context, db *sql.DB, d sqllease.Dialect, table string) (floor, error) {
	text := floorSQL[d]
	if _, err := db.ExecContext(ctx, fmt.Sprintf(text.create, table)); err != nil {
		return nil, fmt.Errorf("create the table %s: %w", table, err)
	}
	upsert := fmt.Sprintf(text.upsert, table)
	return func(ctx context.Context, kind trip, key string) error {
		if kind == write {
			_, err := db.ExecContext(ctx, upsert, []byte(key))
			return err
		}
		var one int
		return db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
	}, nil
}

// memoryFloor is a map and a mutex, and nothing else: no clock, no checks.
func memoryFloor() floor {
	var mu sync.Mutex
	records := map[string]*int64{}
	return func(_ context.Context, kind trip, key string) error {
		mu.Lock()
		defer mu.Unlock()
		n := records[key]
		if kind == read {
			return nil
		}
		if n == nil {
			n = new(int64)
			records[key] = n
		}
		*n++
		return nil
	}
}
