package sqllease_test

import (
	"testing"
	"time"

	"github.com/leasekit/lease/impl/kysely-equivalent-sql/sqlitetest"
	"github.com/leasekit/lease/leasetest"
)

// TestConformance checks the backend on SQLite files, whose clock the suite
// moves. Module integration checks it on PostgreSQL and MariaDB.
func TestConformance(t *testing.T) {
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
		return sqlitetest.Harness(t, sqlitetest.New(t, "wal", 5*time.Second))
	})
}

// TestConformanceWithRollbackJournal is the same in SQLite's other mode.
func TestConformanceWithRollbackJournal(t *testing.T) {
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
		return sqlitetest.Harness(t, sqlitetest.New(t, "delete", 5*time.Second))
	})
}
