package integration

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/leasekit/lease/fence"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestPostgresFenceConformance checks the fence on a PostgreSQL that keeps what it has
// answered, and is crashed.
func TestPostgresFenceConformance(t *testing.T) {
	srv := server.StartPostgres(t, "synchronous_commit=on")
	s := postgresOn(t, srv, srv.Database(t))
	leasetest.RunFence(t, func(t testing.TB) *leasetest.FenceHarness { return sqlFenceHarness(t, s, srv.Restart) })
}

// TestMariaDBFenceConformance checks the fence on a MariaDB that is crashed.
func TestMariaDBFenceConformance(t *testing.T) {
	srv := server.StartMariaDB(t)
	s := mariadbOn(t, srv, srv.Database(t))
	leasetest.RunFence(t, func(t testing.TB) *leasetest.FenceHarness { return sqlFenceHarness(t, s, srv.Restart) })
}

// TestMySQLStatementsFenceConformance checks the statements for MySQL on MariaDB, which
// is not MySQL, but understands them.
func TestMySQLStatementsFenceConformance(t *testing.T) {
	srv := server.StartMariaDB(t)
	s := mariadbOn(t, srv, srv.Database(t)).as(sqllease.MySQL)
	leasetest.RunFence(t, func(t testing.TB) *leasetest.FenceHarness { return sqlFenceHarness(t, s, srv.Restart) })
}

// sqlFenceHarness is a table for the suite.
func sqlFenceHarness(t testing.TB, s *sqlServer, restart func(testing.TB)) *leasetest.FenceHarness {
	tab := s.table(t)
	return &leasetest.FenceHarness{
		Connect: func(t testing.TB) fence.Resource { return tab.fence(t, sqlClient{}) },
		Restart: restart,
	}
}

// fence is a fence on a table beside that of the leases.
func (tab *sqlTable) fence(t testing.TB, c sqlClient) *sqllease.Fence {
	t.Helper()
	f, err := sqllease.NewFence(tab.open(t, c), tab.dialect, &sqllease.FenceOptions{Table: "f" + tab.name})
	if err == nil {
		err = f.Migrate(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkFence takes two clients through all that can happen to a fenced key.
func checkFence(t *testing.T, a, b fence.Resource) {
	t.Helper()
	ctx := context.Background()
	key := "jöb\\x41'\"`%s \t"
	for _, w := range []struct {
		token int64
		value string
		want  error
	}{
		{9, "a\x00\xff'\\%d", nil}, {9, "a\x00\xff'\\%d", nil}, {10, "", nil}, {9, "late", fence.ErrStale}, {10, "", nil}, {10, "again", nil},
		{1 << 53, "b", nil}, {1<<53 + 1, "c", nil}, {1 << 53, "late", fence.ErrStale},
		{math.MaxInt64 - 1, "d", nil}, {math.MaxInt64, "e", nil}, {math.MaxInt64 - 1, "late", fence.ErrStale}, {math.MaxInt64, "e", nil},
	} {
		was, highest, err := b.Read(ctx, key)
		if err != nil {
			t.Fatalf("Read: %v", err)
		}
		err = a.Write(ctx, key, w.token, w.value)
		var stale *fence.StaleError
		switch {
		case !errors.Is(err, w.want):
			t.Errorf("Write with token %d after %d: got %v, want %v", w.token, highest, err, w.want)
		case errors.As(err, &stale) && stale.Highest != highest:
			t.Errorf("Write with token %d: got %v, want the highest token %d", w.token, err, highest)
		case err == nil:
			was, highest = w.value, w.token
		}
		for _, r := range []fence.Resource{a, b} {
			if value, token, err := r.Read(ctx, key); value != was || token != highest || err != nil {
				t.Errorf("Read after a write with token %d: got %q, %d, %v, want %q, %d", w.token, value, token, err, was, highest)
			}
		}
		a, b = b, a
	}
}

// A write without autocommit would stay uncommitted, and its row locked.
func TestMariaDBFenceAutocommit(t *testing.T) {
	for _, d := range []sqllease.Dialect{sqllease.MariaDB, sqllease.MySQL} {
		tab, ctx := mariadbServer(t).as(d).table(t), context.Background()
		good := tab.fence(t, sqlClient{})
		bad := tab.fence(t, sqlClient{settings: map[string]string{"autocommit": "0"}})
		if err := good.Write(ctx, "job", 5, "v"); err != nil {
			t.Fatal(err)
		}
		_, _, readErr := bad.Read(ctx, "job")
		for name, err := range map[string]error{
			"Write of a new key": bad.Write(ctx, "new", 1, "w"), "Write": bad.Write(ctx, "job", 6, "w"),
			"stale Write": bad.Write(ctx, "job", 4, "w"), "Read": readErr,
		} {
			wantError(t, d.String()+": "+name, err)
		}
		for key, want := range map[string]int64{"job": 5, "new": 0} {
			if err := good.Write(ctx, key, 1, "w"); want == 5 && !errors.Is(err, fence.ErrStale) || want == 0 && err != nil {
				t.Errorf("%s: Write of %q by another client: got %v", d, key, err)
			}
		}
	}
}
