package integration

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// redisClient connects to a server, with the settings of redislease.Open.
func redisClient(t testing.TB, s *server.RedisServer, change func(*redis.Options)) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(s.URL())
	if err != nil {
		t.Fatalf("the URL of %s is broken", s.Addr())
	}
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if change != nil {
		change(o)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	return client
}

// ownPrefix separates a test from all others that use the same server. What is
// stored under it, and under longer ones, is removed after the test: the server
// may be somebody's.
func ownPrefix(t testing.TB, client redis.UniversalClient) string {
	t.Helper()
	prefix := "leasekit-test-" + rand.Text() + ":"
	remove := func(ctx context.Context, node *redis.Client) error {
		all := node.Scan(ctx, 0, "*"+prefix+"*", 1000).Iterator()
		for all.Next(ctx) {
			if err := client.Del(ctx, all.Val()).Err(); err != nil {
				return err
			}
		}
		return all.Err()
	}
	t.Cleanup(func() {
		var err error
		switch client := client.(type) {
		case *redis.ClusterClient:
			err = client.ForEachMaster(context.Background(), remove)
		case *redis.Client:
			err = remove(context.Background(), client)
		}
		if err != nil {
			t.Errorf("remove what the test stored: %v", err)
		}
	})
	return prefix
}

// redisService is a service on the shared Redis with a prefix of its own.
func redisService(t testing.TB) (*redislease.Service, *redis.Client, string) {
	t.Helper()
	client := redisClient(t, server.Redis(t), nil)
	prefix := ownPrefix(t, client)
	return redislease.New(client, &redislease.Options{Prefix: prefix}), client, prefix
}

// redisNames returns the names of the hash and the counter of a lease, as the
// documentation of package redislease describes them.
func redisNames(prefix, key string) (hash, counter string) {
	both := "{" + strconv.Itoa(len(prefix)) + ":" + prefix + key + "}"
	return both + "l", both + "n"
}

func acquire(t testing.TB, s lease.Service, key, holder string, ttl time.Duration) lease.Lease {
	t.Helper()
	l, err := s.Acquire(context.Background(), key, holder, ttl)
	if err != nil {
		t.Fatalf("Acquire(%.20q, %.20q, %v): %v", key, holder, ttl, err)
	}
	return l
}

// redisDo runs a command that the test itself needs.
func redisDo(t testing.TB, client redis.UniversalClient, args ...any) any {
	t.Helper()
	v, err := client.Do(context.Background(), args...).Result()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

// wantError makes sure that err is an error that says nothing about leases.
func wantError(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
	}
	for _, s := range []error{lease.ErrHeld, lease.ErrLost, lease.ErrNotHeld, lease.ErrInvalid} {
		if errors.Is(err, s) {
			t.Errorf("%s: got %v, want an error that is no sentinel", what, err)
		}
	}
}
