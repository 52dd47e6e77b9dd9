package integration

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// ERR-5: scripts that the server has forgotten are sent again.
func TestRedisScriptFlush(t *testing.T) {
	srv := server.StartRedis(t)
	client := redisClient(t, srv, nil)
	s, ctx := redislease.New(client, nil), context.Background()
	l := lease.Lease{Key: "job", Holder: "a", Token: 1}
	for name, call := range map[string]func() error{
		"Acquire": func() error { _, err := s.Acquire(ctx, "job", "a", time.Hour); return err },
		"Renew":   func() error { _, err := s.Renew(ctx, l, time.Hour); return ignore(err, lease.ErrLost) },
		"Get":     func() error { _, err := s.Get(ctx, "job"); return ignore(err, lease.ErrNotHeld) },
		"Release": func() error { return s.Release(ctx, l) },
	} {
		for range 2 {
			redisDo(t, client, "script", "flush")
			if err := call(); err != nil {
				t.Errorf("%s after SCRIPT FLUSH: %v", name, err)
			}
		}
	}
}

func ignore(err, sentinel error) error {
	if errors.Is(err, sentinel) {
		return nil
	}
	return err
}

// TOKEN-10, EXPIRY-9, ERR-5: with appendfsync always a crash forgets nothing,
// and the same service goes on.
func TestRedisCrash(t *testing.T) {
	srv := server.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	s, ctx := redislease.New(redisClient(t, srv, nil), nil), context.Background()
	released := acquire(t, s, "released", "a", time.Hour)
	if err := s.Release(ctx, released); err != nil {
		t.Fatal(err)
	}
	held := acquire(t, s, "held", "a", time.Hour)

	srv.Crash(t)
	_, err := s.Get(ctx, "held")
	wantError(t, "Get while the server is down", err)
	_, err = s.Acquire(ctx, "held", "b", time.Hour)
	wantError(t, "Acquire while the server is down", err)
	srv.Restart(t)

	if got, err := s.Get(ctx, "held"); err != nil || got != held {
		t.Errorf("Get after the crash: got %v, %v, want %v", got, err, held)
	}
	if got := acquire(t, s, "released", "b", time.Hour); got.Token <= released.Token {
		t.Errorf("token after the crash: got %d, want more than %d", got.Token, released.Token)
	}
	if _, err := s.Renew(ctx, held, time.Hour); err != nil {
		t.Errorf("Renew after the crash: %v", err)
	}
}

// ERR-4: a replica does not answer from data that may be out of date.
func TestRedisReplica(t *testing.T) {
	primary := server.StartRedis(t, "--repl-diskless-sync-delay", "0")
	s, ctx := redislease.New(redisClient(t, primary, nil), nil), context.Background()
	l := acquire(t, s, "job", "a", time.Hour)

	host, port, err := net.SplitHostPort(primary.Addr())
	if err != nil {
		t.Fatal(err)
	}
	replica := server.StartRedis(t, "--replicaof", host+" "+port)
	client := redisClient(t, replica, nil)
	hash, _ := redisNames(redislease.DefaultPrefix, "job")
	for deadline := time.Now().Add(10 * time.Second); client.Exists(ctx, hash).Val() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the lease does not reach the replica")
		}
	}

	stale := redislease.New(client, nil)
	made := lease.Lease{Key: "job", Holder: "a", Token: 9}
	for name, call := range map[string]func() error{
		"refused Acquire":       func() error { _, err := stale.Acquire(ctx, "job", "b", time.Hour); return err },
		"Acquire by its holder": func() error { _, err := stale.Acquire(ctx, "job", "a", time.Hour); return err },
		"Acquire of a free key": func() error { _, err := stale.Acquire(ctx, "free", "b", time.Hour); return err },
		"Renew":                 func() error { _, err := stale.Renew(ctx, l, time.Hour); return err },
		"Renew of a lost lease": func() error { _, err := stale.Renew(ctx, made, time.Hour); return err },
		"Release":               func() error { return stale.Release(ctx, l) },
		"Release of a lost one": func() error { return stale.Release(ctx, made) },
		"Get":                   func() error { _, err := stale.Get(ctx, "job"); return err },
		"Get of a free key":     func() error { _, err := stale.Get(ctx, "free"); return err },
	} {
		err := call()
		wantError(t, name+" on a replica", err)
		if err != nil && !redis.IsReadOnlyError(err) {
			t.Errorf("%s on a replica: got %v, want READONLY", name, err)
		}
	}
	if got, err := s.Get(ctx, "job"); err != nil || got != l {
		t.Errorf("Get on the primary: got %v, %v, want %v", got, err, l)
	}

	// The replica takes over.
	redisDo(t, client, "replicaof", "no", "one")
	if got, err := stale.Get(ctx, "job"); err != nil || got != l {
		t.Errorf("Get on the promoted replica: got %v, %v, want %v", got, err, l)
	}
}

