package integration

import (
	"testing"

	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestPostgresConformance checks the backend on a real PostgreSQL, which is
// crashed if it was started here.
func TestPostgresConformance(t *testing.T) {
	srv := server.Postgres(t)
	if srv.Started() {
		srv = server.StartPostgres(t, "synchronous_commit=on")
	}
	db := postgresOn(t, srv, srv.Database(t))
	var c sqlClient
	c.share(t, db)
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
		return crashes(sqlHarness(t, db.table(t), c), srv)
	})
}
