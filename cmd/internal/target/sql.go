package target

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
)

func openPostgres(dsn string) (*Target, error) {
	if _, err := parseURL(dsn); err != nil {
		return nil, err
	}
	conf, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: want postgres://[user:password@]host:port/db, with the options of pgx", ErrDSN)
	}
	name := fmt.Sprintf("postgres://%s:%d/%s", conf.Host, conf.Port, conf.Database)
	return &Target{Name: name, Kind: PostgreSQL, connect: func(ctx context.Context, o Options) (*Client, error) {
		conf := conf.Copy()
		if o.Dial != nil {
			conf.DialFunc = o.Dial
		}
		return sqlClient(ctx, PostgreSQL, stdlib.OpenDB(*conf), o)
	}}, nil
}

func openMySQL(dsn string) (*Target, error) {
	u, err := parseURL(dsn)
	if err != nil {
		return nil, err
	}
	addr := u.Host
	if u.Port() == "" {
		addr += ":3306"
	}
	// The driver's own form has no escapes: the parts are put into its config.
	conf, err := mysql.ParseDSN("tcp(" + addr + ")/?" + u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%w: want mysql://[user:password@]host:port/db, with the options of go-sql-driver", ErrDSN)
	}
	conf.User, conf.DBName = u.User.Username(), strings.TrimPrefix(u.Path, "/")
	conf.Passwd, _ = u.User.Password()
	conf.Logger = &mysql.NopLogger{}
	name := "mysql://" + addr + "/" + conf.DBName
	return &Target{Name: name, Kind: MySQL, connect: func(ctx context.Context, o Options) (*Client, error) {
		conf := conf.Clone()
		conf.DialFunc = o.Dial
		connector, err := mysql.NewConnector(conf)
		if err != nil {
			return nil, err
		}
		return sqlClient(ctx, MySQL, sql.OpenDB(connector), o)
	}}, nil
}

// openSQLite takes a path with options of the driver after a "?". What is not said
// there is set as a program would: a write-ahead log, and waiting for a lock.
func openSQLite(rest string) (*Target, error) {
	path, options, _ := strings.Cut(rest, "?")
	if path == "" {
		return nil, fmt.Errorf("%w: want sqlite:PATH", ErrDSN)
	}
	for _, pragma := range []string{"journal_mode(wal)", "synchronous(normal)", "busy_timeout(5000)"} {
		if name, _, _ := strings.Cut(pragma, "("); !strings.Contains(options, "_pragma="+name) {
			options += "&_pragma=" + pragma
		}
	}
	escaped := strings.NewReplacer("%", "%25", "#", "%23").Replace(path)
	return &Target{Name: "sqlite:" + path, Kind: SQLite, connect: func(ctx context.Context, o Options) (*Client, error) {
		db, err := sql.Open("sqlite", "file:"+escaped+"?"+strings.TrimPrefix(options, "&"))
		if err != nil {
			return nil, err
		}
		return sqlClient(ctx, SQLite, db, o)
	}}, nil
}

func sqlClient(ctx context.Context, kind Kind, db *sql.DB, o Options) (*Client, error) {
	if o.Conns > 0 {
		db.SetMaxOpenConns(o.Conns)
		// Otherwise all but two of them are closed after each call.
		db.SetMaxIdleConns(o.Conns)
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(adviseSQL(err), db.Close())
	}
	c := &Client{DB: db, Dialect: dialects[kind], table: o.Table}
	if kind == MySQL {
		var version string
		if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
			return nil, errors.Join(adviseSQL(err), db.Close())
		}
		c.Dialect = sqllease.MySQL
		if strings.Contains(version, "MariaDB") {
			c.Dialect = sqllease.MariaDB
		}
	}
	return c, nil
}

func adviseSQL(err error) error {
	var denied *mysql.MySQLError
	state := interface{ SQLState() string }(nil)
	switch {
	case errors.As(err, &state) && strings.HasPrefix(state.SQLState(), "28"), errors.As(err, &denied) && denied.Number == 1045:
		return oneLine(fmt.Errorf("%w: check the user and the password in the DSN", err))
	case isNetwork(err):
		return oneLine(fmt.Errorf("%w: is the server running, and reachable from here?", err))
	}
	return oneLine(err)
}