// ERR-4: a primary that lacks the replicas it needs gives no answers either.
func TestRedisMissingReplicas(t *testing.T) {
	client := redisClient(t, server.StartRedis(t), nil)
	s, ctx := redislease.New(client, nil), context.Background()
	l := acquire(t, s, "job", "a", time.Hour)
	redisDo(t, client, "config", "set", "min-replicas-to-write", "1")
	_, err := s.Acquire(ctx, "job", "b", time.Hour)
	wantError(t, "refused Acquire without replicas", err)
	_, err = s.Renew(ctx, l, time.Hour)
	wantError(t, "Renew without replicas", err)
	_, err = s.Get(ctx, "job")
	wantError(t, "Get without replicas", err)
	wantError(t, "Release without replicas", s.Release(ctx, l))
}

// A Redis without memory grants nothing new, and lets holders go on and go.
func TestRedisOutOfMemory(t *testing.T) {
	client := redisClient(t, server.StartRedis(t), nil)
	s, ctx := redislease.New(client, nil), context.Background()
	held := acquire(t, s, "held", "a", time.Hour)
	redisDo(t, client, "config", "set", "maxmemory", "1")

	_, err := s.Acquire(ctx, "free", "a", time.Hour)
	wantError(t, "Acquire without memory", err)
	if n := client.DBSize(ctx).Val(); n != 2 {
		t.Errorf("%d Redis keys after a failed Acquire, want the 2 of the other lease", n)
	}
	if _, err := s.Acquire(ctx, "held", "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("refused Acquire without memory: got %v, want ErrHeld", err)
	}
	if got := acquire(t, s, "held", "a", 2*time.Hour); got.Token != held.Token {
		t.Errorf("Acquire by its holder without memory: got %v, want the grant %v", got, held)
	}
	renewed, err := s.Renew(ctx, held, 3*time.Hour)
	if err != nil {
		t.Errorf("Renew without memory: %v", err)
	}
	if got, err := s.Get(ctx, "held"); err != nil || got != renewed {
		t.Errorf("Get without memory: got %v, %v, want %v", got, err, renewed)
	}
	if err := s.Release(ctx, held); err != nil {
		t.Errorf("Release without memory: %v", err)
	}
	if _, err := s.Get(ctx, "held"); !errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("Get after Release without memory: got %v, want ErrNotHeld", err)
	}
}

// Open names the server in its errors, and not the password.
func TestRedisOpen(t *testing.T) {
	srv := server.StartRedis(t)
	client := redisClient(t, srv, nil)
	redisDo(t, client, "config", "set", "requirepass", "secret")
	for _, user := range []string{"", ":hunter2@", "hunter2:hunter2@", "default:hunter2@"} {
		s, err := redislease.Open("redis://"+user+srv.Addr(), nil)
		wantError(t, "Open with "+user, err)
		if err == nil {
			s.Close()
		} else if !strings.Contains(err.Error(), srv.Addr()) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open with %q: the error %q must name %s and not the password", user, err, srv.Addr())
		}
	}

	s, err := redislease.Open("redis://:secret@"+srv.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	acquire(t, s, "job", "a", time.Hour)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}

	srv.Crash(t)
	_, err = redislease.Open("redis://:secret@"+srv.Addr(), nil)
	wantError(t, "Open of a server that is down", err)
	if err != nil && (!strings.Contains(err.Error(), srv.Addr()) || strings.Contains(err.Error(), "secret")) {
		t.Errorf("Open of a server that is down: the error %q must name %s and not the password", err, srv.Addr())
	}
}
