package sqlitetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// Harness is the file for the suite. What it holds already makes no difference.
func Harness(t testing.TB, f *File) *leasetest.Harness {
	t.Helper()
	f.SetClock(time.Date(2031, 5, 6, 7, 8, 9, 123456000, time.UTC))
	f.Service(t, "")
	admin := f.DB(t)

	damage := map[string]func(t testing.TB, key string){}
	for way, set := range map[string]string{
		"a token of 0":              "token = 0",
		"a negative token":          "token = -1",
		"an expiry in s":            "expires = expires / 1000000",
		"an expiry in ns":           "expires = expires * 1000",
		"a negative expiry":         "expires = -expires",
		"an empty holder":           "holder = X''",
		"a holder with NUL":         "holder = X'610062'",
		"a holder that is too long": "holder = CAST('" + strings.Repeat("x", lease.MaxName+1) + "' AS BLOB)",
	} {
		damage[way] = func(t testing.TB, key string) {
			exec(t, admin, "UPDATE leases SET "+set+" WHERE name = ?", []byte(key))
		}
	}
	for way, alter := range map[string]string{
		"a column missing":     "RENAME COLUMN expires TO until",
		"a table of that name": "RENAME TO others",
	} {
		damage[way] = func(t testing.TB, key string) { exec(t, admin, "ALTER TABLE leases "+alter) }
	}
	return &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			return f.Service(t, w.Namespace)
		},
		Clock: &leasetest.Clock{
			Now:    f.Now,
			Move:   func(d time.Duration) { f.SetClock(f.Now().Add(d).Truncate(time.Microsecond)) },
			Freeze: func(bool) {}, // it always stands still
		},
		SeedToken: func(t testing.TB, key string, token int64) {
			exec(t, admin, "INSERT INTO leases VALUES (X'', ?, X'61', ?, 0)", []byte(key), token)
		},
		Damage: damage,
		// SQLite's clock has whole ms, and a grant ends at the ms after it.
		Resolution: 2 * time.Millisecond,
		// Another process that has the write lock.
		Block: func(t testing.TB, _ string) (waiting func() bool, unblock func()) {
			conn, err := admin.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			run := func(query string) {
				if _, err := conn.ExecContext(context.Background(), query); err != nil {
					t.Errorf("%s: %v", query, err)
				}
			}
			run("BEGIN IMMEDIATE; UPDATE leases SET expires = 0, token = token + 1")
			sent := f.Sent()
			return func() bool { return f.Sent() > sent }, func() { run("ROLLBACK"); conn.Close() }
		},
		Unchecked: map[string]string{
			"TOKEN-10": "a file crashes with its machine, which is more than a test may do",
			"EXPIRY-9": "a file crashes with its machine, which is more than a test may do",
			"ERR-5":    "a file crashes with its machine, which is more than a test may do",

			"ERR-1": "a file has no connection that could hang; the package's own tests end contexts while it is locked",
			"ERR-4": "a file has no connection that could be refused; the package's own tests have it read-only, full and away",
		},
	}
}

func exec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
