package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

var postgresSource = source{
	name:     "PostgreSQL",
	env:      "LEASE_TEST_POSTGRES_DSN",
	programs: []string{"postgres"},
	image:    "postgres:17",
	folders:  []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"},
	install:  "apt-get install postgresql",
}

// PostgresServer is a PostgreSQL that is running.
type PostgresServer struct {
	dsn string
	*instance
}

// DSN returns the URL of a database for package pgx. Its user may do everything
// on a server that was started here, and should be able to create databases on
// any other. It may contain a password: do not print it.
func (s *PostgresServer) DSN() string { return s.dsn }

var sharedPostgres *PostgresServer

// Postgres returns the PostgreSQL that the tests of this binary share. It may
// hold data of others: use a [PostgresServer.Database] of your own, and leave
// its settings alone.
func Postgres(t testing.TB) *PostgresServer {
	t.Helper()
	return share(t, &sharedPostgres, postgresSource, postgresAt, func(at place) (*PostgresServer, []*instance, error) {
		s, err := startPostgres(at)
		if err != nil {
			return nil, nil, err
		}
		return s, []*instance{s.instance}, nil
	})
}

// StartPostgres starts a PostgreSQL for one test, which may do to it what it
// likes. It ends with the test. The settings, such as "fsync=on", are added to
// those of the command line. Without any, it is fast and no transaction survives
// a crash for sure: synchronous_commit=on makes those survive that it has
// answered.
func StartPostgres(t testing.TB, settings ...string) *PostgresServer {
	t.Helper()
	s, err := startPostgres(postgresSource.place(t), settings...)
	if err != nil {
		t.Fatal(err)
	}
	s.endWith(t)
	return s
}

// Database creates an empty database for the test and returns its URL. It is
// dropped after the test. The options, such as "TEMPLATE template0 ENCODING
// 'LATIN1'", are those of CREATE DATABASE.
func (s *PostgresServer) Database(t testing.TB, options ...string) string {
	t.Helper()
	name := ownName()
	create := fmt.Sprintf("CREATE DATABASE %s %s", name, strings.Join(options, " "))
	if err := s.do(create); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.do("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(s.dsn)
	if err != nil {
		t.Fatalf("the URL of the server in %s is broken", postgresSource.env)
	}
	u.Path = "/" + name
	return u.String()
}

// do runs one statement on a connection of its own.
func (s *PostgresServer) do(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.dsn)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// postgresAt is the server that somebody else started.
func postgresAt(dsn string) (*PostgresServer, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("the value is not of the form postgres://user:password@host:port/database")
	}
	s := &PostgresServer{dsn: dsn}
	if err := s.do("SELECT 1"); err != nil {
		return nil, err
	}
	return s, nil
}

func startPostgres(at place, settings ...string) (*PostgresServer, error) {
	as, err := unprivileged() // postgres refuses to run as root
	if err != nil {
		return nil, err
	}
	dir, err := folder("postgres", as)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if at.image == "" {
		if err := initdb(at.path, dir, data, as); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	var args []string
	for _, setting := range append([]string{
		"fsync=off", "synchronous_commit=off", "full_page_writes=off",
		"statement_timeout=0", "autovacuum=off", "shared_buffers=32MB", "max_connections=200",
	}, settings...) {
		args = append(args, "-c", setting)
	}

	dsn := func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" }
	i, err := startOnFreePort(dir, nil, func(port string) *instance {
		i := &instance{name: "postgres"}
		if at.image != "" {
			i.launcher = &image{name: at.image, cmd: append([]string{"postgres"}, args...), port: "5432/tcp", on: port, env: map[string]string{
				"POSTGRES_HOST_AUTH_METHOD": "trust",
				"POSTGRES_INITDB_ARGS":      strings.Join(initdbArgs, " "),
			}}
		} else {
			i.launcher = program{path: at.path, as: as, stop: os.Interrupt, args: append([]string{
				"-D", data, "-p", port, "-k", dir, "-c", "listen_addresses=127.0.0.1",
			}, args...)}
		}
		i.ready = func(r running) error {
			if _, ok := r.(*process); ok {
				return postgresReady(dsn(i.addr), data)
			}
			return postgresReady(dsn(i.addr), "")
		}
		return i
	})
	if err != nil {
		return nil, err
	}
	return &PostgresServer{dsn: dsn(i.addr), instance: i}, nil
}

var initdbArgs = []string{"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"}

// initdb makes the data folder of a PostgreSQL. The program belongs to the same
// version, and is where postgres is.
func initdb(postgres, dir, data string, as *account) error {
	postgres, err := filepath.EvalSymlinks(postgres)
	if err != nil {
		return err
	}
	return program{
		path: filepath.Join(filepath.Dir(postgres), "initdb"),
		args: append([]string{"-D", data, "-U", "postgres", "-A", "trust"}, initdbArgs...),
		env:  []string{"TZ=UTC"}, // which it would otherwise look for, in many files
		as:   as,
	}.run(dir)
}

// postgresReady says whether the server answers, and is the one with its data
// in that folder, if one is given.
func postgresReady(dsn, data string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var folder string
	if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&folder); err != nil {
		return err
	}
	if data != "" && folder != data {
		return errors.New("another PostgreSQL answers at its address")
	}
	return nil
}
