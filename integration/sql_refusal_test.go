package integration

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/leasekit/lease"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/integration/server"
)

// password must not be in any error.
const password = "hunter2"

// wantAdvice makes sure that err is an error that says nothing about leases, has no
// password in it, and says what can be done.
func wantAdvice(t testing.TB, what string, err error, advice string) {
	t.Helper()
	wantError(t, what, err)
	if err == nil {
		return
	}
	if !strings.Contains(err.Error(), advice) {
		t.Errorf("%s: the error %q does not say %q", what, err, advice)
	}
	if strings.Contains(err.Error(), password) {
		t.Errorf("%s: the error %q has the password", what, err)
	}
}

// calls makes each call on a service, as if l were the lease of its key.
func calls(s lease.Service, l lease.Lease) map[string]error {
	ctx := context.Background()
	errs := map[string]error{}
	_, errs["Acquire"] = s.Acquire(ctx, l.Key, l.Holder, time.Hour)
	_, errs["refused Acquire"] = s.Acquire(ctx, l.Key, "another", time.Hour)
	_, errs["Acquire of a new key"] = s.Acquire(ctx, "never taken", "another", time.Hour)
	_, errs["Renew"] = s.Renew(ctx, l, time.Hour)
	_, errs["Get"] = s.Get(ctx, l.Key)
	_, errs["Get of a new key"] = s.Get(ctx, "never taken")
	errs["Release"] = s.Release(ctx, l)
	return errs
}

// The rights that the documentation of package sqllease lists are enough, and
// without them the error is the server's.
func TestPostgresRights(t *testing.T) {
	tab := postgresServer(t).table(t)
	role := tab.name + "_role"
	tab.do(t, "CREATE ROLE "+role+" LOGIN PASSWORD '"+password+"'")
	t.Cleanup(func() { tab.do(t, "DROP OWNED BY "+role); tab.do(t, "DROP ROLE "+role) })
	checkRights(t, tab, sqlClient{postgres: func(cfg *pgx.ConnConfig) { cfg.User, cfg.Password = role, password }},
		"GRANT SELECT, INSERT, UPDATE ON {table} TO "+role)
}

func TestMariaDBRights(t *testing.T) {
	tab := mariadbServer(t).table(t)
	tab.do(t, "CREATE USER IF NOT EXISTS leaserole IDENTIFIED BY '"+password+"'")
	t.Cleanup(func() { tab.do(t, "DROP USER leaserole") })
	checkRights(t, tab, sqlClient{mysql: func(cfg *mysql.Config) { cfg.User, cfg.Passwd = "leaserole", password }},
		"GRANT SELECT, INSERT, UPDATE ON {table} TO leaserole")
}

func checkRights(t *testing.T, tab *sqlTable, c sqlClient, grant string) {
	svc := tab.service(t, c, "")
	l := acquire(t, tab.service(t, sqlClient{}, ""), "job", "a", time.Hour)
	for call, err := range calls(svc, l) {
		wantAdvice(t, call+" without rights", err, "grant it SELECT, INSERT and UPDATE")
	}
	tab.do(t, grant)
	if err := svc.Migrate(context.Background()); err != nil {
		t.Errorf("Migrate with the rights: %v", err)
	}
	checkLife(t, tab, svc, tab.service(t, sqlClient{}, ""))

	// A role like that can't make a table, and is told so.
	tab.do(t, "DROP TABLE {table}")
	wantAdvice(t, "Migrate with no table", svc.Migrate(context.Background()), "Migrate needs to create it")
}

// A server that takes no writes gives no answers either: they may be out of date.
func TestPostgresReadOnly(t *testing.T) {
	tab := postgresServer(t).table(t)
	l := acquire(t, tab.service(t, sqlClient{}, ""), "job", "a", time.Hour)
	svc := tab.service(t, sqlClient{settings: map[string]string{"default_transaction_read_only": "on"}}, "")
	for call, err := range calls(svc, l) {
		wantAdvice(t, call+" on a read-only server", err, "connect to the primary")
	}
}

