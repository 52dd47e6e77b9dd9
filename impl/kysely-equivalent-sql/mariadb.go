package sqllease

import (
	"context"
	"database/sql"
	"fmt"
)

// mariadbStore keeps leases in MariaDB 10.5 or newer. It acquires in one round
// trip, since MariaDB's INSERT can return the row, and its statements can have
// settings of their own.
type mariadbStore struct{ *mysqlStore }

const (
	// mariadbPrefix makes SYSDATE tell UTC. And it ends a statement that waits: the
	// driver closes a connection whose context ends, but the server goes on with
	// its statement, and could grant a lease long after.
	mariadbPrefix = "SET STATEMENT time_zone = '+00:00', max_statement_time = 10 FOR"

	mariadbClock = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))"

	// The row is the one after the statement, so its holder tells whether the
	// lease was granted.
	mariadbAcquire = `{prefix}
		INSERT INTO {table} (namespace, name, holder, token, expires)
		VALUES (X'%[1]x', X'%[2]x', X'%[3]x', 1, IF(@@autocommit, ({clock} + %[4]d + 999) DIV 1000 * 1000, 9223372036854775807 + 1 + CAST(@@autocommit AS SIGNED)))
		ON DUPLICATE KEY UPDATE
			token = token + (@lease_new := IF({readable}, expires <= (@lease_now := {clock}), {fail})),
			holder = IF(@lease_new, X'%[3]x', holder),
			expires = IF(@lease_new OR holder = X'%[3]x', (CAST(@lease_now AS SIGNED) + %[4]d + 999) DIV 1000 * 1000, expires)
		RETURNING holder = X'%[3]x', token, expires, {clock}`
)

func openMariaDB(db *sql.DB, t table, namespace string) store {
	return &mariadbStore{newMySQL(db, t, namespace, mariadbAcquire, mariadbPrefix, mariadbClock)}
}

func (s *mariadbStore) acquire(ctx context.Context, key, holder string, ttl int64) (r record, granted bool, err error) {
	err = s.session(ctx, func(conn *sql.Conn) error {
		_, err := queryRow(ctx, conn, fmt.Sprintf(s.acquireSQL, s.namespace, key, holder, ttl), nil, &granted, &r.token, &r.expires, &r.now)
		return err
	})
	return r, granted, err
}

func (s *mariadbStore) slack() int64 { return 20_000 }
