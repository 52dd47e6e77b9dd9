package sqllease

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// fencedMySQL keeps fenced values in MySQL and in MariaDB. ON DUPLICATE KEY UPDATE
// locks the row before it looks at it.
//
// As for leases, names and values are hexadecimal literals, and the number of
// changed rows says nothing: a write that repeats what is there changes none.
// LAST_INSERT_ID(x) hands the highest token to the client.
type fencedMySQL struct {
	*mysqlStore
	writeSQL, readSQL, createSQL string
}

func openFencedMySQL(db *sql.DB, t table, namespace string) fencedStore {
	return newFencedMySQL(db, t, namespace, "")
}

func openFencedMariaDB(db *sql.DB, t table, namespace string) fencedStore {
	return newFencedMySQL(db, t, namespace, mariadbPrefix)
}

func newFencedMySQL(db *sql.DB, t table, namespace, prefix string) *fencedMySQL {
	r := strings.NewReplacer(
		"{prefix}", prefix,
		"{table}", t.quoted("`"),
		// Out of range in every sql_mode.
		"{fail}", "9223372036854775807 + ABS(COALESCE(token, 0)) + 1",
		"{fail at once}", "9223372036854775807 + 1 + CAST(@@autocommit AS SIGNED)",
	)
	return &fencedMySQL{
		mysqlStore: &mysqlStore{db: db, namespace: namespace, table: t},
		writeSQL:   r.Replace(mysqlWrite),
		readSQL:    r.Replace(mysqlRead),
		createSQL:  r.Replace(mysqlCreateFenced),
	}
}

const (
	// The assignments are made from left to right, so the value comes first: it goes
	// by the token that was there. In MariaDB's mode SIMULTANEOUS_ASSIGNMENT all are
	// made from the old row, which comes to the same.
	mysqlWrite = `{prefix}
		INSERT INTO {table} (namespace, name, token, value)
		VALUES (X'%[1]x', X'%[2]x', LAST_INSERT_ID(IF(@@autocommit, %[3]d, {fail at once})), X'%[4]x')
		ON DUPLICATE KEY UPDATE
			value = IF(token > %[3]d, value, VALUES(value)),
			token = LAST_INSERT_ID(IF(@@autocommit AND token > 0, GREATEST(token, %[3]d), {fail}))`

	mysqlRead = `{prefix}
		SELECT @@autocommit, value, token FROM {table}
		WHERE namespace = X'%[1]x' AND name = X'%[2]x'`

	mysqlCreateFenced = `
		CREATE TABLE IF NOT EXISTS {table} (
			namespace VARBINARY(512) NOT NULL,
			name VARBINARY(512) NOT NULL,
			token BIGINT NOT NULL,
			value LONGBLOB NOT NULL,
			PRIMARY KEY (namespace, name)
		) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`
)

func (s *fencedMySQL) write(ctx context.Context, key string, token int64, value string) (highest int64, err error) {
	err = s.session(ctx, func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, fmt.Sprintf(s.writeSQL, s.namespace, key, token, value))
		if err == nil {
			highest, err = res.LastInsertId()
		}
		return err
	})
	return highest, err
}

func (s *fencedMySQL) read(ctx context.Context, key string) (value []byte, token int64, found bool, err error) {
	err = s.session(ctx, func(conn *sql.Conn) (err error) {
		autocommit := true
		found, err = queryRow(ctx, conn, fmt.Sprintf(s.readSQL, s.namespace, key), nil, &autocommit, &value, &token)
		if err == nil && !autocommit {
			err = errAutocommit
		}
		return err
	})
	return value, token, found, err
}

func (s *fencedMySQL) create(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.createSQL)
	return err
}

func (s *fencedMySQL) shape(ctx context.Context) (got, want []string, err error) {
	got, _, err = s.mysqlStore.shape(ctx)
	return got, []string{"namespace varbinary(512) key", "name varbinary(512) key", "token bigint", "value longblob"}, err
}

// sane is content with any clock: a fence reads none.
func (s *fencedMySQL) sane(context.Context) error { return nil }
