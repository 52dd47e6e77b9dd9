package sqllease

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/leasekit/lease"
)

// mysqlStore keeps leases in MySQL 5.7 or newer, and in MariaDB.
//
// Names are written into the statements, as hexadecimal literals: that saves the
// round trip that prepares a statement, and no character set touches them. The
// other arguments are integers. "%" is always one of these verbs.
//
// Neither the number of changed rows nor that of matched ones tells what a
// statement did: it depends on clientFoundRows, and a renewal may change nothing.
// LAST_INSERT_ID(x) hands x to the client whatever changed.
type mysqlStore struct {
	db        *sql.DB
	namespace string
	table     table

	acquireSQL, renewSQL, releaseSQL, getSQL, createSQL string
}

// mysqlClock is µs since 1970. NOW and UTC_TIMESTAMP are the statement's start,
// before it waited; SYSDATE is fresh, but in the session's time zone. This has
// both: fresh, and right in every zone.
const mysqlClock = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)))"

func openMySQL(db *sql.DB, t table, namespace string) store {
	return newMySQL(db, t, namespace, mysqlAcquire, "", mysqlClock)
}

// newMySQL makes the statements, each with a prefix and a way to read the clock.
func newMySQL(db *sql.DB, t table, namespace, acquire, prefix, clock string) *mysqlStore {
	r := strings.NewReplacer(
		"{prefix}", prefix,
		"{table}", t.quoted("`"),
		"{clock}", clock,
		"{readable}", "@@autocommit AND token > 0 AND LENGTH(holder) BETWEEN 1 AND 512 AND LOCATE(X'00', holder) = 0"+
			" AND (expires = 0 OR expires BETWEEN 31536000000000 AND 20000000000000000)",
		// Out of range in every sql_mode, and signed: with an unsigned sum beside it
		// the token would be one too, and pass its end.
		"{fail}", "9223372036854775807 + ABS(COALESCE(token, 0)) + 1",
	)
	return &mysqlStore{
		db: db, namespace: namespace, table: t,
		acquireSQL: r.Replace(acquire),
		renewSQL:   r.Replace(mysqlRenew),
		releaseSQL: r.Replace(mysqlRelease),
		getSQL:     r.Replace(mysqlGet),
		createSQL:  r.Replace(mysqlCreate),
	}
}

const (
	// The assignments are made from left to right, or, in MariaDB's mode
	// SIMULTANEOUS_ASSIGNMENT, all from the old row. @lease_new and @lease_now
	// carry what was decided first, so that both come to the same, and so that the
	// clock is read once: it goes on between two readings. CAST, since a variable
	// that was never set has no type yet, and sums up as a double. The other
	// variables carry the outcome to mysqlOutcome.
	mysqlAcquire = `
		INSERT INTO {table} (namespace, name, holder, token, expires)
		VALUES (X'%[1]x', X'%[2]x', X'%[3]x', @lease_token := 1 + 0 * (@lease_mine := 1),
			@lease_expires := IF(@@autocommit, ({clock} + %[4]d + 999) DIV 1000 * 1000, 9223372036854775807 + 1 + CAST(@@autocommit AS SIGNED)))
		ON DUPLICATE KEY UPDATE
			token = @lease_token := token + (@lease_new := IF({readable}, expires <= (@lease_now := {clock}), {fail})),
			holder = IF(@lease_mine := @lease_new OR holder = X'%[3]x', X'%[3]x', holder),
			expires = @lease_expires := IF(@lease_mine, (CAST(@lease_now AS SIGNED) + %[4]d + 999) DIV 1000 * 1000, expires)`

	mysqlOutcome = "SELECT @lease_mine, @lease_token, @lease_expires, "

	// WHERE comes before SET.
	mysqlRenew = `{prefix}
		UPDATE {table} SET expires = LAST_INSERT_ID((CAST(@lease_now AS SIGNED) + %[5]d + 999) DIV 1000 * 1000)
		WHERE namespace = X'%[1]x' AND name = X'%[2]x'
			AND IF({readable}, holder = X'%[3]x' AND token = %[4]d AND expires > (@lease_now := {clock}), {fail})`

	// No clock: a grant that is over may be released as well.
	mysqlRelease = `{prefix}
		UPDATE {table} SET expires = 0
		WHERE namespace = X'%[1]x' AND name = X'%[2]x'
			AND IF({readable}, holder = X'%[3]x' AND token = %[4]d AND expires <> 0, {fail})`

	// The lock waits for a renewal that was judged before the expiry and is
	// still to be committed. A reader meanwhile would see a grant that is over,
	// and the next one the same grant live.
	//
	// There is a row in any case, since what it says of the server and the session
	// matters for a key that was never taken too.
	mysqlGet = `{prefix}
		SELECT @@autocommit, CONCAT(@@read_only) NOT IN ('0', 'OFF'), holder, token, expires, {clock}
		FROM (SELECT 1 AS one) AS one LEFT JOIN {table} ON namespace = X'%[1]x' AND name = X'%[2]x' LOCK IN SHARE MODE`

	mysqlCreate = `
		CREATE TABLE IF NOT EXISTS {table} (
			namespace VARBINARY(512) NOT NULL,
			name VARBINARY(512) NOT NULL,
			holder VARBINARY(512) NOT NULL,
			token BIGINT NOT NULL,
			expires BIGINT NOT NULL,
			PRIMARY KEY (namespace, name)
		) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`

	// X'' is an empty string in the sql_mode EMPTY_STRING_IS_NULL too.
	mysqlShape = `
		SELECT CONCAT(column_name, ' ', REPLACE(column_type, 'bigint(20)', 'bigint'),
			IF(is_nullable = 'YES', ' null', X''), IF(column_key = 'PRI', ' key', X''))
		FROM information_schema.columns
		WHERE table_schema = IF(LENGTH(X'%[1]x') = 0, DATABASE(), CONVERT(X'%[1]x' USING utf8))
			AND table_name = CONVERT(X'%[2]x' USING utf8)
		ORDER BY ordinal_position`
)