func TestMariaDBReadOnly(t *testing.T) {
	srv := server.StartMariaDB(t)
	own := mariadbOn(t, srv, srv.Database(t))
	tab := own.table(t)
	l := acquire(t, tab.service(t, sqlClient{}, ""), "job", "a", time.Hour)
	tab.do(t, "CREATE USER leaseuser IDENTIFIED BY '"+password+"'")
	tab.do(t, "GRANT SELECT, INSERT, UPDATE ON {table} TO leaseuser")
	tab.do(t, "SET GLOBAL read_only = 1")
	t.Cleanup(func() { tab.do(t, "SET GLOBAL read_only = 0") })
	for _, d := range []sqllease.Dialect{sqllease.MariaDB, sqllease.MySQL} {
		tab := &sqlTable{sqlServer: own.as(d), name: tab.name}
		svc := tab.service(t, sqlClient{mysql: func(cfg *mysql.Config) { cfg.User, cfg.Passwd = "leaseuser", password }}, "")
		for call, err := range calls(svc, l) {
			wantAdvice(t, fmt.Sprintf("%v: %s on a read-only server", d, call), err, "connect to the primary")
		}
	}
}

func TestPostgresWrongTable(t *testing.T) { checkWrongTable(t, postgresServer(t)) }
func TestMariaDBWrongTable(t *testing.T)  { checkWrongTable(t, mariadbServer(t)) }
func TestMySQLStatementsWrongTable(t *testing.T) {
	checkWrongTable(t, mariadbServer(t).as(sqllease.MySQL))
}

// checkWrongTable has a service find no table, or another one.
func checkWrongTable(t *testing.T, s *sqlServer) {
	for way, alter := range s.alter {
		tab := s.table(t)
		svc := tab.service(t, sqlClient{}, "")
		l := acquire(t, svc, "job", "a", time.Hour)
		tab.do(t, "ALTER TABLE {table} "+alter)
		for call, err := range calls(svc, l) {
			// Without Migrate, a table is found to be another one when a row is.
			if !strings.HasSuffix(call, "of a new key") {
				wantError(t, call+" with "+way, err)
			}
		}
		wantAdvice(t, "Migrate with "+way, svc.Migrate(context.Background()), "set Options.Table to a name that is free")
	}
	tab := s.table(t)
	svc := tab.service(t, sqlClient{}, "")
	l := acquire(t, svc, "job", "a", time.Hour)
	tab.do(t, "DROP TABLE {table}")
	for call, err := range calls(svc, l) {
		wantAdvice(t, call+" without a table", err, "call Service.Migrate once")
	}
}

// The error for an address that leads nowhere is the driver's, and leads to no
// password.
func TestSQLWrongDSN(t *testing.T) {
	for _, c := range []struct {
		dialect     sqllease.Dialect
		driver, dsn string
		says        string
	}{
		{sqllease.PostgreSQL, "pgx", "postgres://lease:" + password + "@127.0.0.1:1/lease", "127.0.0.1:1"},
		{sqllease.PostgreSQL, "pgx", "postgres://lease:" + password + "@127.0.0.1:port/lease", "cannot parse"},
		{sqllease.MariaDB, "mysql", "lease:" + password + "@tcp(127.0.0.1:1)/lease", "127.0.0.1:1"},
		{sqllease.MariaDB, "mysql", "lease:" + password + "@127.0.0.1:1/lease", "127.0.0.1:1"},
	} {
		err := func() error {
			db, err := sql.Open(c.driver, c.dsn)
			if err != nil {
				return err
			}
			defer db.Close()
			svc, err := sqllease.New(db, c.dialect, nil)
			if err != nil {
				return err
			}
			for call, err := range calls(svc, lease.Lease{Key: "job", Holder: "a", Token: 1}) {
				wantAdvice(t, call+" at "+c.says, err, c.says)
			}
			return svc.Migrate(context.Background())
		}()
		wantAdvice(t, "Migrate at "+c.says, err, c.says)
	}
}

// A server that refuses the user says so.
func TestMariaDBWrongPassword(t *testing.T) {
	tab := mariadbServer(t).table(t)
	tab.do(t, "CREATE USER IF NOT EXISTS leasestranger IDENTIFIED BY 'another'")
	t.Cleanup(func() { tab.do(t, "DROP USER leasestranger") })
	svc := tab.service(t, sqlClient{mysql: func(cfg *mysql.Config) { cfg.User, cfg.Passwd = "leasestranger", password }}, "")
	wantAdvice(t, "Migrate with a wrong password", svc.Migrate(context.Background()), "let the user log in")
}
