package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
)

// What leasecheck does to a store itself: it reads the clock, raises a counter, and
// removes what it stored. The layouts are those in the documentation of packages
// redislease and sqllease.

// dialect is what leasecheck says to a database in its own SQL.
type dialect struct {
	clock string // an expression: µs since 1970
	seed  string // the values of a row: namespace, name, holder, token, expiry
}

var dialects = map[sqllease.Dialect]dialect{
	sqllease.PostgreSQL: {"(extract(epoch FROM clock_timestamp()) * 1000000)::bigint", "$1, $2, $3, $4, 0"},
	sqllease.MySQL:      mysqlDialect,
	sqllease.MariaDB:    mysqlDialect,
	sqllease.SQLite:     {"CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000", "?, ?, ?, ?, 0"},
}

var mysqlDialect = dialect{
	"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))",
	"?, ?, ?, ?, 0",
}

// now reads the server clock.
func (s *store) now(ctx context.Context) (time.Time, error) {
	if s.admin.Redis != nil {
		return s.admin.Redis.Time(ctx).Result()
	}
	var us int64
	err := s.admin.DB.QueryRowContext(ctx, "SELECT "+dialects[s.admin.Dialect].clock).Scan(&us)
	return time.UnixMicro(us), err
}

// seed raises the counter of a key that was never taken.
func (s *store) seed(ctx context.Context, namespace, key string, token int64) error {
	if s.admin.Redis != nil {
		return s.admin.Redis.Set(ctx, fmt.Sprintf("{%d:%s%s}n", len(namespace), namespace, key), token, 0).Err()
	}
	_, err := s.admin.DB.ExecContext(ctx, "INSERT INTO "+s.own+" (namespace, name, holder, token, expires) VALUES ("+
		dialects[s.admin.Dialect].seed+")", []byte(namespace), []byte(key), []byte("nobody"), token)
	return err
}

// tidy removes what was stored.
func (s *store) tidy(ctx context.Context) error {
	switch {
	case s.target.Embedded:
		return nil
	case s.admin.DB != nil:
		_, err := s.admin.DB.ExecContext(ctx, "DROP TABLE IF EXISTS "+s.own)
		return err
	}
	remove := func(ctx context.Context, c *redis.Client) error {
		keys := c.Scan(ctx, 0, "{*:"+s.own+"-*", 1000).Iterator()
		var failed error
		for keys.Next(ctx) {
			if err := c.Unlink(ctx, keys.Val()).Err(); err != nil && failed == nil {
				failed = err
			}
		}
		return errors.Join(failed, keys.Err())
	}
	switch c := s.admin.Redis.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, remove)
	case *redis.Client:
		return remove(ctx, c)
	}
	return fmt.Errorf("%s may still hold keys that begin with %s", s.target.Name, strings.TrimSuffix(s.own, "-"))
}
