package sqllease

import (
	"context"
	"database/sql"
	"strings"
)

// fencedSQLite keeps fenced values in SQLite. A statement that may write has the
// write lock before it looks at the row.
type fencedSQLite struct {
	*sqliteStore
	writeSQL, readSQL, createSQL string
}

func openFencedSQLite(db *sql.DB, t table, namespace string) fencedStore {
	r := strings.NewReplacer(
		"{table}", t.quoted(`"`),
		// An error that no constant expression is, as for leases.
		"{fail}", "abs(-9223372036854775807 - 1 + 0 * length(f.name))",
	)
	return &fencedSQLite{
		sqliteStore: &sqliteStore{db: db, namespace: []byte(namespace), table: t},
		writeSQL:    r.Replace(sqliteWrite),
		readSQL:     r.Replace(sqliteRead),
		createSQL:   r.Replace(sqliteCreateFenced),
	}
}

const (
	sqliteWrite = `
		INSERT INTO {table} AS f (namespace, name, token, value)
		VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (namespace, name) DO UPDATE SET
			token = CASE WHEN f.token > 0 THEN max(f.token, excluded.token) ELSE {fail} END,
			value = CASE WHEN f.token > excluded.token THEN f.value ELSE excluded.value END
		RETURNING token`

	sqliteRead = `
		SELECT value, token FROM {table} WHERE namespace = ?1 AND name = ?2`

	sqliteCreateFenced = `
		CREATE TABLE IF NOT EXISTS {table} (
			namespace BLOB NOT NULL,
			name BLOB NOT NULL,
			token INTEGER NOT NULL,
			value BLOB NOT NULL,
			PRIMARY KEY (namespace, name)
		) STRICT`
)

func (s *fencedSQLite) write(ctx context.Context, key string, token int64, value string) (highest int64, err error) {
	_, err = queryRow(ctx, s.db, s.writeSQL, []any{s.namespace, []byte(key), token, []byte(value)}, &highest)
	return highest, err
}

func (s *fencedSQLite) read(ctx context.Context, key string) (value []byte, token int64, found bool, err error) {
	found, err = queryRow(ctx, s.db, s.readSQL, []any{s.namespace, []byte(key)}, &value, &token)
	return value, token, found, err
}

func (s *fencedSQLite) create(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.createSQL)
	return err
}

func (s *fencedSQLite) shape(ctx context.Context) (got, want []string, err error) {
	got, _, err = s.sqliteStore.shape(ctx)
	return got, []string{"namespace BLOB key", "name BLOB key", "token INTEGER", "value BLOB"}, err
}
