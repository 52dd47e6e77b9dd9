package integration

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
)

// BenchmarkRatio prints what each call costs as a multiple of a yardstick: one raw
// upsert that returns its row, or, on Redis, a script that does nothing. Both go
// over the same single connection, in turns, so that whatever else the machine does
// hits both alike. The ratios are those of the medians.
func BenchmarkRatio(b *testing.B) {
	b.Run("PostgreSQL", func(b *testing.B) {
		tab := postgresServer(b).table(b)
		db := tab.open(b, sqlClient{})
		tab.do(b, "CREATE TABLE raw (k bytea PRIMARY KEY, v bytea NOT NULL, n bigint NOT NULL)")
		sqlRatios(b, db, tab.serviceOn(b, db, ""),
			"INSERT INTO raw VALUES ($1, $2, 1) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v, n = raw.n + 1 RETURNING n", []byte("key"), []byte("value"))
	})
	for _, d := range []sqllease.Dialect{sqllease.MariaDB, sqllease.MySQL} {
		b.Run(d.String(), func(b *testing.B) {
			tab := mariadbServer(b).as(d).table(b)
			db := tab.open(b, sqlClient{})
			tab.do(b, "CREATE TABLE raw (k VARBINARY(512) PRIMARY KEY, v VARBINARY(512) NOT NULL, n BIGINT NOT NULL)")
			sqlRatios(b, db, tab.serviceOn(b, db, ""),
				"INSERT INTO raw VALUES (X'6b6579', X'76616c7565', 1) ON DUPLICATE KEY UPDATE v = VALUES(v), n = n + 1 RETURNING n")
		})
	}
	b.Run("SQLite", func(b *testing.B) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "leases.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { db.Close() })
		s, err := sqllease.New(db, sqllease.SQLite, nil)
		if err == nil {
			err = s.Migrate(context.Background())
		}
		if err == nil {
			_, err = db.ExecContext(context.Background(), "CREATE TABLE raw (k BLOB PRIMARY KEY, v BLOB NOT NULL, n INTEGER NOT NULL) STRICT, WITHOUT ROWID")
		}
		if err != nil {
			b.Fatal(err)
		}
		sqlRatios(b, db, s, "INSERT INTO raw VALUES (?1, ?2, 1) ON CONFLICT (k) DO UPDATE SET v = excluded.v, n = raw.n + 1 RETURNING n", []byte("key"), []byte("value"))
	})
	b.Run("Redis", func(b *testing.B) {
		s, client, _ := redisService(b)
		noop := redis.NewScript("return {'ok'}")
		ctx := context.Background()
		if err := noop.Load(ctx, client).Err(); err != nil {
			b.Fatal(err)
		}
		ratios(b, s, func() error { return noop.EvalSha(ctx, client, []string{"{k}l", "{k}n"}).Err() })
	})
}

// sqlRatios has one connection serve all.
func sqlRatios(b *testing.B, db *sql.DB, s lease.Service, upsert string, args ...any) {
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	ratios(b, s, func() error {
		var n int64
		return db.QueryRowContext(ctx, upsert, args...).Scan(&n)
	})
}

// ratios makes each call and the yardstick in turns.
func ratios(b *testing.B, s lease.Service, yardstick func() error) {
	ctx := context.Background()
	held, free := acquire(b, s, "held", "a", time.Hour), lease.Lease{}
	steps := []struct {
		name string
		do   func() error
	}{
		{"yardstick", yardstick},
		{"acquire", func() (err error) { free, err = s.Acquire(ctx, "free", "a", time.Hour); return err }},
		{"release", func() error { return s.Release(ctx, free) }},
		{"refused", func() error { _, err := s.Acquire(ctx, "held", "b", time.Hour); return ignore(err, lease.ErrHeld) }},
		{"renew", func() error { _, err := s.Renew(ctx, held, time.Hour); return err }},
		{"get", func() error { _, err := s.Get(ctx, "held"); return err }},
	}
	times := make([][]time.Duration, len(steps))
	for range b.N {
		for i, step := range steps {
			began := time.Now()
			if err := step.do(); err != nil {
				b.Fatal(fmt.Errorf("%s: %w", step.name, err))
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return float64(times[i][len(times[i])/2])
	}
	raw := median(0)
	b.ReportMetric(raw/1e3, "µs/yardstick")
	b.ReportMetric(0, "ns/op")
	for i, step := range steps[1:] {
		b.ReportMetric(median(i+1)/raw, step.name+"/yardstick")
	}
}
