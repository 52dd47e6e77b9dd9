package sqllease_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"github.com/leasekit/lease"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
)

// Two workers want the same job, and the second one gets it when the first has
// released it. PostgreSQL and MariaDB differ in the driver and the dialect alone:
//
//	db, err := sql.Open("pgx", "postgres://worker:secret@db.example/jobs")
//	leases, err := sqllease.New(db, sqllease.PostgreSQL, nil)
func Example() {
	dir, err := os.MkdirTemp("", "leases-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "leases.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	leases, err := sqllease.New(db, sqllease.SQLite, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := leases.Migrate(ctx); err != nil {
		log.Fatal(err)
	}

	first, err := leases.Acquire(ctx, "nightly-report", "worker-1", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Holder, "has token", first.Token)

	_, err = leases.Acquire(ctx, "nightly-report", "worker-2", 30*time.Second)
	fmt.Println("worker-2 is refused:", errors.Is(err, lease.ErrHeld))

	if err := leases.Release(ctx, first); err != nil {
		log.Fatal(err)
	}
	second, err := leases.Acquire(ctx, "nightly-report", "worker-2", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Holder, "has token", second.Token)

	// Output:
	// worker-1 has token 1
	// worker-2 is refused: true
	// worker-2 has token 2
}

func ExampleNew() {
	var db *sql.DB // one pool serves both

	reports, err := sqllease.New(db, sqllease.PostgreSQL, &sqllease.Options{Table: "jobs.leases", Namespace: "reports"})
	if err != nil {
		log.Print(err)
	}
	invoices, err := sqllease.New(db, sqllease.PostgreSQL, &sqllease.Options{Table: "jobs.leases", Namespace: "invoices"})
	if err != nil {
		log.Print(err)
	}

	// The two services share the table and nothing else.
	_, _ = reports, invoices
}
