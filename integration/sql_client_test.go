package integration

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/internal/sqlproxy"
	"github.com/leasekit/lease/leasetest"
)

// sqlServer is a database of a test's own on a server, with what the test says to
// it in its own SQL.
type sqlServer struct {
	clocked
	dialect sqllease.Dialect
	connect func(t testing.TB, c sqlClient) driver.Connector
	admin   *sql.DB // for what the test has to do behind the service's back

	arg     func(n int) string // the n-th argument of a statement
	none    string             // the empty name
	nul     string             // the name "a\x00b"
	alter   map[string]string  // ways to spoil a table
	clock   string             // an expression: µs since 1970, fresh
	end     time.Time          // the server can't live to see it; zero: it lives for ever
	waiting string             // counts the sessions that wait for a lock
}

// sqlClient is how a client is to be made. Zero fields mean: as always.
type sqlClient struct {
	dial dialer
	// settings are of the session, name and value as SQL.
	settings map[string]string
	postgres func(*pgx.ConnConfig)
	mysql    func(*mysql.Config)
	pass     func(query string) string // for sqlproxy

	// shared saves connections: it is the pool of all clients but those that dial
	// in a way of their own or are in a bubble. Nil: each has its own.
	shared *sql.DB
}

// postgresServer is a new database on the shared PostgreSQL. The options are those
// of CREATE DATABASE.
func postgresServer(t testing.TB, options ...string) *sqlServer {
	t.Helper()
	srv := server.Postgres(t)
	return postgresOn(t, srv, srv.Database(t, options...))
}

// postgresOn is the database of a PostgreSQL that dsn names.
func postgresOn(t testing.TB, srv clocked, dsn string) *sqlServer {
	t.Helper()
	s := &sqlServer{
		clocked: srv,
		dialect: sqllease.PostgreSQL,
		connect: func(t testing.TB, c sqlClient) driver.Connector {
			t.Helper()
			cfg, err := pgx.ParseConfig(dsn)
			if err != nil {
				t.Fatal("the DSN of PostgreSQL is broken")
			}
			if c.dial != nil {
				cfg.DialFunc = c.dial
			}
			maps.Copy(cfg.RuntimeParams, c.settings)
			if c.postgres != nil {
				c.postgres(cfg)
			}
			return stdlib.GetConnector(*cfg)
		},
		arg:  func(n int) string { return fmt.Sprint("$", n) },
		none: `'\x'::bytea`,
		nul:  `'\x610062'::bytea`,
		alter: map[string]string{
			"a column missing":         "RENAME COLUMN expires TO until",
			"a column of another type": "ALTER COLUMN expires TYPE text USING 'soon'",
			"a token that may be null": "ALTER COLUMN token DROP NOT NULL, ALTER COLUMN token TYPE bigint USING NULL",
		},
		clock:   "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		waiting: "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
	}
	s.admin = s.open(t, sqlClient{})
	return s
}

// mariadbServer is a new database on the shared MariaDB. The options are those of
// CREATE DATABASE.
func mariadbServer(t testing.TB, options ...string) *sqlServer {
	t.Helper()
	srv := server.MariaDB(t)
	return mariadbOn(t, srv, srv.Database(t, options...))
}

// mariadbOn is the database of a MariaDB that dsn names.
func mariadbOn(t testing.TB, srv clocked, dsn string) *sqlServer {
	t.Helper()
	s := &sqlServer{
		clocked: srv,
		dialect: sqllease.MariaDB,
		connect: func(t testing.TB, c sqlClient) driver.Connector {
			t.Helper()
			cfg, err := mysql.ParseDSN(dsn)
			if err != nil {
				t.Fatal("the DSN of MariaDB is broken")
			}
			cfg.Logger = &mysql.NopLogger{}
			if c.dial != nil {
				cfg.DialFunc = c.dial
			}
			cfg.Params = c.settings
			if c.mysql != nil {
				c.mysql(cfg)
			}
			connector, err := mysql.NewConnector(cfg)
			if err != nil {
				t.Fatal(err)
			}
			return connector
		},
		arg:  func(int) string { return "?" },
		none: "X''",
		nul:  "X'610062'",
		alter: map[string]string{
			"a column missing":         "RENAME COLUMN expires TO until",
			"a column of another type": "DROP COLUMN expires, ADD COLUMN expires VARCHAR(20) NOT NULL DEFAULT 'soon'",
		},
		// From 2038-01-19 on a MariaDB older than 11.5 shuts itself down.
		end:     time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC),
		clock:   "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))",
		waiting: "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'",
	}
	s.admin = s.open(t, sqlClient{})
	return s
}

