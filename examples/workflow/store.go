package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	redislease "github.com/leasekit/lease/impl/redis"
)

// addresses says what can be the address of a store.
const addresses = `memory                       of the process that starts the workers
sqlite:FILE                  a SQLite database
postgres://USER@HOST:PORT/DB PostgreSQL
mariadb:USER@tcp(HOST:PORT)/DB MariaDB
redis://HOST:PORT            Redis`

// openLeases connects to a store of leases.
func openLeases(ctx context.Context, address, namespace string) (lease.Service, error) {
	if client, err := dialHub(address); client != nil || err != nil {
		return client, err
	}
	if client, err := openRedis(address); client != nil || err != nil {
		return redislease.New(client, &redislease.Options{Prefix: "{" + namespace + "}:lease:"}), err
	}
	db, dialect, err := openSQL(address)
	if err != nil {
		return nil, err
	}
	s, err := sqllease.New(db, dialect, &sqllease.Options{Namespace: namespace})
	if err != nil {
		return nil, err
	}
	return s, s.Migrate(ctx)
}

// openData connects to a store of data.
func openData(ctx context.Context, address, namespace string) (fence.Resource, error) {
	if client, err := dialHub(address); client != nil || err != nil {
		return client, err
	}
	if client, err := openRedis(address); client != nil || err != nil {
		return redislease.NewFence(client, &redislease.FenceOptions{Prefix: "{" + namespace + "}:data:"}), err
	}
	db, dialect, err := openSQL(address)
	if err != nil {
		return nil, err
	}
	f, err := sqllease.NewFence(db, dialect, &sqllease.FenceOptions{Namespace: namespace})
	if err != nil {
		return nil, err
	}
	return f, f.Migrate(ctx)
}

func openRedis(address string) (redis.UniversalClient, error) {
	if !strings.HasPrefix(address, "redis:") {
		return nil, nil
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", address, err)
	}
	return redis.NewClient(o), nil
}

func openSQL(address string) (*sql.DB, sqllease.Dialect, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		db, err := sql.Open("sqlite", "file:"+rest+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
		return db, sqllease.SQLite, err
	case "postgres", "postgresql":
		db, err := sql.Open("pgx", address)
		return db, sqllease.PostgreSQL, err
	case "mariadb":
		db, err := sql.Open("mysql", rest)
		return db, sqllease.MariaDB, err
	}
	return nil, 0, fmt.Errorf("no kind of store has the address %q; there is\n%s", address, addresses)
}

// unfenced is a data store that takes whatever comes, as most do.
type unfenced struct{ fence.Resource }

func (u unfenced) Write(ctx context.Context, key string, token int64, value string) error {
	for {
		_, highest, err := u.Read(ctx, key)
		if err != nil {
			return err
		}
		if err := u.Resource.Write(ctx, key, max(token, highest), value); !errors.Is(err, fence.ErrStale) {
			return err
		}
	}
}
