package integration

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// redisRights are the commands that the documentation of package redislease
// names; ping is what Open needs.
var redisRights = []string{"evalsha", "eval", "time", "get", "incr", "hgetall", "hset", "hdel", "del", "pexpireat", "ping"}

// redisWorker makes a user that has these rights, and the keys of the prefix
// alone.
func redisWorker(t testing.TB, admin *redis.Client, prefix string) (name, password string) {
	t.Helper()
	name, password = "worker-"+rand.Text(), rand.Text()
	rule := []any{"acl", "setuser", name, "on", ">" + password, "resetkeys", "resetchannels", "-@all",
		"~{" + strconv.Itoa(len(prefix)) + ":" + prefix + "*"}
	for _, command := range redisRights {
		rule = append(rule, "+"+command)
	}
	redisDo(t, admin, rule...)
	return name, password
}

// TestRedisRightsConformance checks the backend with workers that have the
// rights that it needs and no other.
func TestRedisRightsConformance(t *testing.T) {
	srv := server.StartRedis(t)
	admin := redisClient(t, srv, nil)
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
		h := redisHarness(t, srv, admin, func(t testing.TB, prefix string, dial dialer) redis.UniversalClient {
			return redisClient(t, srv, func(o *redis.Options) {
				o.Dialer = dial
				o.Username, o.Password = redisWorker(t, admin, prefix)
			})
		})
		cantCheck(h, "the users are gone when the server restarts", crashClauses...)
		return h
	})
}

// Each of the rights is needed: without it something fails, by an error that
// says nothing about leases. And no key beyond the prefix can be reached.
func TestRedisRights(t *testing.T) {
	srv := server.StartRedis(t)
	admin := redisClient(t, srv, nil)
	name, password := redisWorker(t, admin, redislease.DefaultPrefix)
	url := fmt.Sprintf("redis://%s:%s@%s", name, password, srv.Addr())
	ctx := context.Background()
	all := func(key string) error {
		redisDo(t, admin, "script", "flush")
		redisDo(t, admin, "set", "{6:lease:"+key+"}n", int64(1)<<53)
		s, err := redislease.Open(url, nil)
		if err != nil {
			return err
		}
		defer s.Close()
		l, err := s.Acquire(ctx, key, "a", time.Hour)
		if err != nil {
			return err
		}
		if _, err := s.Acquire(ctx, key, "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
			return fmt.Errorf("refused Acquire: got %w, want ErrHeld", err)
		}
		if _, err := s.Renew(ctx, l, time.Hour); err != nil {
			return err
		}
		if _, err := s.Get(ctx, key); err != nil {
			return err
		}
		// The second finds nothing to release.
		return errors.Join(s.Release(ctx, l), s.Release(ctx, l))
	}
	if err := all("job"); err != nil {
		t.Fatalf("with all rights: %v", err)
	}
	for _, command := range redisRights {
		redisDo(t, admin, "acl", "setuser", name, "-"+command)
		err := all("without " + command)
		wantError(t, "without "+command, err)
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("without %s: the error %q has the password", command, err)
		}
		redisDo(t, admin, "acl", "setuser", name, "+"+command)
	}

	s, err := redislease.Open(url, &redislease.Options{Prefix: "other:"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Acquire(ctx, "job", "a", time.Hour)
	wantError(t, "Acquire under another prefix", err)
}
