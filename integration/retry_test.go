package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// Clients repeat commands whose connection broke: go-redis up to MaxRetries
// times, database/sql on a connection that its driver calls bad. A call that may
// have been executed must not be repeated behind its back: the first execution
// may have granted, another worker released, and the second would grant again
// (ERR-2). Here each kind of call in turn loses its reply.
func TestClientsDoNotRepeatCalls(t *testing.T) {
	redis.SetLogger(silence{})
	for name, open := range map[string]func(t *testing.T) chaos.Target{
		"redis, MaxRetries 5": func(t *testing.T) chaos.Target {
			srv := server.StartRedis(t)
			return redisTarget("redis", srv, redisClient(t, srv, nil), redislease.Options{}, func(o *redis.Options) {
				o.MaxRetries, o.DialerRetries = 5, 5
			})
		},
		"redis, waiting": func(t *testing.T) chaos.Target {
			return startPair(t).target("redis pair", redislease.Options{Replicas: 1})
		},
		"postgres": func(t *testing.T) chaos.Target { return openPostgres()(t, "postgres")() },
		"mariadb":  func(t *testing.T) chaos.Target { return openMariaDB()(t, "mariadb")() },
	} {
		t.Run(name, func(t *testing.T) { testRepeats(t, open(t)) })
	}
}

func testRepeats(t *testing.T, target chaos.Target) {
	connect := func() (lease.Service, *chaos.Link) {
		link, err := chaos.NewLink("test")
		if err != nil {
			t.Fatal(err)
		}
		s, closing, err := target.Connect(link.Dial)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closing(); link.Close() })
		return s, link
	}
	s, link := connect()
	other, _ := connect()
	ctx := context.Background()
	const key = "key-1"

	// lose makes a call whose reply is lost. It was delivered once.
	lose := func(what string, call func() error) {
		t.Helper()
		delivered := 0
		f := chaos.LoseReply(link, chaos.Aim{Match: func(request []byte) bool {
			if target.Match(request) {
				delivered++
			}
			return target.Match(request)
		}})
		if err := f.Start(ctx); err != nil {
			t.Fatal(err)
		}
		err := call()
		if err := f.Heal(ctx); err != nil {
			t.Fatal(err)
		}
		wantError(t, what+" whose reply is lost", err)
		if f.Hits() != 1 || delivered != 1 {
			t.Errorf("%s whose reply is lost: it was delivered %d times, and %d replies were lost, want 1", what, delivered, f.Hits())
		}
	}
	// held is the lease as others see it.
	held := func(what string) lease.Lease {
		t.Helper()
		l, err := other.Get(ctx, key)
		if err != nil {
			t.Fatalf("Get after %s: %v", what, err)
		}
		return l
	}
	// The server knows the scripts, and the client has a connection.
	if _, err := s.Get(ctx, key); !errors.Is(err, lease.ErrNotHeld) {
		t.Fatalf("Get: %v", err)
	}
	first := acquire(t, s, key, "a", time.Hour)
	if _, err := s.Renew(ctx, first, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(ctx, first); err != nil {
		t.Fatal(err)
	}

	lose("Acquire", func() error { _, err := s.Acquire(ctx, key, "a", time.Hour); return err })
	l := held("Acquire")
	if l.Holder != "a" || l.Token <= first.Token {
		t.Errorf("after an Acquire whose reply is lost: got %v, want a grant of a", l)
	}
	if again := acquire(t, s, key, "a", time.Hour); again.Token != l.Token {
		t.Errorf("Acquire repeated: got token %d, want %d", again.Token, l.Token)
	}
	lose("Renew", func() error { _, err := s.Renew(ctx, l, 3*time.Hour); return err })
	if got := held("Renew"); got.Token != l.Token || !got.ExpiresAt.After(l.ExpiresAt.Add(time.Hour)) {
		t.Errorf("after a Renew whose reply is lost: got %v, want a later end than %v", got, l)
	}
	if _, err := s.Renew(ctx, l, time.Hour); err != nil {
		t.Errorf("Renew repeated: %v", err)
	}
	lose("Get", func() error { _, err := s.Get(ctx, key); return err })
	lose("Release", func() error { return s.Release(ctx, l) })
	if _, err := other.Get(ctx, key); !errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("after a Release whose reply is lost: Get: got %v, want ErrNotHeld", err)
	}
	taken := acquire(t, other, key, "b", time.Hour)
	if err := s.Release(ctx, l); err != nil {
		t.Errorf("Release repeated: %v", err)
	}
	if got := held("a late Release"); got != taken {
		t.Errorf("a Release that was repeated late: got %v, want %v", got, taken)
	}
}
