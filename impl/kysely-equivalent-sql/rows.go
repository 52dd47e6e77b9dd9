package sqllease

import (
	"context"
	"database/sql"
	"errors"
)

// queryer is a pool or one of its connections.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// queryRow runs a statement that gives one row or none, and tells which. It reads
// to the end: a statement that fails when it is committed fails behind its row,
// and SQLite commits it only then.
func queryRow(ctx context.Context, q queryer, query string, args []any, into ...any) (found bool, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			found, err = false, closeErr
		}
	}()
	var scanErr error
	if found = rows.Next(); found {
		scanErr = rows.Scan(into...)
		if rows.Next() && scanErr == nil {
			scanErr = errors.New("more than one row where there can be one: the table's primary key is not the one that Service.Migrate makes")
		}
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if scanErr != nil {
		return false, scanErr
	}
	return found, nil
}

// queryTexts runs a statement that gives rows of one text.
func queryTexts(ctx context.Context, q queryer, query string, args ...any) (texts []string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}
