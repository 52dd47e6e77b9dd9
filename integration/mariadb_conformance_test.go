package integration

import (
	"testing"

	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestMariaDBConformance checks the backend on a real MariaDB, which is crashed if
// it was started here.
func TestMariaDBConformance(t *testing.T) { checkMariaDB(t, sqllease.MariaDB) }

// TestMySQLStatementsConformance checks the statements for MySQL on MariaDB,
// which is not MySQL, but understands them.
func TestMySQLStatementsConformance(t *testing.T) { checkMariaDB(t, sqllease.MySQL) }

func checkMariaDB(t *testing.T, d sqllease.Dialect) {
	srv := server.MariaDB(t)
	if srv.Started() {
		srv = server.StartMariaDB(t)
	}
	db := mariadbOn(t, srv, srv.Database(t)).as(d)
	var c sqlClient
	c.share(t, db)
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
		return crashes(sqlHarness(t, db.table(t), c), srv)
	})
}
