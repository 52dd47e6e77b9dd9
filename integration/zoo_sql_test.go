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
	"github.com/leasekit/lease/impl/kysely-equivalent-sql/sqlitetest"
	"github.com/leasekit/lease/leasetest"
)

// huntsOn returns what judges the mutants of a server.
func huntsOn(open func(t testing.TB, options ...string) *sqlServer) func(*testing.T, mutant) kill {
	return func(t *testing.T, m mutant) kill {
		t.Helper()
		srv := open(t)
		pass, hit := m.replace()
		c := sqlClient{pass: pass}
		if m.judge == nil {
			c.share(t, srv)
			return tried(t, m, hit, func(t testing.TB) *leasetest.Harness { return sqlHarness(t, srv.table(t), c) })
		}
		began := time.Now()
		problem := m.judge.run(t, srv.table(t), c)
		if !hit.Load() {
			t.Errorf("%s changes nothing: what it replaces is not there", m.name)
		}
		if problem == "" {
			t.Errorf("%s (%s) does all right", m.name, m.fault)
		}
		t.Log(problem)
		return kill{found: m.judge.name, seconds: time.Since(began).Seconds()}
	}
}

var (
	inCommits = &judge{"a renewal that is slow to commit", slowCommit}
	inZones   = &judge{"two sessions in two time zones", zones}
)

// zones has a worker ask for another's lease in a session of another time zone.
func zones(t testing.TB, tab *sqlTable, c sqlClient) string {
	ctx := context.Background()
	var services []lease.Service
	for _, zone := range []string{"-10:00", "+05:45"} {
		c := c
		c.settings = map[string]string{"time_zone": "'" + zone + "'"}
		if tab.dialect == sqllease.PostgreSQL {
			c.settings = map[string]string{"timezone": "<zone>" + zone}
		}
		services = append(services, tab.service(t, c, ""))
	}
	for n, s := range services {
		other := services[1-n]
		l := acquire(t, s, fmt.Sprint("job", n), "a", time.Hour)
		if got, err := other.Acquire(ctx, l.Key, "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
			return fmt.Sprintf("Acquire, while %v is live: got %v, %v, want ErrHeld", l, got, err)
		}
		if got, err := other.Get(ctx, l.Key); err != nil || got != l {
			return fmt.Sprintf("Get: got %v, %v, want %v", got, err, l)
		}
	}
	return ""
}

// skew is how far the clock of a worker is off, in whole days. It is 0 but for one
// in a bubble.
func skew() time.Duration {
	return time.Now().Round(0).Sub(began).Truncate(24 * time.Hour)
}

var began = time.Now().Round(0)

func huntSQLite(t *testing.T, m mutant) kill {
	t.Helper()
	pass, hit := m.replace()
	return tried(t, m, hit, func(t testing.TB) *leasetest.Harness {
		f := sqlitetest.New(t, "wal", 5*time.Second)
		f.Fault = pass
		return sqlitetest.Harness(t, f)
	})
}

// The clocks of the statements, as they are sent.
const (
	postgresNow = "(SELECT us FROM c)"
	mariadbNow  = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))"
	sqliteNow   = "CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000"
	sqliteUntil = "((CAST(round(unixepoch('subsec') * 1000) AS INTEGER) + 1) * 1000 + ?4 + 999) / 1000 * 1000"
)

