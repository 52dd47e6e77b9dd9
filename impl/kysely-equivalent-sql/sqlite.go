package sqllease

import (
	"context"
	"database/sql"
	"strings"

	"github.com/leasekit/lease"
)

// sqliteStore keeps leases in SQLite 3.42 or newer.
//
// A statement that may write takes the write lock first and reads the clock then,
// once: what 'now' is does not change while a statement runs.
//
// The clock has whole ms, rounded down. A grant ends at the ms after it, so that
// it is never shorter than its ttl, wherever in its ms it began.
type sqliteStore struct {
	db        *sql.DB
	namespace []byte
	table     table

	acquireSQL, renewSQL, releaseSQL, getSQL, lockSQL, createSQL string
}

func openSQLite(db *sql.DB, t table, namespace string) store {
	r := strings.NewReplacer(
		"{table}", t.quoted(`"`),
		// µs since 1970.
		"{now}", "CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000",
		"{until}", "((CAST(round(unixepoch('subsec') * 1000) AS INTEGER) + 1) * 1000 + {ttl} + 999) / 1000 * 1000",
		"{readable}", `l.token > 0 AND length(l.holder) BETWEEN 1 AND 512 AND instr(l.holder, X'00') = 0
			AND (l.expires = 0 OR l.expires BETWEEN 31536000000000 AND 20000000000000000)`,
		// An error that no constant expression is: SQLite may compute those even
		// where they are not needed.
		"{fail}", "abs(-9223372036854775807 - 1 + 0 * length(l.name))",
	)
	sql := func(text string) string { return r.Replace(r.Replace(text)) }
	return &sqliteStore{
		db: db, namespace: []byte(namespace), table: t,
		acquireSQL: strings.ReplaceAll(sql(sqliteAcquire), "{ttl}", "?4"),
		renewSQL:   strings.ReplaceAll(sql(sqliteRenew), "{ttl}", "?5"),
		releaseSQL: sql(sqliteRelease),
		getSQL:     sql(sqliteGet),
		lockSQL:    sql(sqliteLock),
		createSQL:  sql(sqliteCreate),
	}
}

const (
	sqliteAcquire = `
		INSERT INTO {table} AS l (namespace, name, holder, token, expires)
		VALUES (?1, ?2, ?3, 1, {until})
		ON CONFLICT (namespace, name) DO UPDATE SET
			holder = excluded.holder,
			token = CASE WHEN l.expires > {now} THEN l.token WHEN l.token < 9223372036854775807 THEN l.token + 1 ELSE {fail} END,
			expires = {until}
		WHERE CASE WHEN {readable} THEN l.holder = excluded.holder OR l.expires <= {now} ELSE {fail} END
		RETURNING token, expires, {now}`

	sqliteRenew = `
		UPDATE {table} AS l SET expires = {until}
		WHERE namespace = ?1 AND name = ?2
			AND CASE WHEN {readable} THEN holder = ?3 AND token = ?4 AND expires > {now} ELSE {fail} END
		RETURNING expires`

	sqliteRelease = `
		UPDATE {table} AS l SET expires = 0
		WHERE namespace = ?1 AND name = ?2
			AND CASE WHEN {readable} THEN holder = ?3 AND token = ?4 AND expires <> 0 ELSE {fail} END`

	sqliteGet = `
		SELECT holder, token, expires, {now} FROM {table} WHERE namespace = ?1 AND name = ?2`

	// sqliteLock is sqliteGet under the write lock.
	sqliteLock = `
		UPDATE {table} SET token = token WHERE namespace = ?1 AND name = ?2
		RETURNING holder, token, expires, {now}`

	sqliteCreate = `
		CREATE TABLE IF NOT EXISTS {table} (
			namespace BLOB NOT NULL,
			name BLOB NOT NULL,
			holder BLOB NOT NULL,
			token INTEGER NOT NULL,
			expires INTEGER NOT NULL,
			PRIMARY KEY (namespace, name)
		) STRICT, WITHOUT ROWID`
)

func (s *sqliteStore) acquire(ctx context.Context, key, holder string, ttl int64) (r record, granted bool, err error) {
	granted, err = queryRow(ctx, s.db, s.acquireSQL, []any{s.namespace, []byte(key), []byte(holder), ttl}, &r.token, &r.expires, &r.now)
	return r, granted, err
}

func (s *sqliteStore) slack() int64 { return 20_000 }

func (s *sqliteStore) renew(ctx context.Context, l lease.Lease, ttl int64) (expires int64, err error) {
	_, err = queryRow(ctx, s.db, s.renewSQL, []any{s.namespace, []byte(l.Key), []byte(l.Holder), l.Token, ttl}, &expires)
	return expires, err
}

func (s *sqliteStore) release(ctx context.Context, l lease.Lease) error {
	_, err := s.db.ExecContext(ctx, s.releaseSQL, s.namespace, []byte(l.Key), []byte(l.Holder), l.Token)
	return err
}

// get reads once more, when the grant has expired, with the write lock. A renewal
// may have been judged just before the expiry and take until after it to be
// committed: a reader meanwhile sees a row that is over, and the next one sees
// the same grant live.
func (s *sqliteStore) get(ctx context.Context, key string) (r record, found bool, err error) {
	args := []any{s.namespace, []byte(key)}
	into := []any{&r.holder, &r.token, &r.expires, &r.now}
	found, err = queryRow(ctx, s.db, s.getSQL, args, into...)
	if err != nil || !found || r.live() || r.expires == 0 {
		return r, found, err
	}
	found, err = queryRow(ctx, s.db, s.lockSQL, args, into...)
	return r, found, err
}

// kind goes by the primary result code, in the low 8 bits.
func (s *sqliteStore) kind(err error) kind {
	switch sqliteCode(err) & 0xff {
	case 5, 6, 17: // BUSY, LOCKED, SCHEMA
		return conflict
	case 1: // ERROR: no such table, no such column, integer overflow
		return doubtful
	}
	return other
}

func (s *sqliteStore) advice(err error) string {
	switch sqliteCode(err) & 0xff {
	case 3, 14, 23: // PERM, CANTOPEN, AUTH
		return "let the process read and write the file and its folder"
	case 8: // READONLY
		return "let the process write the file and its folder, and take mode=ro or query_only out of the DSN"
	case 13: // FULL
		return adviceFull
	}
	return ""
}

func (s *sqliteStore) create(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.createSQL)
	return err
}

func (s *sqliteStore) shape(ctx context.Context) (got, want []string, err error) {
	query, args := `SELECT name || ' ' || type || iif("notnull", '', ' null') || iif(pk, ' key', '') FROM pragma_table_xinfo(?1) ORDER BY cid`, []any{s.table.name}
	if s.table.schema != "" {
		query, args = strings.Replace(query, "(?1)", "(?1, ?2)", 1), append(args, s.table.schema)
	}
	got, err = queryTexts(ctx, s.db, query, args...)
	return got, []string{"namespace BLOB key", "name BLOB key", "holder BLOB", "token INTEGER", "expires INTEGER"}, err
}

func (s *sqliteStore) sane(context.Context) error { return nil }
