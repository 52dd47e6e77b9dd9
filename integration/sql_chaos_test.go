package integration

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/integration/server"
)

// sqlChaos is a database for campaigns, each on a table of its own.
type sqlChaos struct {
	clocked
	dialect sqllease.Dialect
	connect func(dial chaos.Dial) (driver.Connector, error) // nil: without a link
	admin   *sql.DB
	faults  func(table string) []chaos.Kind
}

// target makes a table for a campaign.
func (c *sqlChaos) target(t *testing.T, name string) chaos.Target {
	t.Helper()
	table := "leases_" + strings.ToLower(rand.Text())
	service := func(db *sql.DB) (*sqllease.Service, error) {
		return sqllease.New(db, c.dialect, &sqllease.Options{Table: table})
	}
	s, err := service(c.admin)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(patient(t)); err != nil {
		t.Fatal(err)
	}
	target := chaos.Target{
		Name: name,
		Connect: func(dial chaos.Dial) (lease.Service, func() error, error) {
			connector, err := c.connect(dial)
			if err != nil {
				return nil, nil, err
			}
			db := sql.OpenDB(connector)
			s, err := service(db)
			return s, db.Close, err
		},
		Match:      namesKey,
		Faults:     c.faults(table),
		LateCommit: true,
		Redates:    true,
	}
	if clock := c.Clock(); clock != nil {
		clock.Reset()
		target.Clock = clock
	}
	return target
}

// namesKey tells the requests of a campaign's calls from what a driver says of
// itself: the names of keys begin so, as they are or in hexadecimal.
func namesKey(request []byte) bool {
	return bytes.Contains(request, []byte("key-")) || bytes.Contains(request, []byte(fmt.Sprintf("%x", "key-")))
}

func openPostgres(settings ...string) func(*testing.T, string) func() chaos.Target {
	return func(t *testing.T, name string) func() chaos.Target {
		srv := server.StartPostgres(t, settings...)
		c := &sqlChaos{clocked: srv, dialect: sqllease.PostgreSQL}
		c.connect = func(dial chaos.Dial) (driver.Connector, error) {
			cfg, err := pgx.ParseConfig(srv.DSN())
			if err != nil {
				return nil, errors.New("the DSN of PostgreSQL is broken")
			}
			if dial != nil {
				cfg.DialFunc = dial
			} else {
				cfg.RuntimeParams["synchronous_commit"] = "on" // or a crash may lose the table
			}
			return stdlib.GetConnector(*cfg), nil
		}
		c.open(t)
		p := srv.Process()
		c.faults = func(table string) []chaos.Kind {
			return append(chaos.ProcessKinds(p), c.locking("BEGIN; LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE", "ROLLBACK"),
				c.killing(`SELECT count(*) FROM (SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
					WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS all_others WHERE ended`),
				immediateStop(p))
		}
		return func() chaos.Target { return c.target(t, name) }
	}
}

func openMariaDB(args ...string) func(*testing.T, string) func() chaos.Target {
	return func(t *testing.T, name string) func() chaos.Target {
		srv := server.StartMariaDB(t, args...)
		dsn := srv.Database(t)
		c := &sqlChaos{clocked: srv, dialect: sqllease.MariaDB}
		c.connect = func(dial chaos.Dial) (driver.Connector, error) {
			cfg, err := mysql.ParseDSN(dsn)
			if err != nil {
				return nil, errors.New("the DSN of MariaDB is broken")
			}
			cfg.Logger = &mysql.NopLogger{}
			if dial != nil {
				cfg.DialFunc = dial
			}
			return mysql.NewConnector(cfg)
		}
		c.open(t)
		c.faults = func(table string) []chaos.Kind {
			return append(chaos.ProcessKinds(srv.Process()),
				c.locking("LOCK TABLES "+table+" WRITE", "UNLOCK TABLES"),
				c.killingEach("SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND command <> 'Daemon' AND user <> 'system user'", "KILL CONNECTION %d"),
			)
		}
		return func() chaos.Target {
			target := c.target(t, name)
			target.Unflushed = true
			return target
		}
	}
}