// as is the same server, used in another dialect.
func (s *sqlServer) as(d sqllease.Dialect) *sqlServer {
	other := *s
	other.dialect = d
	return &other
}

func (s *sqlServer) open(t testing.TB, c sqlClient) *sql.DB {
	t.Helper()
	connector := s.connect(t, c)
	if c.pass != nil {
		connector = &sqlproxy.Connector{Connector: connector, Pass: c.pass}
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// share lets clients share a pool where they can.
func (c *sqlClient) share(t testing.TB, s *sqlServer) {
	t.Helper()
	c.shared = s.open(t, *c)
	c.shared.SetMaxIdleConns(16)
}

// sqlTable is a table of a test's own on a server.
type sqlTable struct {
	*sqlServer
	name string
}

func (s *sqlServer) table(t testing.TB) *sqlTable {
	t.Helper()
	tab := &sqlTable{sqlServer: s, name: "leases_" + strings.ToLower(rand.Text())}
	if err := tab.serviceOn(t, tab.admin, "").Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return tab
}

func (tab *sqlTable) service(t testing.TB, c sqlClient, namespace string) *sqllease.Service {
	t.Helper()
	if c.shared != nil && c.dial == nil && skew() == 0 {
		return tab.serviceOn(t, c.shared, namespace)
	}
	return tab.serviceOn(t, tab.open(t, c), namespace)
}

func (tab *sqlTable) serviceOn(t testing.TB, db *sql.DB, namespace string) *sqllease.Service {
	t.Helper()
	s, err := sqllease.New(db, tab.dialect, &sqllease.Options{Table: tab.name, Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do runs a statement that the test itself needs. {table}, {1} and {2} in it are
// the table and the arguments.
func (tab *sqlTable) do(t testing.TB, query string, args ...any) {
	t.Helper()
	if _, err := tab.admin.ExecContext(context.Background(), tab.text(query), args...); err != nil {
		t.Errorf("%s: %v", query, err)
	}
}

func (tab *sqlTable) text(query string) string {
	return strings.NewReplacer("{table}", tab.name, "{1}", tab.arg(1), "{2}", tab.arg(2)).Replace(query)
}

func (tab *sqlTable) int(t testing.TB, query string) (n int64) {
	t.Helper()
	if err := tab.admin.QueryRowContext(context.Background(), tab.text(query)).Scan(&n); err != nil {
		t.Errorf("%s: %v", query, err)
	}
	return n
}

// now is the server clock.
func (tab *sqlTable) now(t testing.TB) time.Time {
	return time.UnixMicro(tab.int(t, "SELECT "+tab.clock))
}

// pass lets the server clock reach an instant, by moving it if it can be moved.
func (tab *sqlTable) pass(t testing.TB, end time.Time) {
	t.Helper()
	for now := tab.now(t); now.Before(end); now = tab.now(t) {
		if c := tab.Clock(); c != nil {
			c.Move(end.Sub(now))
		}
		if t.Failed() {
			return
		}
	}
}

// setClock gives the server clock to the suite, or says what can't be checked
// without it. It runs on the system's time again after the test.
func (tab *sqlTable) setClock(t testing.TB, h *leasetest.Harness) {
	c := tab.Clock()
	if c == nil {
		cantCheck(h, tab.WhyNoClock(), moveClauses...)
		h.Clock = &leasetest.Clock{Now: func() time.Time { return tab.now(t) }}
		return
	}
	t.Cleanup(c.Reset)
	sc := suiteClock(c, time.Microsecond)
	if !tab.end.IsZero() {
		c.Move(tab.end.AddDate(-yearsOfSuite, 0, 0).Sub(c.Now()))
		sc.Move = func(d time.Duration) {
			if c.Now().Add(d).Before(tab.end) {
				c.Move(d)
			}
		}
	}
	h.Clock = sc
}

// yearsOfSuite is how far ahead the examples of the suite move the clock, and some.
// It leaves them a decade to move it back, and still be in 1971 or later.
const yearsOfSuite = 55
