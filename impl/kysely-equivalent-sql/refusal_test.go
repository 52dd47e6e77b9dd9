package sqllease_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
)

// wantAdvice makes sure that err is an error that says nothing about leases, and
// what can be done.
func wantAdvice(t testing.TB, what string, err error, advice string) {
	t.Helper()
	for _, s := range []error{lease.ErrHeld, lease.ErrLost, lease.ErrNotHeld, lease.ErrInvalid} {
		if errors.Is(err, s) {
			t.Errorf("%s: got %v, want an error that is no sentinel", what, err)
		}
	}
	if err == nil || !strings.Contains(err.Error(), advice) {
		t.Errorf("%s: got %v, want an error that says %q", what, err, advice)
	}
}

// openFile opens a SQLite file with parameters of its DSN.
func openFile(t testing.TB, path, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?"+params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func newService(t testing.TB, db *sql.DB, o *sqllease.Options) *sqllease.Service {
	t.Helper()
	s, err := sqllease.New(db, sqllease.SQLite, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOptionsThatAreRefused(t *testing.T) {
	db := openFile(t, filepath.Join(t.TempDir(), "leases.db"), "")
	for _, table := range []string{
		`"leases"`, "`leases`", "lea ses", "leases; DROP TABLE leases", "1leases", "a.b.c", "a.", ".a", "lëases", strings.Repeat("x", 64), "leases\x00",
	} {
		if _, err := sqllease.New(db, sqllease.SQLite, &sqllease.Options{Table: table}); err == nil || !strings.Contains(err.Error(), "leave the quotes to this package") {
			t.Errorf("New with the table %q: got %v, want an error that says what a name is", table, err)
		}
	}
	for _, table := range []string{"leases", "_Leases9", "main.leases", strings.Repeat("x", 63), "select"} {
		if err := newService(t, db, &sqllease.Options{Table: table}).Migrate(context.Background()); err != nil {
			t.Errorf("Migrate of the table %q: %v", table, err)
		}
	}
	if _, err := sqllease.New(db, sqllease.SQLite, &sqllease.Options{Namespace: strings.Repeat("x", 513)}); err == nil {
		t.Error("New with a namespace of 513 bytes: no error")
	}
	if _, err := sqllease.New(nil, sqllease.SQLite, nil); err == nil {
		t.Error("New without a database: no error")
	}
	for _, d := range []sqllease.Dialect{0, 5} {
		if _, err := sqllease.New(db, d, nil); err == nil {
			t.Errorf("New with the dialect %v: no error", d)
		}
	}
}

func TestRefusals(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "leases.db")
	good := newService(t, openFile(t, path, ""), nil)
	if _, err := good.Get(ctx, "job"); err == nil || !strings.Contains(err.Error(), "call Service.Migrate once") {
		t.Errorf("Get without a table: got %v, want an error that says how to get one", err)
	}
	if err := good.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	l, err := good.Acquire(ctx, "job", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	readOnly := newService(t, openFile(t, path, "mode=ro"), nil)
	_, err = readOnly.Acquire(ctx, "job", "b", time.Hour)
	wantAdvice(t, "refused Acquire of a file that is read-only", err, "take mode=ro")
	_, err = readOnly.Renew(ctx, l, time.Hour)
	wantAdvice(t, "Renew in a file that is read-only", err, "take mode=ro")
	wantAdvice(t, "Release in a file that is read-only", readOnly.Release(ctx, l), "take mode=ro")

	away := newService(t, openFile(t, filepath.Join(t.TempDir(), "away", "leases.db"), ""), nil)
	wantAdvice(t, "Migrate in a folder that is not there", away.Migrate(ctx), "read and write the file and its folder")

	other := openFile(t, path, "")
	if _, err := other.ExecContext(ctx, "CREATE TABLE others (name TEXT)"); err != nil {
		t.Fatal(err)
	}
	s := newService(t, other, &sqllease.Options{Table: "others"})
	wantAdvice(t, "Migrate of another table", s.Migrate(ctx), "set Options.Table to a name that is free")
	_, err = s.Acquire(ctx, "job", "a", time.Hour)
	wantAdvice(t, "Acquire in another table", err, "set Options.Table to a name that is free")
}

// A full disk is one that the file must not grow on.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	db := openFile(t, filepath.Join(t.TempDir(), "leases.db"), "_pragma=max_page_count(4)")
	s := newService(t, db, nil)
	if err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	var kept []lease.Lease
	for {
		l, err := s.Acquire(ctx, fmt.Sprint("job", len(kept)), strings.Repeat("a", 500), time.Hour)
		if err != nil {
			wantAdvice(t, "Acquire with the disk full", err, "make room")
			break
		}
		if kept = append(kept, l); len(kept) > 100 {
			t.Fatal("the disk never fills")
		}
	}
	// What was granted stays.
	for _, l := range kept {
		if got, err := s.Get(ctx, l.Key); err != nil || got != l {
			t.Errorf("Get with the disk full: got %v, %v, want %v", got, err, l)
		}
		if err := s.Release(ctx, l); err != nil {
			t.Errorf("Release with the disk full: %v", err)
		}
	}
}
