package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
)

// blocker keeps the row of a key locked, in a transaction of another session.
type blocker struct {
	name  string
	begin string // locks; {1} is the key
	end   string
}

// rolledBack leaves the row as it was. After a commit some servers would look at
// the row again, and at their clock, which hides a stale one.
var rolledBack = blocker{"an update that is rolled back", "UPDATE {table} SET expires = 0 WHERE name = {1}", "ROLLBACK"}

var blockers = []blocker{
	{"a lock", "SELECT token FROM {table} WHERE name = {1} FOR UPDATE", "ROLLBACK"},
	rolledBack,
	{"an update that changes nothing", "UPDATE {table} SET token = token WHERE name = {1}", "COMMIT"},
	{"a renewal that is slow to commit", "UPDATE {table} SET expires = expires WHERE name = {1}", "COMMIT"},
}

// block runs a blocker until the function that it returns is called.
func (tab *sqlTable) block(t testing.TB, b blocker, key string) (unblock func()) {
	t.Helper()
	ctx := context.Background()
	conn, err := tab.admin.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run := func(query string, args ...any) {
		if _, err := conn.ExecContext(ctx, tab.text(query), args...); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	run("BEGIN")
	run(b.begin, []byte(key))
	return func() {
		run(b.end)
		conn.Close()
	}
}

// whileBlocked starts call, waits until the server has made it wait, lets the
// server clock reach end, unblocks it, and returns the server clock at which it was
// still waiting. It says if call never waited.
func (tab *sqlTable) whileBlocked(t testing.TB, unblock func(), end time.Time, call func()) (until time.Time, waited bool) {
	t.Helper()
	before := tab.int(t, tab.waiting)
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	limit := time.Now().Add(10 * time.Second)
	for !waited && !isClosed(done) {
		waited = tab.int(t, tab.waiting) > before
		if time.Now().After(limit) {
			t.Error("a call neither waits nor returns within 10 s")
			break
		}
	}
	tab.pass(t, end)
	until = tab.now(t)
	waited = waited && !isClosed(done)
	unblock()
	<-done
	return until, waited
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestPostgresWaits(t *testing.T) { checkWaits(t, postgresServer(t)) }
func TestMariaDBWaits(t *testing.T)  { checkWaits(t, mariadbServer(t)) }
func TestMySQLStatementsWait(t *testing.T) {
	checkWaits(t, mariadbServer(t).as(sqllease.MySQL))
}

// checkWaits looks at EXPIRY-8: a call that waited for a lock until the lease was
// over is judged by the clock after it.
func checkWaits(t *testing.T, s *sqlServer) {
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		t.Run(level, func(t *testing.T) {
			if problem := waits(t, s.table(t), s.isolated(level)); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// waits returns the first thing that a waiting call did wrong, or "".
func waits(t testing.TB, tab *sqlTable, c sqlClient) string {
	const ttl = 200 * time.Millisecond
	ctx := context.Background()
	svc := tab.service(t, c, "")
	n := 0
	for _, b := range blockers {
		for _, call := range []struct {
			name string
			do   func(l lease.Lease) (lease.Lease, error)
			want error // nil: a new grant
		}{
			{"Acquire by another holder", func(l lease.Lease) (lease.Lease, error) { return svc.Acquire(ctx, l.Key, "b", ttl) }, nil},
			{"Acquire by its holder", func(l lease.Lease) (lease.Lease, error) { return svc.Acquire(ctx, l.Key, "a", ttl) }, nil},
			{"Renew", func(l lease.Lease) (lease.Lease, error) { return svc.Renew(ctx, l, time.Hour) }, lease.ErrLost},
		} {
			n++
			l, err := svc.Acquire(ctx, fmt.Sprint("job", n), "a", ttl)
			if err != nil {
				return err.Error()
			}
			unblock := tab.block(t, b, l.Key)
			var got lease.Lease
			until, waited := tab.whileBlocked(t, unblock, l.ExpiresAt, func() { got, err = call.do(l) })
			what := fmt.Sprintf("%s, which waited for %s past the expiry %v until %v", call.name, b.name, l.ExpiresAt, until)
			switch {
			case !waited:
				return what + ": it did not wait"
			case call.want != nil:
				if !errors.Is(err, call.want) {
					return fmt.Sprintf("%s: got %v, %v, want %v", what, got, err, call.want)
				}
			case err != nil || got.Token <= l.Token || got.ExpiresAt.Before(until.Add(ttl)):
				return fmt.Sprintf("%s: got %v, %v, want a grant with a new token for %v from then on", what, got, err, ttl)
			}
		}
	}

	// A key that was never taken, while another session takes it and gives up.
	key := "new"
	unblock := tab.block(t, blocker{begin: "INSERT INTO {table} (namespace, name, holder, token, expires) VALUES (" + tab.none + ", {1}, 'x', 1, 0)", end: "ROLLBACK"}, key)
	var got lease.Lease
	var err error
	until, waited := tab.whileBlocked(t, unblock, tab.now(t).Add(ttl), func() { got, err = svc.Acquire(ctx, key, "a", ttl) })
	if !waited {
		return "Acquire of a new key did not wait for a session that inserts it"
	}
	if err != nil || got.ExpiresAt.Before(until.Add(ttl)) {
		return fmt.Sprintf("Acquire of a new key, which waited until %v for a session that gave it up: got %v, %v, want a grant for %v from then on", until, got, err, ttl)
	}
	return ""
}

func TestPostgresSlowCommit(t *testing.T) { checkSlowCommit(t, postgresServer(t)) }
func TestMariaDBSlowCommit(t *testing.T)  { checkSlowCommit(t, mariadbServer(t)) }

func checkSlowCommit(t *testing.T, s *sqlServer) {
	if problem := slowCommit(t, s.table(t), sqlClient{}); problem != "" {
		t.Error(problem)
	}
}

// slowCommit looks at a renewal that is judged before the expiry and committed
// after it: who looks meanwhile must not see the lease gone, since it is live
// afterwards. It returns what is wrong, or "".
func slowCommit(t testing.TB, tab *sqlTable, c sqlClient) string {
	const ttl = 200 * time.Millisecond
	ctx := context.Background()
	svc := tab.service(t, c, "")
	l := acquire(t, svc, "job", "a", ttl)
	later := l.ExpiresAt.Add(time.Hour)
	unblock := tab.block(t, blocker{begin: fmt.Sprintf("UPDATE {table} SET expires = %d WHERE name = {1}", later.UnixMicro()), end: "COMMIT"}, "job")
	tab.pass(t, l.ExpiresAt)
	var got lease.Lease
	var err error
	tab.whileBlocked(t, unblock, l.ExpiresAt, func() { got, err = svc.Get(ctx, "job") })
	l.ExpiresAt = later
	if err != nil || got != l {
		return fmt.Sprintf("Get while a renewal is being committed: got %v, %v, want %v", got, err, l)
	}
	return ""
}

// isolated is a client whose sessions have an isolation level.
func (s *sqlServer) isolated(level string) sqlClient {
	if s.dialect == sqllease.PostgreSQL {
		return sqlClient{settings: map[string]string{"default_transaction_isolation": level}}
	}
	return sqlClient{settings: map[string]string{"tx_isolation": "'" + strings.ReplaceAll(level, " ", "-") + "'"}}
}