func (c *sqlChaos) open(t *testing.T) {
	connector, err := c.connect(nil)
	if err != nil {
		t.Fatal(err)
	}
	c.admin = sql.OpenDB(connector)
	// A server that was killed has ended connections that the pool still holds.
	c.admin.SetMaxIdleConns(-1)
	t.Cleanup(func() { c.admin.Close() })
}

// locking holds the whole table, on a connection of its own.
func (c *sqlChaos) locking(lock, unlock string) chaos.Kind {
	return chaos.Kind{Name: "store/lock-table", On: chaos.OnStore, Slow: true, Make: func(s chaos.Scene, _ *mathrand.Rand) chaos.Fault {
		var conn *sql.Conn
		waited := chaos.Waiting(s.Links)
		return &chaos.Store{
			Title: "store/lock-table",
			Begin: func(ctx context.Context) (err error) {
				if conn, err = c.admin.Conn(ctx); err != nil {
					return err
				}
				for _, statement := range strings.Split(lock, "; ") {
					if _, err = conn.ExecContext(ctx, statement); err != nil {
						return err
					}
				}
				waited.Begin()
				return nil
			},
			End: func(ctx context.Context) error {
				waited.End()
				if conn == nil {
					return nil
				}
				_, err := conn.ExecContext(ctx, unlock)
				return errors.Join(err, conn.Close())
			},
			Count: waited.Hits,
		}
	}}
}

// killing ends the connections of all clients by one statement that counts them.
func (c *sqlChaos) killing(statement string) chaos.Kind {
	return chaos.Kind{Name: "store/client-kill", On: chaos.OnStore, Make: func(chaos.Scene, *mathrand.Rand) chaos.Fault {
		killed := 0
		return &chaos.Store{
			Title: "store/client-kill",
			Begin: func(ctx context.Context) error { return c.admin.QueryRowContext(ctx, statement).Scan(&killed) },
			Count: func() int { return killed },
		}
	}}
}

// killingEach ends the connections that list names, by a statement for each.
func (c *sqlChaos) killingEach(list, kill string) chaos.Kind {
	return chaos.Kind{Name: "store/client-kill", On: chaos.OnStore, Make: func(chaos.Scene, *mathrand.Rand) chaos.Fault {
		killed := 0
		return &chaos.Store{
			Title: "store/client-kill",
			Begin: func(ctx context.Context) error {
				rows, err := c.admin.QueryContext(ctx, list)
				if err != nil {
					return err
				}
				defer rows.Close()
				var ids []int64
				for rows.Next() {
					var id int64
					if err := rows.Scan(&id); err != nil {
						return err
					}
					ids = append(ids, id)
				}
				for _, id := range ids {
					// Some have gone meanwhile.
					if _, err := c.admin.ExecContext(ctx, fmt.Sprintf(kill, id)); err == nil {
						killed++
					}
				}
				return rows.Err()
			},
			Count: func() int { return killed },
		}
	}}
}

// immediateStop ends a PostgreSQL as pg_ctl stop -m immediate does: without a
// checkpoint, and with a farewell to its clients.
func immediateStop(p chaos.Process) chaos.Kind {
	return chaos.Kind{Name: "store/immediate-stop", On: chaos.OnStore, Often: 2, Loses: "TOKEN-10", Make: func(s chaos.Scene, _ *mathrand.Rand) chaos.Fault {
		kill := chaos.Kill(gone{p}, s.Links...)
		return &chaos.Store{Title: "store/immediate-stop", Can: kill.Available, Begin: kill.Start, End: kill.Heal, Count: kill.Hits}
	}}
}

// gone is a process that is killed by SIGQUIT.
type gone struct{ chaos.Process }

func (p gone) Kill() error {
	pid, err := p.Pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		return err
	}
	over, again := time.After(10*time.Second), time.NewTicker(time.Millisecond)
	defer again.Stop()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-again.C:
		case <-over:
			return errors.New("the server does not stop")
		}
	}
	return p.Process.Kill() // what it may have left
}
