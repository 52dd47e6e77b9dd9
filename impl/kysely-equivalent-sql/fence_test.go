package sqllease_test

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/impl/kysely-equivalent-sql/sqlitetest"
	"github.com/leasekit/lease/internal/sqlproxy"
	"github.com/leasekit/lease/leasetest"
)

// TestFenceConformance checks the fence on SQLite files. Module integration checks it
// on PostgreSQL and MariaDB, which it crashes.
func TestFenceConformance(t *testing.T) {
	for _, journal := range []string{"wal", "delete"} {
		t.Run(journal, func(t *testing.T) {
			leasetest.RunFence(t, func(t testing.TB) *leasetest.FenceHarness {
				return sqliteFence(t, sqlitetest.New(t, journal, 5*time.Second), nil)
			})
		})
	}
}

// sqliteFence is a file for the suite. Each client opens it for itself, as another
// process would, and a restart closes it everywhere. pass sees the statements, if
// it is not nil.
func sqliteFence(t testing.TB, f *sqlitetest.File, pass func(query string) string) *leasetest.FenceHarness {
	var open []*sql.DB
	connect := func(t testing.TB) fence.Resource {
		if pass == nil {
			pass = func(query string) string { return query }
		}
		db := sql.OpenDB(&sqlproxy.Connector{Connector: f, Pass: pass})
		t.Cleanup(func() { db.Close() })
		open = append(open, db)
		return newFence(t, db, nil)
	}
	return &leasetest.FenceHarness{
		Connect: connect,
		Restart: func(t testing.TB) {
			for _, db := range open {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			open = nil
		},
	}
}

// newFence makes a fence whose table is there.
func newFence(t testing.TB, db *sql.DB, o *sqllease.FenceOptions) *sqllease.Fence {
	t.Helper()
	f, err := sqllease.NewFence(db, sqllease.SQLite, o)
	if err == nil {
		err = f.Migrate(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A fence whose statement is wrong is found out: these are the slips that SQL
// invites.
func TestFenceStatementFaults(t *testing.T) {
	const guard, raise = "f.token > excluded.token", "max(f.token, excluded.token)"
	for name, c := range map[string]struct{ old, new, clause string }{
		"no guard":                {guard, "0", "FENCE-1"},
		"tokens as text":          {guard, "CAST(f.token AS TEXT) > CAST(excluded.token AS TEXT)", "FENCE-1"},
		"tokens as doubles":       {guard, "CAST(f.token AS REAL) > CAST(excluded.token AS REAL)", "FENCE-1"},
		"a stale one lowers":      {raise, "excluded.token", "FENCE-1"},
		"the mark is never set":   {raise, "f.token", "FENCE-2"},
		"an equal one is ignored": {guard, "f.token >= excluded.token", "FENCE-2"},
		"keys without case":       {"VALUES (?1, ?2,", "VALUES (?1, CAST(lower(?2) AS BLOB),", "FENCE-2"},
	} {
		t.Run(name, func(t *testing.T) {
			var hits atomic.Int64
			file := sqlitetest.New(t, "wal", 5*time.Second)
			report, err := leasetest.CheckFence(t.Context(), func(t testing.TB) *leasetest.FenceHarness {
				h := sqliteFence(t, file, func(query string) string {
					if strings.Contains(query, c.old) {
						hits.Add(1)
					}
					return strings.Replace(query, c.old, c.new, 1)
				})
				newFence(t, file.DB(t), nil)
				if _, err := file.DB(t).Exec("DELETE FROM fenced"); err != nil {
					t.Fatal(err)
				}
				return h
			}, &leasetest.Options{Cases: 10, Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if hits.Load() == 0 {
				t.Fatal("no statement has what the fault replaces: change the test too")
			}
			if r, _ := report.Result(c.clause); r.Verdict != leasetest.Fail {
				t.Errorf("%s: got %s (%s), want fail", c.clause, r.Verdict, r.Reason)
			}
		})
	}
}

func TestFenceRefusal(t *testing.T) {
	ctx := context.Background()
	f := newFence(t, sqlitetest.New(t, "wal", time.Second).DB(t), nil)
	if err := f.Write(ctx, "job", math.MaxInt64, "a\x00\xff"); err != nil {
		t.Fatal(err)
	}
	err := f.Write(ctx, "job", 1<<53+1, "b")
	var stale *fence.StaleError
	if !errors.As(err, &stale) || *stale != (fence.StaleError{Key: "job", Token: 1<<53 + 1, Highest: math.MaxInt64}) {
		t.Errorf("Write with a lower token: got %v, want a StaleError with both", err)
	}
	if value, token, err := f.Read(ctx, "job"); value != "a\x00\xff" || token != math.MaxInt64 || err != nil {
		t.Errorf("Read: got %q, %d, %v, want what was written first", value, token, err)
	}
}

// Each call is one statement, and one with invalid arguments is none.
func TestFenceStatements(t *testing.T) {
	ctx := context.Background()
	file := sqlitetest.New(t, "wal", time.Second)
	newFence(t, file.DB(t), nil)
	var sent atomic.Int64
	db := sql.OpenDB(&sqlproxy.Connector{Connector: file, Pass: func(query string) string {
		sent.Add(1)
		return query
	}})
	defer db.Close()
	f, err := sqllease.NewFence(db, sqllease.SQLite, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		call func() error
		want error
		sent int64
	}{
		{"first Write", func() error { return f.Write(ctx, "job", 5, "v") }, nil, 1},
		{"Write", func() error { return f.Write(ctx, "job", 6, "v") }, nil, 1},
		{"stale Write", func() error { return f.Write(ctx, "job", 4, "v") }, fence.ErrStale, 1},
		{"Read", func() error { _, _, err := f.Read(ctx, "job"); return err }, nil, 1},
		{"Read of nothing", func() error { _, _, err := f.Read(ctx, "none"); return err }, nil, 1},
		{"Write, no token", func() error { return f.Write(ctx, "job", 0, "v") }, lease.ErrInvalid, 0},
		{"Write, no key", func() error { return f.Write(ctx, "", 1, "v") }, lease.ErrInvalid, 0},
		{"Read, no key", func() error { _, _, err := f.Read(ctx, ""); return err }, lease.ErrInvalid, 0},
	} {
		before := sent.Load()
		if err := c.call(); !errors.Is(err, c.want) || sent.Load()-before != c.sent {
			t.Errorf("%s: got %v in %d statements, want %v in %d", c.name, err, sent.Load()-before, c.want, c.sent)
		}
	}
}

// Fences of different namespaces share nothing, and a fence shares nothing with the
// leases of its database.
func TestFenceNamespaces(t *testing.T) {
	ctx := context.Background()
	file := sqlitetest.New(t, "wal", time.Second)
	db := file.DB(t)
	all := "a:b:c:d"
	for i := 1; i < len(all); i++ {
		f := newFence(t, db, &sqllease.FenceOptions{Namespace: all[:i]})
		if err := f.Write(ctx, all[i:], int64(100-i), "v"); err != nil {
			t.Errorf("namespace %q, key %q: %v", all[:i], all[i:], err)
		}
	}
	if _, err := file.Service(t, "a").Acquire(ctx, "b:c:d", "w", time.Minute); err != nil {
		t.Error(err)
	}
}

// What is wrong with a table or a row is said, and is never taken for an answer.
func TestFenceUnreadable(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct{ damage, want string }{
		"a token of 0":         {"UPDATE fenced SET token = 0", "token"},
		"a negative token":     {"UPDATE fenced SET token = -7", "token"},
		"a column missing":     {"ALTER TABLE fenced RENAME COLUMN token TO tokens", "another one"},
		"a table of that name": {"ALTER TABLE fenced RENAME TO others", "Fence.Migrate"},
	} {
		db := sqlitetest.New(t, "wal", time.Second).DB(t)
		f := newFence(t, db, nil)
		if err := f.Write(ctx, "job", 5, "v"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(c.damage); err != nil {
			t.Fatal(err)
		}
		_, _, readErr := f.Read(ctx, "job")
		for call, err := range map[string]error{"Write": f.Write(ctx, "job", 9, "w"), "Read": readErr} {
			if err == nil || errors.Is(err, fence.ErrStale) || errors.Is(err, lease.ErrInvalid) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"job"`) {
				t.Errorf("%s: %s: got %v, want an error that is no sentinel and says %q", name, call, err, c.want)
			}
		}
	}
}

func TestNewFenceErrors(t *testing.T) {
	db := sqlitetest.New(t, "wal", time.Second).DB(t)
	for name, f := range map[string]func() (*sqllease.Fence, error){
		"no database": func() (*sqllease.Fence, error) { return sqllease.NewFence(nil, sqllease.SQLite, nil) },
		"no dialect":  func() (*sqllease.Fence, error) { return sqllease.NewFence(db, 0, nil) },
		"a bad table": func() (*sqllease.Fence, error) {
			return sqllease.NewFence(db, sqllease.SQLite, &sqllease.FenceOptions{Table: "a b"})
		},
		"a long namespace": func() (*sqllease.Fence, error) {
			return sqllease.NewFence(db, sqllease.SQLite, &sqllease.FenceOptions{Namespace: strings.Repeat("x", 513)})
		},
	} {
		if got, err := f(); err == nil || got != nil {
			t.Errorf("%s: got %v, %v, want an error", name, got, err)
		}
	}
}
