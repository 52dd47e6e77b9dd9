package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

var mariadbSource = source{
	name:     "MariaDB",
	env:      "LEASE_TEST_MARIADB_DSN",
	programs: []string{"mariadbd", "mysqld"},
	folders:  []string{"/usr/sbin", "/usr/libexec"},
	image:    "mariadb:11",
	install:  "apt-get install mariadb-server",
}

// MariaDBServer is a MariaDB that is running.
type MariaDBServer struct {
	dsn string
	*instance
}

// DSN returns the address as go-sql-driver/mysql reads it, without a database.
// Its user may do everything on a server that was started here, and should be
// able to create databases on any other. It may contain a password: do not
// print it.
func (s *MariaDBServer) DSN() string { return s.dsn }

var sharedMariaDB *MariaDBServer

// MariaDB returns the MariaDB that the tests of this binary share. It may hold
// data of others: use a [MariaDBServer.Database] of your own, and leave its
// settings alone.
func MariaDB(t testing.TB) *MariaDBServer {
	t.Helper()
	return share(t, &sharedMariaDB, mariadbSource, mariadbAt, func(at place) (*MariaDBServer, []*instance, error) {
		s, err := startMariaDB(at)
		if err != nil {
			return nil, nil, err
		}
		return s, []*instance{s.instance}, nil
	})
}

// StartMariaDB starts a MariaDB for one test, which may do to it what it likes.
// It ends with the test. The args, such as "--sql-mode=ORACLE", are added to the
// command line. What it has committed survives Crash.
func StartMariaDB(t testing.TB, args ...string) *MariaDBServer {
	t.Helper()
	s, err := startMariaDB(mariadbSource.place(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	s.endWith(t)
	return s
}

// Database creates an empty database for the test and returns its address. It
// is dropped after the test. The options, such as "COLLATE latin1_swedish_ci",
// are those of CREATE DATABASE.
func (s *MariaDBServer) Database(t testing.TB, options ...string) string {
	t.Helper()
	name := ownName()
	if err := s.do(fmt.Sprintf("CREATE DATABASE %s %s", name, strings.Join(options, " "))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.do("DROP DATABASE " + name); err != nil {
			t.Error(err)
		}
	})
	c, err := mysql.ParseDSN(s.dsn)
	if err != nil {
		t.Fatalf("the address of the server in %s is broken", mariadbSource.env)
	}
	c.DBName = name
	return c.FormatDSN()
}

// do runs one statement on a connection of its own.
func (s *MariaDBServer) do(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	db, err := sql.Open("mysql", s.dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// mariadbAt is the server that somebody else started.
func mariadbAt(dsn string) (*MariaDBServer, error) {
	if _, err := mysql.ParseDSN(dsn); err != nil {
		return nil, errors.New("the value is not of the form user:password@tcp(host:port)/")
	}
	s := &MariaDBServer{dsn: dsn}
	if err := s.do("DO 1"); err != nil {
		return nil, err
	}
	return s, nil
}

func startMariaDB(at place, args ...string) (*MariaDBServer, error) {
	as, err := unprivileged() // mariadbd refuses to run as root
	if err != nil {
		return nil, err
	}
	dir, err := folder("mariadb", as)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if at.image == "" {
		if err := installMariaDB(at.path, dir, data, as); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	args = append(append([]string{
		"--skip-networking=0", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=2", "--max-connections=200",
	}, smallMariaDB...), args...)

	dsn := func(addr string) string { return "root@tcp(" + addr + ")/" }
	i, err := startOnFreePort(dir, nil, func(port string) *instance {
		i := &instance{name: "mariadbd"}
		if at.image != "" {
			// Its entry point adds the name of the program.
			i.launcher = &image{name: at.image, cmd: args, port: "3306/tcp", on: port, env: map[string]string{
				"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "1", "MYSQL_ALLOW_EMPTY_PASSWORD": "1",
			}}
		} else {
			i.launcher = program{path: at.path, as: as, args: append([]string{
				"--no-defaults", "--datadir=" + data, "--bind-address=127.0.0.1", "--port=" + port,
				"--socket=" + filepath.Join(dir, "socket"), "--pid-file=" + filepath.Join(dir, "pid"),
			}, args...)}
		}
		i.ready = func(r running) error {
			if _, ok := r.(*process); ok {
				return mariadbReady(dsn(i.addr), data)
			}
			return mariadbReady(dsn(i.addr), "")
		}
		return i
	})
	if err != nil {
		return nil, err
	}
	return &MariaDBServer{dsn: dsn(i.addr), instance: i}, nil
}

// smallMariaDB are settings with which a server that holds next to nothing
// starts faster.
var smallMariaDB = []string{"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M"}

// installMariaDB makes the data folder of a MariaDB.
func installMariaDB(mariadbd, dir, data string, as *account) error {
	script, err := mariadbSource.find("mariadb-install-db", "mysql_install_db")
	args := []string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"}
	if err != nil { // as with MySQL
		script, args = mariadbd, []string{"--no-defaults", "--datadir=" + data, "--initialize-insecure"}
	}
	return program{path: script, args: append(args, smallMariaDB...), as: as}.run(dir)
}

// mariadbReady says whether the server answers, and is the one with its data in
// that folder, if one is given.
func mariadbReady(dsn, data string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	var folder string
	if err := db.QueryRowContext(ctx, "SELECT @@datadir").Scan(&folder); err != nil {
		return err
	}
	if data != "" && filepath.Clean(folder) != data {
		return errors.New("another MariaDB answers at its address")
	}
	return nil
}
