package sqllease

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
)

// DefaultFenceTable is the table of a fence whose options name none.
const DefaultFenceTable = "fenced"

// FenceOptions are the settings of a [Fence]. A nil *FenceOptions means the
// defaults.
type FenceOptions struct {
	// Table is the table that keeps the values, under the same rules as that of
	// [Options], and another one. Default [DefaultFenceTable].
	Table string

	// Namespace separates fences on one table from each other, as that of
	// [Options] does services. Default "".
	Namespace string
}

// Fence is a protected resource in a table of a SQL database: a value for each key,
// which is written only under a fencing token that is not below the highest one
// seen. It is safe for concurrent use.
//
// A row has the value and the highest token, which one statement compares and
// sets. So the mark lasts as long as the value, and as what the database promises of
// a commit: with synchronous_commit off, innodb_flush_log_at_trx_commit other than
// 1, or a failover to a replica that lags, it may be lost, and then a stale worker
// gets through (FENCE-4). A row is never deleted, for it holds the mark.
//
// The value may have as many bytes as a bytea, a LONGBLOB or a BLOB takes, and in
// MySQL twice as many must fit into max_allowed_packet.
type Fence struct {
	store fencedStore
	table table
}

var _ fence.Resource = (*Fence)(nil)

// fencedStore is one namespace of a table of fenced values. Each call is one
// statement.
type fencedStore interface {
	tabled

	// write sets value and token, unless the row has a higher token, and returns
	// the highest one. A refused write writes the row as it was: that is the price
	// of learning the highest token in the same round trip.
	write(ctx context.Context, key string, token int64, value string) (highest int64, err error)

	// read returns the row, or false if there is none.
	read(ctx context.Context, key string) (value []byte, token int64, found bool, err error)
}

var fencedDialects = map[Dialect]func(*sql.DB, table, string) fencedStore{
	PostgreSQL: openFencedPostgres,
	MySQL:      openFencedMySQL,
	MariaDB:    openFencedMariaDB,
	SQLite:     openFencedSQLite,
}

// NewFence returns a fence on db, under the same conditions as [New] returns a
// service. [Fence.Migrate] makes its table.
func NewFence(db *sql.DB, d Dialect, o *FenceOptions) (*Fence, error) {
	if db == nil {
		return nil, errors.New("new fence: the *sql.DB is nil")
	}
	if o == nil {
		o = &FenceOptions{}
	}
	name := o.Table
	if name == "" {
		name = DefaultFenceTable
	}
	t, err := parseTable(name)
	if err != nil {
		return nil, fmt.Errorf("new fence: %w", err)
	}
	if len(o.Namespace) > maxNamespace {
		return nil, fmt.Errorf("new fence: the namespace has %d bytes, want at most %d", len(o.Namespace), maxNamespace)
	}
	open, ok := fencedDialects[d]
	if !ok {
		return nil, fmt.Errorf("new fence: the dialect %v is unknown: want PostgreSQL, MySQL, MariaDB or SQLite", d)
	}
	return &Fence{store: open(db, t, o.Namespace), table: t}, nil
}

// Migrate makes sure that the table is there, as [Service.Migrate] does.
func (f *Fence) Migrate(ctx context.Context) error {
	if err := f.schema().migrate(ctx); err != nil {
		return fmt.Errorf("migrate fence table %s: %w", f.table, f.schema().advise(err))
	}
	return nil
}

func (f *Fence) schema() schema { return schema{f.store, f.table, "Fence", "FenceOptions.Table"} }

// Write implements [fence.Resource], in one round trip.
func (f *Fence) Write(ctx context.Context, key string, token int64, value string) error {
	const verb = "write fenced key"
	if err := begin(ctx, verb, fence.CheckWrite(key, token)); err != nil {
		return err
	}
	var highest int64
	err := f.try(ctx, func() (err error) {
		highest, err = f.store.write(ctx, key, token, value)
		return err
	})
	switch {
	case err != nil:
		return fail(ctx, verb, key, err)
	case highest < token:
		return fail(ctx, verb, key, fmt.Errorf("the database answers that the highest token is %d, after a write with %d", highest, token))
	case highest > token:
		return &fence.StaleError{Key: key, Token: token, Highest: highest}
	}
	return nil
}

// Read implements [fence.Resource], in one round trip.
func (f *Fence) Read(ctx context.Context, key string) (value string, token int64, err error) {
	const verb = "read fenced key"
	if err := begin(ctx, verb, lease.CheckKey(key)); err != nil {
		return "", 0, err
	}
	var row []byte
	found := false
	err = f.try(ctx, func() (err error) {
		row, token, found, err = f.store.read(ctx, key)
		return err
	})
	switch {
	case err != nil:
		return "", 0, fail(ctx, verb, key, err)
	case !found:
		return "", 0, nil
	case token <= 0:
		return "", 0, fail(ctx, verb, key, fmt.Errorf("unreadable record: its token is %d, want more than 0", token))
	}
	return string(row), token, nil
}

// try runs a statement until it is not in conflict with another session. An error
// that comes from the table is told from one that comes from the row by a look at
// the table.
func (f *Fence) try(ctx context.Context, statement func() error) error {
	return f.schema().try(ctx, func(err error) error {
		if wrong := f.schema().check(ctx); wrong != nil {
			return fmt.Errorf("%w (%w)", wrong, err)
		}
		return fmt.Errorf("unreadable record: its token is not above 0 (%w)", err)
	}, statement)
}
