// Package sqlproxy stands between database/sql and a driver and sees every
// statement on its way. Tests count statements with it, and put a fault into one
// of them: a backend with a fault needs no code of its own then, and none of the
// backend under test is changed for it.
package sqlproxy

import (
	"context"
	"database/sql/driver"
)

// Connector makes connections of another connector whose statements pass through
// Pass. Use it with sql.OpenDB. The other's connections must offer everything of
// database/sql/driver that is optional, as those of pgx, go-sql-driver/mysql and
// modernc.org/sqlite do.
type Connector struct {
	driver.Connector

	// Pass returns the statement to send in place of query. It is called from
	// several goroutines, and more than once for a statement that the driver
	// first declines to run without preparing it.
	Pass func(query string) string
}

// Connect implements [driver.Connector].
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{inner.(fullConn), c.Pass}, nil
}

// fullConn is what the three drivers offer.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
}

type conn struct {
	fullConn
	pass func(string) string
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.fullConn.Prepare(c.pass(query))
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.fullConn.PrepareContext(ctx, c.pass(query))
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.fullConn.ExecContext(ctx, c.pass(query), args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.fullConn.QueryContext(ctx, c.pass(query), args)
}

// CheckNamedValue leaves the values to the driver, or to database/sql.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.fullConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// IsValid tells the pool whether the connection can be used again.
func (c *conn) IsValid() bool {
	if validator, ok := c.fullConn.(driver.Validator); ok {
		return validator.IsValid()
	}
	return true
}
