package sqllease

import (
	"context"
	"database/sql"
	"strings"

	"github.com/leasekit/lease"
)

// postgresStore keeps leases in PostgreSQL 12 or newer.
//
// Where the clock is read matters. now() is the transaction's start;
// statement_timestamp() the statement's; and clock_timestamp() in a plain
// WHERE is read before the statement waits for the row, and not again if the row
// turns out to be unchanged. ON CONFLICT DO UPDATE waits for the row before it
// looks at SET and WHERE, so a clock that is first asked for there is fresh. It
// is read once, by the CTE, since the two must agree.
type postgresStore struct {
	db        *sql.DB
	namespace []byte
	table     table

	acquireSQL, renewSQL, releaseSQL, getSQL, createSQL string
}

func openPostgres(db *sql.DB, t table, namespace string) store {
	r := strings.NewReplacer(
		"{table}", t.quoted(`"`),
		// µs since 1970.
		"{clock}", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		"{now}", "(SELECT us FROM c)",
		"{readable}", `l.token > 0 AND octet_length(l.holder) BETWEEN 1 AND 512 AND position('\x00'::bytea IN l.holder) = 0
			AND (l.expires = 0 OR l.expires BETWEEN 31536000000000 AND 20000000000000000)`,
		// Division by zero, which PostgreSQL must not see before it has the row.
		"{fail}", "1 / (0 * octet_length(l.name)) = 0",
	)
	return &postgresStore{
		db: db, namespace: []byte(namespace), table: t,
		acquireSQL: r.Replace(postgresAcquire),
		renewSQL:   r.Replace(postgresRenew),
		releaseSQL: r.Replace(postgresRelease),
		getSQL:     r.Replace(postgresGet),
		createSQL:  r.Replace(postgresCreate),
	}
}

const (
	postgresAcquire = `
		WITH c AS MATERIALIZED (SELECT {clock} AS us)
		INSERT INTO {table} AS l (namespace, name, holder, token, expires)
		VALUES ($1::bytea, $2::bytea, $3::bytea, 1, ({clock} + $4::bigint + 999) / 1000 * 1000)
		ON CONFLICT (namespace, name) DO UPDATE SET
			holder = EXCLUDED.holder,
			token = l.token + CASE WHEN l.expires > {now} THEN 0 ELSE 1 END,
			expires = ({now} + $4::bigint + 999) / 1000 * 1000
		WHERE CASE WHEN {readable} THEN l.holder = EXCLUDED.holder OR l.expires <= {now} ELSE {fail} END
		RETURNING token, expires, {now}`

	// An UPDATE that judged the expiry in its WHERE would do so before it waits.
	// The row exists, so nothing is ever inserted.
	postgresRenew = `
		WITH c AS MATERIALIZED (SELECT {clock} AS us)
		INSERT INTO {table} AS l (namespace, name, holder, token, expires)
		SELECT namespace, name, holder, token, expires FROM {table} WHERE namespace = $1::bytea AND name = $2::bytea
		ON CONFLICT (namespace, name) DO UPDATE SET
			expires = ({now} + $5::bigint + 999) / 1000 * 1000
		WHERE CASE WHEN {readable} THEN l.holder = $3::bytea AND l.token = $4::bigint AND l.expires > {now} ELSE {fail} END
		RETURNING expires`

	// No clock: a grant that is over may be released as well.
	postgresRelease = `
		UPDATE {table} AS l SET expires = 0
		WHERE namespace = $1::bytea AND name = $2::bytea
			AND CASE WHEN {readable} THEN holder = $3::bytea AND token = $4::bigint AND expires <> 0 ELSE {fail} END`

	// The row is locked only if it has expired: then a renewal that was judged
	// just before may be on its way to be committed. A reader meanwhile would see
	// a grant that is over, and the next one the same grant live.
	postgresGet = `
		WITH seen AS MATERIALIZED (
			SELECT holder, token, expires FROM {table} WHERE namespace = $1::bytea AND name = $2::bytea
		), locked AS MATERIALIZED (
			SELECT holder, token, expires FROM {table} WHERE namespace = $1::bytea AND name = $2::bytea
				AND (SELECT expires <> 0 AND expires <= {clock} FROM seen)
			FOR SHARE
		)
		SELECT holder, token, expires, {clock} FROM (
			SELECT * FROM locked UNION ALL SELECT * FROM seen WHERE NOT EXISTS (SELECT FROM locked)
		) l`

	postgresCreate = `
		CREATE TABLE IF NOT EXISTS {table} (
			namespace bytea NOT NULL,
			name bytea NOT NULL,
			holder bytea NOT NULL,
			token bigint NOT NULL,
			expires bigint NOT NULL,
			PRIMARY KEY (namespace, name)
		)`

	postgresShape = `
		SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
			|| CASE WHEN a.attnotnull THEN '' ELSE ' null' END
			|| CASE WHEN a.attnum = ANY (i.indkey) THEN ' key' ELSE '' END
		FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
		WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY a.attnum`
)

func (s *postgresStore) acquire(ctx context.Context, key, holder string, ttl int64) (r record, granted bool, err error) {
	granted, err = queryRow(ctx, s.db, s.acquireSQL, []any{s.namespace, []byte(key), []byte(holder), ttl}, &r.token, &r.expires, &r.now)
	return r, granted, err
}

func (s *postgresStore) slack() int64 { return 20_000 }

func (s *postgresStore) renew(ctx context.Context, l lease.Lease, ttl int64) (expires int64, err error) {
	_, err = queryRow(ctx, s.db, s.renewSQL, []any{s.namespace, []byte(l.Key), []byte(l.Holder), l.Token, ttl}, &expires)
	return expires, err
}

func (s *postgresStore) release(ctx context.Context, l lease.Lease) error {
	_, err := s.db.ExecContext(ctx, s.releaseSQL, s.namespace, []byte(l.Key), []byte(l.Holder), l.Token)
	return err
}

func (s *postgresStore) get(ctx context.Context, key string) (r record, found bool, err error) {
	found, err = queryRow(ctx, s.db, s.getSQL, []any{s.namespace, []byte(key)}, &r.holder, &r.token, &r.expires, &r.now)
	return r, found, err
}

func (s *postgresStore) kind(err error) kind {
	switch sqlState(err) {
	case "40001", // serialization failure
		"40P01", // deadlock
		"55P03", // lock_timeout
		"26000", // a prepared statement is gone: DISCARD ALL, a pooler
		"42P05": // a prepared statement is there already: a pooler
		return conflict
	case "22012", "22003", // {fail}; the counter at its end
		"42P01", "42703", "42804", "42883", "42P10", // table, column, type, operator, primary key
		"3F000", // schema
		"23502": // a column that this package does not know
		return doubtful
	}
	return other
}

func (s *postgresStore) advice(err error) string {
	switch sqlState(err) {
	case "42501", "28000", "28P01": // privilege, role, password
		return adviceRights
	case "25006":
		return adviceReadOnly
	case "53100": // disk full
		return adviceFull
	}
	return ""
}

// create can fail if two processes do it at once, IF NOT EXISTS or not.
func (s *postgresStore) create(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.createSQL)
	return err
}

func (s *postgresStore) shape(ctx context.Context) (got, want []string, err error) {
	got, err = queryTexts(ctx, s.db, postgresShape, s.table.quoted(`"`))
	return got, []string{"namespace bytea key", "name bytea key", "holder bytea", "token bigint", "expires bigint"}, err
}

func (s *postgresStore) sane(context.Context) error { return nil }
