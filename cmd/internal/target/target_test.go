package target

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/leasekit/lease"
)

const secret = "s3cr3t"

func TestBadDSNs(t *testing.T) {
	for _, dsn := range []string{
		"", "redis", "memory:x", "embedded:", "embedded:mysql", "ftp://host",
		"redis://:" + secret + "@", "redis://user:" + secret + "@host:port/0", "redis://user:" + secret + "@host:6379/jobs",
		"redis://user:" + secret + "#x@host:6379", "redis://user:" + secret + "/x@host:6379",
		"redis+cluster://:" + secret + "@h:1/x", "redis+sentinel://:" + secret + "@h:1",
		"postgres://u:" + secret + "@h:x/db", "postgres://u:" + secret + "@h:1/db?sslmode=" + secret,
		"mysql://u:" + secret + "@h:1/db?timeout=" + secret, "mysql:" + secret, "sqlite:",
	} {
		_, err := Open(dsn)
		if !errors.Is(err, ErrDSN) {
			t.Errorf("Open(%q): got %v, want ErrDSN", dsn, err)
			continue
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open(%q): the error has the password, or several lines: %q", dsn, err)
		}
	}
}

func TestNameHasNoSecrets(t *testing.T) {
	for dsn, want := range map[string]string{
		"redis://u:" + secret + "@h:1/2?pool_size=3":                "redis://h:1/2",
		"rediss://:" + secret + "@h:1":                              "rediss://h:1",
		"redis+cluster://u:" + secret + "@h:1?addr=h:2":             "redis+cluster://h:1",
		"redis+sentinel://u:" + secret + "@h:1?master_name=m":       "redis+sentinel://h:1",
		"postgres://u:" + secret + "@h:1/db":                        "postgres://h:1/db",
		"mysql://u:" + secret + "@h/db":                             "mysql://h:3306/db",
		"sqlite:leases.db?_pragma=key(" + secret + ")":              "sqlite:leases.db",
		"postgres://u@h:1/db?password=" + secret + "&sslmode=allow": "postgres://h:1/db",
	} {
		tg, err := Open(dsn)
		if err != nil {
			t.Errorf("Open(%q): %v", dsn, err)
			continue
		}
		if tg.Name != want {
			t.Errorf("Open(%q): got the name %q, want %q", dsn, tg.Name, want)
		}
	}
}

// Each kind that needs no server grants, keeps namespaces apart and shows a grant to
// another client.
func TestConnect(t *testing.T) {
	for _, dsn := range []string{"memory:", "embedded:redis", "embedded:sqlite", "sqlite:" + filepath.Join(t.TempDir(), "a b#c%41?_pragma=journal_mode(delete)")} {
		t.Run(dsn, func(t *testing.T) {
			ctx, tg := t.Context(), open(t, dsn)
			one, other := service(t, tg, "ns"), service(t, tg, "other")
			l, err := one.Acquire(ctx, "key", "holder", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Get(ctx, "key"); !errors.Is(err, lease.ErrNotHeld) {
				t.Errorf("another namespace: got %v, want ErrNotHeld", err)
			}
			got, err := service(t, tg, "ns").Get(ctx, "key")
			if err != nil || got != l {
				t.Errorf("another client: got %v, %v, want %v", got, err, l)
			}
		})
	}
}

func TestConnectErrors(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := closed.Addr().String()
	closed.Close()
	guarded := miniredis.RunT(t)
	guarded.RequireAuth("right")
	for _, c := range []struct{ dsn, want string }{
		{"redis://:" + secret + "@" + addr, "is the server running"},
		{"redis+cluster://:" + secret + "@" + addr, "is the server running"},
		{"postgres://u:" + secret + "@" + addr + "/db?sslmode=disable", "is the server running"},
		{"mysql://u:" + secret + "@" + addr + "/db", "is the server running"},
		{"redis://:" + secret + "@" + guarded.Addr(), "check the user and the password"},
		{"redis://" + guarded.Addr(), "check the user and the password"},
		{"sqlite:" + filepath.Join(t.TempDir(), "none", "x.db"), "unable to open"},
	} {
		_, err := open(t, c.dsn).Connect(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.dsn, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has the password, or several lines: %q", c.dsn, err)
		}
	}
}

func TestDial(t *testing.T) {
	var dials atomic.Int64
	c, err := open(t, "embedded:redis").Connect(t.Context(), &Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if dials.Load() == 0 {
		t.Error("the connection was made without Options.Dial")
	}
}

func open(t *testing.T, dsn string) *Target {
	t.Helper()
	tg, err := Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	})
	return tg
}

func service(t *testing.T, tg *Target, namespace string) lease.Service {
	t.Helper()
	c, err := tg.Connect(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	s, err := c.Service(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
