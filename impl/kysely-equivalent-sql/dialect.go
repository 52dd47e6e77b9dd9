package sqllease

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/leasekit/lease"
)

// Dialect is a kind of database. The package documentation says which versions
// and drivers it was tried with.
type Dialect int

// The dialects. MySQL's statements run on MariaDB too; MariaDB's need fewer
// round trips.
const (
	PostgreSQL Dialect = iota + 1
	MySQL
	MariaDB
	SQLite
)

var dialects = map[Dialect]struct {
	name string
	open func(*sql.DB, table, string) store
}{
	PostgreSQL: {"PostgreSQL", openPostgres},
	MySQL:      {"MySQL", openMySQL},
	MariaDB:    {"MariaDB", openMariaDB},
	SQLite:     {"SQLite", openSQLite},
}

// String is the database's name.
func (d Dialect) String() string {
	if known, ok := dialects[d]; ok {
		return known.name
	}
	return fmt.Sprintf("Dialect(%d)", int(d))
}

func (d Dialect) open(db *sql.DB, t table, namespace string) (store, error) {
	known, ok := dialects[d]
	if !ok {
		return nil, fmt.Errorf("the dialect %v is unknown: want PostgreSQL, MySQL, MariaDB or SQLite", d)
	}
	return known.open(db, t, namespace), nil
}

// store is one namespace of a table in one kind of database. Names are valid,
// a ttl is in µs. Each call is one statement that takes effect in full or fails.
type store interface {
	// acquire returns the token and the expiry of the grant, and the clock after
	// it, or false if another holder's lease is live.
	acquire(ctx context.Context, key, holder string, ttl int64) (record, bool, error)

	// slack is how long an acquire that waited for nothing may take from its first
	// look at the clock to its last, in µs, as a rule.
	slack() int64

	// renew returns the new expiry, or 0 if the lease is lost.
	renew(ctx context.Context, l lease.Lease, ttl int64) (expires int64, err error)

	release(ctx context.Context, l lease.Lease) error

	// get returns the row and the clock at which it was read, or false if there
	// is none.
	get(ctx context.Context, key string) (record, bool, error)

	tabled
}

// kind is what the error of a statement means for the call.
type kind int

const (
	other    kind = iota
	conflict      // nothing happened, since another session was in the way: try again
	doubtful      // nothing happened, since the table or the row is not as it should be
)

// What can be done about errors that servers of all kinds have.
const (
	adviceRights   = "let the user log in, and grant it SELECT, INSERT and UPDATE on the table; Migrate needs to create it too, if there is none"
	adviceReadOnly = "connect to the primary, with a session that may write"
	adviceFull     = "make room on the server's disk"
)
