// Package target opens the store that a command is pointed at: a DSN says which.
//
// [Open] reads the DSN, and starts what is embedded; [Target.Connect] makes clients
// of the store, each with connections of its own:
//
//	t, err := target.Open("redis://127.0.0.1:6379")
//	c, err := t.Connect(ctx, nil)
//	s, err := c.Service(ctx, "jobs")
//
// No error of this package contains a password.
package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/alicebob/miniredis/v2"

	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	memlease "github.com/leasekit/lease/impl/memory"
)

// Forms is what a DSN may look like, a form to a line, with what it means.
const Forms = `memory:                                  the memory of this process
embedded:redis                           a Redis in this process (miniredis), on loopback
embedded:sqlite                          SQLite in a temporary folder
redis://[user:password@]host:port[/db]   one Redis; rediss:// with TLS, unix:///path for a socket
redis+cluster://host:port[?addr=host:port&addr=…]
                                         a Redis Cluster; rediss+cluster:// with TLS
redis+sentinel://host:port[/db]?master_name=NAME[&addr=host:port…]
                                         a Redis behind Sentinel; rediss+sentinel:// with TLS
postgres://[user:password@]host:port/db  PostgreSQL
mysql://[user:password@]host:port/db     MySQL or MariaDB: the server says which; also mariadb://
sqlite:PATH                              SQLite in a file, which is made if there is none
`

// ErrDSN is returned when a DSN is none of [Forms]. The text says what is wrong.
var ErrDSN = errors.New("bad DSN")

// Kind is a kind of store.
type Kind string

// The kinds of stores.
const (
	Memory        Kind = "memory"
	Redis         Kind = "redis"
	RedisCluster  Kind = "redis cluster"
	RedisSentinel Kind = "redis sentinel"
	PostgreSQL    Kind = "postgres"
	MySQL         Kind = "mysql" // or MariaDB
	SQLite        Kind = "sqlite"
)

// IsRedis tells whether clients of the kind have a Redis client.
func (k Kind) IsRedis() bool { return k == Redis || k == RedisCluster || k == RedisSentinel }

// IsSQL tells whether clients of the kind have a SQL database.
func (k Kind) IsSQL() bool { return k == PostgreSQL || k == MySQL || k == SQLite }

// Target is a store that a DSN names.
type Target struct {
	// Name is the DSN as it may be shown: without user, password and options.
	Name string

	// Kind is what kind of store it is.
	Kind Kind

	// Embedded tells that the store lives and ends with this process.
	Embedded bool

	connect func(ctx context.Context, o Options) (*Client, error)
	close   func() error
}

// Options are the settings of a client. A nil *Options means the defaults.
type Options struct {
	// Conns is the most connections that the client opens, to each node. Default:
	// that of the driver, for a Redis 10 for each processor, for SQL no limit.
	Conns int

	// Table is the table that keeps the leases in a SQL database. Default that of
	// package sqllease.
	Table string

	// Dial makes the connections, where the store is reached by any. Default: the
	// driver's own. SQLite, the memory and a socket of Redis have none.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Open reads the DSN. It starts the store if that is embedded, and talks to no
// server. It fails with [ErrDSN], or if what is embedded can't be started.
func Open(dsn string) (*Target, error) {
	scheme, rest, ok := strings.Cut(dsn, ":")
	if !ok {
		return nil, fmt.Errorf("%w: it has no scheme, want one such as redis://127.0.0.1:6379", ErrDSN)
	}
	switch scheme {
	case "memory":
		if rest != "" {
			return nil, fmt.Errorf("%w: want memory: and nothing after it", ErrDSN)
		}
		return openMemory(), nil
	case "embedded":
		switch rest {
		case "redis":
			return openEmbeddedRedis()
		case "sqlite":
			return openEmbeddedSQLite()
		}
		return nil, fmt.Errorf("%w: want embedded:redis or embedded:sqlite", ErrDSN)
	case "redis", "rediss", "unix":
		return openRedis(dsn)
	case "redis+cluster", "rediss+cluster":
		return openRedisCluster(dsn)
	case "redis+sentinel", "rediss+sentinel":
		return openRedisSentinel(dsn)
	case "postgres", "postgresql":
		return openPostgres(dsn)
	case "mysql", "mariadb":
		return openMySQL(dsn)
	case "sqlite":
		return openSQLite(rest)
	}
	return nil, fmt.Errorf("%w: the scheme %.20q is unknown, want memory, embedded, redis, rediss, unix, redis+cluster, redis+sentinel, postgres, mysql or sqlite", ErrDSN, scheme)
}

// Connect makes a client of the store, and asks the server once, so that a wrong
// address or password shows at once.
func (t *Target) Connect(ctx context.Context, o *Options) (*Client, error) {
	if o == nil {
		o = &Options{}
	}
	c, err := t.connect(ctx, *o)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	return c, nil
}

// Close ends the store if it is embedded. Close the clients first.
func (t *Target) Close() error {
	if t.close == nil {
		return nil
	}
	return t.close()
}

func openMemory() *Target {
	store := memlease.New(nil)
	return &Target{Name: "memory:", Kind: Memory, Embedded: true, connect: func(context.Context, Options) (*Client, error) {
		return &Client{memory: store}, nil
	}}
}

func openEmbeddedRedis() (*Target, error) {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start the embedded Redis: %w", err)
	}
	t, err := openRedis("redis://" + server.Addr())
	if err != nil {
		server.Close()
		return nil, err
	}
	t.Name, t.Embedded = "embedded:redis", true
	t.close = func() error {
		server.Close()
		return nil
	}
	return t, nil
}

func openEmbeddedSQLite() (*Target, error) {
	dir, err := os.MkdirTemp("", "leases-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the embedded SQLite: %w", err)
	}
	t, err := openSQLite(dir + "/leases.db")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	t.Name, t.Embedded = "embedded:sqlite", true
	t.close = func() error { return os.RemoveAll(dir) }
	return t, nil
}

// oneLine makes the text of an error one line.
func oneLine(err error) error {
	text := err.Error()
	if !strings.ContainsAny(text, "\r\n") {
		return err
	}
	return &flat{text: strings.Join(strings.Fields(text), " "), err: err}
}

// flat is an error with another text.
type flat struct {
	text string
	err  error
}

func (e *flat) Error() string { return e.text }
func (e *flat) Unwrap() error { return e.err }

// dialects are what sqllease calls the kinds whose server need not be asked.
var dialects = map[Kind]sqllease.Dialect{PostgreSQL: sqllease.PostgreSQL, SQLite: sqllease.SQLite}