// errAutocommit is returned when a statement would stay uncommitted.
var errAutocommit = errors.New("the session has autocommit off: take autocommit=0 out of the DSN, or out of the server's init_connect")

// errReadOnly is returned when an answer may be out of date.
var errReadOnly = errors.New("the server has read_only set, as a replica has, so that its answer may be out of date")

// session runs body on one connection. If a session without autocommit made the
// body fail, it ends the transaction: the connection goes back to the pool.
func (s *mysqlStore) session(ctx context.Context, body func(*sql.Conn) error) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	err = body(conn)
	if !errors.Is(err, errAutocommit) && s.kind(err) != doubtful {
		return err
	}
	if on, setErr := s.autocommits(ctx, conn); setErr != nil || on {
		return err
	}
	if _, rollbackErr := conn.ExecContext(ctx, "ROLLBACK"); rollbackErr != nil {
		return errors.Join(errAutocommit, rollbackErr)
	}
	return errAutocommit
}

func (s *mysqlStore) autocommits(ctx context.Context, conn *sql.Conn) (on bool, err error) {
	_, err = queryRow(ctx, conn, "SELECT @@autocommit", nil, &on)
	return on, err
}

func (s *mysqlStore) acquire(ctx context.Context, key, holder string, ttl int64) (r record, granted bool, err error) {
	err = s.session(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf(s.acquireSQL, s.namespace, key, holder, ttl)); err != nil {
			return err
		}
		_, err := queryRow(ctx, conn, mysqlOutcome+mysqlClock, nil, &granted, &r.token, &r.expires, &r.now)
		return err
	})
	return r, granted, err
}

// slack has a round trip in it.
func (s *mysqlStore) slack() int64 { return 50_000 }

func (s *mysqlStore) renew(ctx context.Context, l lease.Lease, ttl int64) (expires int64, err error) {
	err = s.session(ctx, func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, fmt.Sprintf(s.renewSQL, s.namespace, l.Key, l.Holder, l.Token, ttl))
		if err == nil {
			expires, err = res.LastInsertId()
		}
		return err
	})
	return expires, err
}

func (s *mysqlStore) release(ctx context.Context, l lease.Lease) error {
	return s.session(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf(s.releaseSQL, s.namespace, l.Key, l.Holder, l.Token))
		return err
	})
}

func (s *mysqlStore) get(ctx context.Context, key string) (r record, found bool, err error) {
	err = s.session(ctx, func(conn *sql.Conn) error {
		var autocommit, readOnly bool
		var token, expires sql.NullInt64
		_, err := queryRow(ctx, conn, fmt.Sprintf(s.getSQL, s.namespace, key), nil, &autocommit, &readOnly, &r.holder, &token, &expires, &r.now)
		switch {
		case err != nil:
			return err
		case !autocommit:
			return errAutocommit
		case readOnly:
			return errReadOnly
		}
		found = r.holder != nil || token.Valid || expires.Valid
		r.token, r.expires = token.Int64, expires.Int64 // NULL is 0, which is no token
		return nil
	})
	return r, found, err
}

func (s *mysqlStore) kind(err error) kind {
	switch mysqlNumber(err) {
	case 1213, // deadlock
		1205, // innodb_lock_wait_timeout
		1020, // the row changed since the transaction's snapshot (innodb_snapshot_isolation)
		1969: // max_statement_time
		return conflict
	case 1690, // {fail}; the counter at its end
		1146, 1054, 1049, 1046, // table, column, database, no database
		1364, 1136, 1406, 1366, 1292: // another column, a column of another type
		return doubtful
	}
	return other
}

func (s *mysqlStore) advice(err error) string {
	if errors.Is(err, errReadOnly) {
		return adviceReadOnly
	}
	switch mysqlNumber(err) {
	case 1142, 1143, 1044, 1045, 1227: // on a table, a column, a database, a user, a privilege
		return adviceRights
	case 1290, 1792, 1836: // an option of the server, a transaction, the server
		return adviceReadOnly
	case 1021, 1114, 3: // disk, table, a write to a file
		return adviceFull
	}
	return ""
}

func (s *mysqlStore) create(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.createSQL)
	return err
}

func (s *mysqlStore) shape(ctx context.Context) (got, want []string, err error) {
	got, err = queryTexts(ctx, s.db, fmt.Sprintf(mysqlShape, s.table.schema, s.table.name))
	return got, []string{"namespace varbinary(512) key", "name varbinary(512) key", "holder varbinary(512)", "token bigint", "expires bigint"}, err
}

// sane looks for --sysdate-is-now, with which no clock is fresh. Without it
// SYSDATE does not follow the session's timestamp.
func (s *mysqlStore) sane(ctx context.Context) error {
	return s.session(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "SET timestamp = 86400"); err != nil {
			return err
		}
		var year int
		_, err := queryRow(ctx, conn, "SELECT YEAR(SYSDATE())", nil, &year)
		_, resetErr := conn.ExecContext(ctx, "SET timestamp = DEFAULT")
		if err := errors.Join(err, resetErr); err != nil {
			return err
		}
		if year == 1970 {
			return errors.New("the server runs with --sysdate-is-now, so a lease would be judged by the time at which a statement began to wait: take the option away")
		}
		return nil
	})
}
