// Package sqlitetest makes SQLite databases for tests of package sqllease, with
// a clock that stands still until the test moves it.
package sqlitetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"

	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/internal/sqlproxy"
)

// File is a SQLite database in a file. Its clock stands still until it is moved:
// the driver has a function of its own in place of unixepoch. It is a
// driver.Connector.
type File struct {
	// Fault replaces the statements of services, if it is not nil.
	Fault func(query string) string

	driver *sqlite.Driver
	dsn    string
	reads  atomic.Int64

	mu    sync.Mutex
	clock time.Time
	sent  int64
	waits []sentWait
}

// sentWait is somebody who waits until so many statements were sent.
type sentWait struct {
	sent int64
	done chan struct{}
}

// New makes an empty database for the test, with the journal mode "wal" or
// "delete"; a statement waits up to busy for a lock. The clock stands at noon on
// 29 February 2024.
func New(t testing.TB, journal string, busy time.Duration) *File {
	t.Helper()
	f := &File{
		driver: &sqlite.Driver{},
		dsn: fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=synchronous(off)&_pragma=journal_mode(%s)",
			filepath.Join(t.TempDir(), "leases.db"), busy.Milliseconds(), journal),
		clock: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC),
	}
	f.driver.MustRegisterFunction("unixepoch", &sqlite.FunctionImpl{
		NArgs: 1,
		Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			if len(args) != 1 || args[0] != "subsec" {
				return nil, fmt.Errorf("unixepoch(%v): only 'subsec' has a clock", args)
			}
			f.reads.Add(1)
			return float64(f.Now().UnixMilli()) / 1000, nil
		},
	})
	return f
}

// Now is the clock of the database, which counts whole ms and can stand between
// two of them.
func (f *File) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

// SetClock moves the clock.
func (f *File) SetClock(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = now
}

// Sent is how many statements services have sent.
func (f *File) Sent() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

// WhenSent is closed as soon as services have sent n statements in all.
func (f *File) WhenSent(n int64) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := make(chan struct{})
	if f.sent >= n {
		close(done)
	} else {
		f.waits = append(f.waits, sentWait{n, done})
	}
	return done
}

// send counts a statement.
func (f *File) send() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	f.waits = slices.DeleteFunc(f.waits, func(w sentWait) bool {
		due := f.sent >= w.sent
		if due {
			close(w.done)
		}
		return due
	})
}

// ClockReads is how often a statement has looked at the clock.
func (f *File) ClockReads() int64 { return f.reads.Load() }

// Connect implements driver.Connector.
func (f *File) Connect(context.Context) (driver.Conn, error) { return f.driver.Open(f.dsn) }

// Driver implements driver.Connector.
func (f *File) Driver() driver.Driver { return f.driver }

// DB opens the file once more, as another process would.
func (f *File) DB(t testing.TB) *sql.DB {
	t.Helper()
	return open(t, f)
}

// Service opens the file once more and makes sure that it has the table.
func (f *File) Service(t testing.TB, namespace string) *sqllease.Service {
	t.Helper()
	db := open(t, &sqlproxy.Connector{Connector: f, Pass: f.pass})
	s, err := sqllease.New(db, sqllease.SQLite, &sqllease.Options{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *File) pass(query string) string {
	f.send()
	if f.Fault != nil {
		return f.Fault(query)
	}
	return query
}

func open(t testing.TB, c driver.Connector) *sql.DB {
	t.Helper()
	db := sql.OpenDB(c)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return db
}
