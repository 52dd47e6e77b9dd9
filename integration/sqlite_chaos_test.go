package integration

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	"github.com/leasekit/lease/internal/tinystore"
)

// SQLite has no server that could be killed. So the test binary, run once more,
// is one: it keeps leases in a file and answers requests. It is killed in the
// middle of its writes.
const (
	sqliteFile = "LEASEKIT_TEST_SQLITE_FILE" // where; set, it makes the binary that server
	sqliteAddr = "LEASEKIT_TEST_SQLITE_ADDR"
)

// serveSQLite is the program of that server. It ends with its input.
func serveSQLite(file, addr string) error {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=synchronous(full)&_pragma=journal_mode(wal)")
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := sqllease.New(db, sqllease.SQLite, nil)
	if err != nil {
		return err
	}
	if err := s.Migrate(context.Background()); err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go tinystore.Serve(c, s)
	}
}

// sqliteServer is such a process.
type sqliteServer struct {
	file, addr string
	cmd        *exec.Cmd
}

var _ chaos.Process = (*sqliteServer)(nil)

// Pid implements [chaos.Process].
func (s *sqliteServer) Pid() (int, error) { return s.cmd.Process.Pid, nil }

// Start implements [chaos.Process].
func (s *sqliteServer) Start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.cmd = exec.Command(self)
	s.cmd.Env = append(os.Environ(), sqliteFile+"="+s.file, sqliteAddr+"="+s.addr)
	var said strings.Builder
	s.cmd.Stderr = &said
	if _, err := s.cmd.StdinPipe(); err != nil { // open for as long as this process lives
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("start a server on SQLite: %w%s", err, said.String()), s.Kill())
	}
	s.addr = strings.TrimSpace(addr)
	return nil
}

// Kill implements [chaos.Process].
func (s *sqliteServer) Kill() error { return s.end(syscall.SIGKILL) }

// Stop implements [chaos.Process].
func (s *sqliteServer) Stop() error { return s.end(syscall.SIGTERM) }

func (s *sqliteServer) end(signal os.Signal) error {
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	s.cmd.Wait() // its error is the signal
	return nil
}

func openSQLite(t *testing.T, name string) func() chaos.Target {
	s := &sqliteServer{file: filepath.Join(t.TempDir(), "leases.db"), addr: "127.0.0.1:0"}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Kill() })
	n := 0
	return func() chaos.Target {
		n++
		prefix := fmt.Sprintf("%d/", n) // the file outlives a campaign
		return chaos.Target{
			Name: name,
			Connect: func(dial chaos.Dial) (lease.Service, func() error, error) {
				c := tinystore.Connect(s.addr, dial, tinystore.Flaws{})
				return prefixed{c, prefix}, c.Close, nil
			},
			Now:        time.Now,
			Match:      namesKey,
			Faults:     chaos.ProcessKinds(s),
			LateCommit: true,
			Redates:    true,
			Resolution: 2 * time.Millisecond, // its clock has whole ms, and a grant ends at the ms after it
		}
	}
}

// prefixed is a service whose keys begin with something.
type prefixed struct {
	lease.Service
	prefix string
}

func (p prefixed) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	return p.cut(p.Service.Acquire(ctx, p.prefix+key, holder, ttl))
}

func (p prefixed) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	l.Key = p.prefix + l.Key
	return p.cut(p.Service.Renew(ctx, l, ttl))
}

func (p prefixed) Release(ctx context.Context, l lease.Lease) error {
	l.Key = p.prefix + l.Key
	return p.Service.Release(ctx, l)
}

func (p prefixed) Get(ctx context.Context, key string) (lease.Lease, error) {
	return p.cut(p.Service.Get(ctx, p.prefix+key))
}

func (p prefixed) cut(l lease.Lease, err error) (lease.Lease, error) {
	l.Key = strings.TrimPrefix(l.Key, p.prefix)
	return l, err
}