var postgresMutants = []mutant{
	{
		name: "transaction-clock", clause: "EXPIRY-8", kinds: []string{"B043"},
		fault: "The clock is now(), which stands still from the start of the transaction on.",
		edit:  []string{"clock_timestamp()", "now()"},
	},
	{
		name: "statement-clock", clause: "EXPIRY-8", kinds: []string{"S015"},
		fault: "The clock is statement_timestamp(), which is read before the statement waits for the row.",
		edit:  []string{"clock_timestamp()", "statement_timestamp()"},
	},
	{
		name: "clock-read-early", clause: "EXPIRY-8", kinds: []string{"B044"},
		fault: "Renew reads the clock while it looks for the row, before the statement waits for its lock.",
		edit:  []string{"SELECT namespace, name, holder, token, expires FROM", "SELECT namespace, name, holder, CASE WHEN us > 0 THEN token ELSE 0 END, expires FROM c CROSS JOIN"},
	},
	{
		name: "expiry-from-values", clause: "EXPIRY-8", kinds: []string{"B030"},
		fault: "The expiry of a takeover is that of EXCLUDED, which is computed before the statement waits for the row.",
		edit:  []string{"expires = (" + postgresNow + " + $4::bigint + 999) / 1000 * 1000", "expires = EXCLUDED.expires"},
	},
	{
		name: "get-past-a-commit", clause: "EXCL-5", kinds: []string{"S019"},
		fault: "Get reads a snapshot, and so does not see a renewal that was judged in time and is still being committed.",
		edit:  []string{"FOR SHARE", ""}, judge: inCommits,
	},
	{
		name: "absent-row-not-locked", clause: "EXCL-3", kinds: []string{"B070"},
		fault: "Who finds no row takes the key, although another session may insert the row meanwhile: a row that is absent can't be locked.",
		edit:  []string{"THEN l.holder = EXCLUDED.holder OR", "THEN l.holder = EXCLUDED.holder OR NOT EXISTS (SELECT FROM {table} s WHERE s.namespace = $1::bytea AND s.name = $2::bytea) OR"},
	},
	{
		name: "tokens-as-doubles", clause: "TOKEN-8", kinds: []string{"S022"},
		fault: "The token comes back as a double precision.",
		edit:  []string{"RETURNING token, ", "RETURNING token::float8::numeric::bigint, "},
	},
	{
		name: "zone-of-the-session", clause: "EXCL-1", kinds: []string{"B045"},
		fault: "The clock is a timestamp without time zone, which is that of the session.",
		edit:  []string{"epoch FROM clock_timestamp()", "epoch FROM clock_timestamp()::timestamp"}, judge: inZones,
	},
	{
		name: "clock-of-the-worker", clause: "EXPIRY-4", kinds: []string{"B042"},
		fault: "The clock comes with the statement, from the worker.",
		change: func(text string) string {
			return strings.ReplaceAll(text, "clock_timestamp()", fmt.Sprintf("(clock_timestamp() + interval '%d seconds')", int(skew().Seconds())))
		},
	},
	{
		name: "release-by-holder", clause: "RELEASE-2", kinds: []string{"B015", "S011"},
		fault: "Release leaves the token out of its WHERE, so that a late one ends a newer grant of the same holder.",
		edit:  []string{"holder = $3::bytea AND token = $4::bigint AND expires <> 0", "holder = $3::bytea AND token <> -$4::bigint AND expires <> 0"},
	},
}

// Where the clock stands still, NOW and UTC_TIMESTAMP of MariaDB creep 1 µs ahead with
// every statement. That is no fault of a backend, so the mutants below do without it.
var mariadbMutants = []mutant{
	{
		name: "statement-clock", clause: "EXPIRY-8", kinds: []string{"B043"},
		fault: "The clock is NOW, which is the start of the statement.",
		edit:  []string{"SYSDATE(6)", "LEAST(NOW(6), SYSDATE(6))"},
	},
	{
		name: "utc-timestamp", clause: "EXPIRY-8", kinds: []string{"S015"},
		fault: "The clock is UTC_TIMESTAMP, which is right in every zone and the start of the statement.",
		edit:  []string{"SYSDATE(6)", "LEAST(UTC_TIMESTAMP(6), SYSDATE(6))"},
	},
	{
		name: "get-past-a-commit", clause: "EXCL-5", kinds: []string{"S019"},
		fault: "Get reads a snapshot, and so does not see a renewal that was judged in time and is still being committed.",
		edit:  []string{"LOCK IN SHARE MODE", ""}, judge: inCommits,
	},
	{
		name: "upsert-always-wins", clause: "EXCL-1", kinds: []string{"B028", "S018"},
		fault: "That the upsert touched a row counts as a grant, whatever it left in it.",
		edit:  []string{"RETURNING holder = ", "RETURNING 1 OR holder = "},
	},
	{
		name: "holder-collation", clause: "EXCL-6", kinds: []string{"B117"},
		fault: "Holders are compared by the default collation, without case and accents.",
		edit: []string{"IF(@lease_new OR holder = ", "IF(@lease_new OR CONVERT(holder USING utf8mb4) COLLATE utf8mb4_general_ci = ",
			"RETURNING holder = ", "RETURNING CONVERT(holder USING utf8mb4) COLLATE utf8mb4_general_ci = "},
	},
	{
		name: "changed-rows-counted", clause: "RENEW-6", kinds: []string{"B128"},
		fault: "A renewal that changes nothing counts as one that found nothing.",
		edit: []string{
			"expires = LAST_INSERT_ID((CAST(@lease_now AS SIGNED)", "expires = IF(expires = (@lease_then := (CAST(@lease_now AS SIGNED)",
			"DIV 1000 * 1000)\n\t\tWHERE", "DIV 1000 * 1000), expires, LAST_INSERT_ID(@lease_then))\n\t\tWHERE",
		},
	},
	{
		name: "tokens-as-doubles", clause: "TOKEN-8", kinds: []string{"S022"},
		fault: "The token comes back as a double.",
		edit:  []string{", token, expires, TIMESTAMPDIFF", ", CAST(token + 0e0 AS SIGNED), expires, TIMESTAMPDIFF"},
	},
	{
		name: "counter-sticks", clause: "TOKEN-9", kinds: []string{"S023"},
		fault: "At the end of its range the counter stays where it is, and the last token is granted again.",
		edit:  []string{"token = token + (", "token = token - (token = 9223372036854775807) + ("},
	},
	{
		name: "whole-seconds", clause: "EXPIRY-1", kinds: []string{"B127"},
		along: []string{"EXPIRY-3"}, nature: "a clock that is up to a second late ends leases late",
		fault: "The clock is read in whole seconds.",
		edit:  []string{"SYSDATE(6)", "SYSDATE()"},
	},
	{
		name: "zone-of-the-session", clause: "EXCL-1", kinds: []string{"B045"},
		fault: "The clock is that of the time zone of the session.",
		edit:  []string{"time_zone = '+00:00', ", ""}, judge: inZones,
	},
}

