package sqllease

import (
	"context"
	"database/sql"
	"strings"
)

// fencedPostgres keeps fenced values in PostgreSQL. ON CONFLICT DO UPDATE locks the
// row before it looks at it, also one that another session has just inserted.
type fencedPostgres struct {
	*postgresStore
	writeSQL, readSQL, createSQL string
}

func openFencedPostgres(db *sql.DB, t table, namespace string) fencedStore {
	r := strings.NewReplacer(
		"{table}", t.quoted(`"`),
		// Division by zero, which PostgreSQL must not see before it has the row.
		"{fail}", "1 / (0 * octet_length(f.name))",
	)
	return &fencedPostgres{
		postgresStore: &postgresStore{db: db, namespace: []byte(namespace), table: t},
		writeSQL:      r.Replace(postgresWrite),
		readSQL:       r.Replace(postgresRead),
		createSQL:     r.Replace(postgresCreateFenced),
	}
}

const (
	postgresWrite = `
		INSERT INTO {table} AS f (namespace, name, token, value)
		VALUES ($1::bytea, $2::bytea, $3::bigint, $4::bytea)
		ON CONFLICT (namespace, name) DO UPDATE SET
			token = CASE WHEN f.token > 0 THEN GREATEST(f.token, EXCLUDED.token) ELSE {fail} END,
			value = CASE WHEN f.token > EXCLUDED.token THEN f.value ELSE EXCLUDED.value END
		RETURNING token`

	postgresRead = `
		SELECT value, token FROM {table} WHERE namespace = $1::bytea AND name = $2::bytea`

	postgresCreateFenced = `
		CREATE TABLE IF NOT EXISTS {table} (
			namespace bytea NOT NULL,
			name bytea NOT NULL,
			token bigint NOT NULL,
			value bytea NOT NULL,
			PRIMARY KEY (namespace, name)
		)`
)

func (s *fencedPostgres) write(ctx context.Context, key string, token int64, value string) (highest int64, err error) {
	_, err = queryRow(ctx, s.db, s.writeSQL, []any{s.namespace, []byte(key), token, []byte(value)}, &highest)
	return highest, err
}

func (s *fencedPostgres) read(ctx context.Context, key string) (value []byte, token int64, found bool, err error) {
	found, err = queryRow(ctx, s.db, s.readSQL, []any{s.namespace, []byte(key)}, &value, &token)
	return value, token, found, err
}

func (s *fencedPostgres) create(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.createSQL)
	return err
}

func (s *fencedPostgres) shape(ctx context.Context) (got, want []string, err error) {
	got, _, err = s.postgresStore.shape(ctx)
	return got, []string{"namespace bytea key", "name bytea key", "token bigint", "value bytea"}, err
}
