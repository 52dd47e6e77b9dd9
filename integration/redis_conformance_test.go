package integration

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestRedisConformance checks the backend on a real Redis, whose clock can be
// read and not moved: the suite uses short ttls and waits.
func TestRedisConformance(t *testing.T) {
	srv := server.Redis(t)
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness { return redisHarness(t, srv) })
}

// redisHarness is one empty store: a prefix that nobody else uses.
func redisHarness(t testing.TB, srv *server.RedisServer) *leasetest.Harness {
	client := redisClient(t, srv, nil)
	prefix := ownPrefix(t, client)

	damage := map[string]func(t testing.TB, key string){}
	for name, commands := range map[string]func(hash, counter string) [][]any{
		"another type":                func(hash, _ string) [][]any { return [][]any{{"set", hash, "x"}} },
		"a hash of other fields":      func(hash, _ string) [][]any { return [][]any{{"del", hash}, {"hset", hash, "owner", "a"}} },
		"a field missing":             func(hash, _ string) [][]any { return [][]any{{"hdel", hash, "expires"}} },
		"a field of the future":       func(hash, _ string) [][]any { return [][]any{{"hset", hash, "schema", "2"}} },
		"a token that is no number":   func(hash, _ string) [][]any { return [][]any{{"hset", hash, "token", "x"}} },
		"an expiry that is no number": func(hash, _ string) [][]any { return [][]any{{"hset", hash, "expires", "soon"}} },
		"a counter of another type":   func(_, counter string) [][]any { return [][]any{{"del", counter}, {"rpush", counter, "x"}} },
		"no counter":                  func(_, counter string) [][]any { return [][]any{{"del", counter}} },
	} {
		damage[name] = func(t testing.TB, key string) {
			for _, command := range commands(redisNames(prefix, key)) {
				redisDo(t, client, command...)
			}
		}
	}

	return &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			worker := redisClient(t, srv, func(o *redis.Options) { o.Dialer = w.Dial })
			return redislease.New(worker, &redislease.Options{Prefix: prefix + w.Namespace})
		},
		Clock: &leasetest.Clock{Now: func() time.Time {
			now, err := client.Time(context.Background()).Result()
			if err != nil {
				t.Errorf("read the server clock: %v", err)
			}
			return now
		}},
		SeedToken: func(t testing.TB, key string, token int64) {
			_, counter := redisNames(prefix, key)
			redisDo(t, client, "set", counter, token)
		},
		Damage: damage,
		Unchecked: map[string]string{
			"TOKEN-5":  "the clock of a real server can't be moved by years yet",
			"EXPIRY-2": "the clock of a real server can't be stopped at an instant yet",
			"EXPIRY-6": "the clock of a real server can't be moved yet",
			"EXPIRY-7": "the clock of a real server can't be moved yet",
		},
	}
}