var sqliteMutants = []mutant{
	{
		name: "expiry-compared-with-text", clause: "EXCL-1", kinds: []string{"B048"},
		fault: "The expiry is an INTEGER and is compared with a TEXT, which is always the greater one.",
		edit:  []string{"OR l.expires <= " + sqliteNow, "OR l.expires + 0 <= '' || (" + sqliteNow + ")"},
	},
	{
		name: "timestamps-of-two-formats", clause: "EXCL-1", kinds: []string{"B049"},
		fault: "The expiry is compared as a text with a blank between date and time, the clock as one with a T.",
		edit:  []string{"OR l.expires <= " + sqliteNow, "OR strftime('%Y-%m-%d %H:%M:%S', l.expires / 1000000, 'unixepoch') <= strftime('%Y-%m-%dT%H:%M:%S', (" + sqliteNow + ") / 1000000, 'unixepoch')"},
	},
	{
		name: "holders-without-case", clause: "EXCL-6", kinds: []string{"B117"},
		fault: "Holders are compared as NOCASE texts.",
		edit:  []string{"THEN l.holder = excluded.holder OR", "THEN CAST(l.holder AS TEXT) = CAST(excluded.holder AS TEXT) COLLATE NOCASE OR"},
	},
	{
		name: "release-deletes-the-row", clause: "TOKEN-4", kinds: []string{"B001"},
		fault: "Release deletes the row, and with it the counter.",
		edit:  []string{"UPDATE \"leases\" AS l SET expires = 0\n", "DELETE FROM \"leases\" AS l\n"},
	},
	{
		name: "token-goes-on", clause: "TOKEN-2", kinds: []string{"B002"},
		fault: "A holder that comes back after its expiry goes on under its token.",
		edit:  []string{"WHEN l.expires > " + sqliteNow + " THEN", "WHEN l.expires <> 0 AND l.holder = excluded.holder THEN"},
	},
	{
		name: "tokens-as-doubles", clause: "TOKEN-8", kinds: []string{"S022"},
		fault: "The token comes back as a double.",
		edit:  []string{"RETURNING token, expires", "RETURNING CAST(token + 0.0 AS INTEGER), expires"},
	},
	{
		name: "counter-wraps", clause: "TOKEN-9", kinds: []string{"S023"},
		fault: "After the greatest token the counter starts again at 1.",
		edit:  []string{"THEN l.token + 1 ELSE abs(-9223372036854775807 - 1 + 0 * length(l.name)) END", "THEN l.token + 1 ELSE 1 END"},
	},
	{
		name: "expiry-cut-to-the-ms", clause: "EXPIRY-1", kinds: []string{"B127"},
		fault: "The ms of the clock is not rounded up, so that a grant is shorter than its ttl.",
		edit:  []string{"AS INTEGER) + 1) * 1000", "AS INTEGER) + 0) * 1000"},
	},
	{
		name: "over-one-ms-late", clause: "EXPIRY-2", kinds: []string{"B053"},
		fault: "Acquire takes a lease for live in the ms of its expiry.",
		edit:  []string{"OR l.expires <= CAST", "OR l.expires < CAST"},
	},
	{
		name: "expired-is-renewed", clause: "RENEW-2", kinds: []string{"B063", "S008"},
		fault: "Renew looks at token and holder alone, so that a lease can be renewed after its expiry.",
		edit:  []string{"AND expires > " + sqliteNow, "AND expires <> 0"},
	},
	{
		name: "one-namespace", clause: "KEY-2",
		fault: "The namespace is left out of the row that Acquire writes.",
		edit:  []string{"VALUES (?1, ?2", "VALUES (zeroblob(0), ?2"},
	},
	{
		name: "unreadable-is-free", clause: "ERR-9", kinds: []string{"B075"},
		fault: "A row that can't be read counts as a free key.",
		edit:  []string{"ELSE abs(-9223372036854775807 - 1 + 0 * length(l.name)) END\n\t\tRETURNING token", "ELSE 1 END\n\t\tRETURNING token"},
	},
}
