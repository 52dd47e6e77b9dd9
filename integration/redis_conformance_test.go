package integration

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos/clock"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestRedisConformance checks the backend on a real Redis. The suite crashes one
// that was started here, and stops and moves its clock; of one that the
// environment names it reads the clock, uses short ttls and waits.
func TestRedisConformance(t *testing.T) {
	srv := server.Redis(t)
	if srv.Started() {
		srv = server.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	}
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness { return singleHarness(t, srv) })
}

// singleHarness is an empty store on one server.
func singleHarness(t testing.TB, srv *server.RedisServer) *leasetest.Harness {
	return crashes(redisHarness(t, srv, redisClient(t, srv, nil), func(t testing.TB, _ string, dial dialer) redis.UniversalClient {
		return redisClient(t, srv, func(o *redis.Options) { o.Dialer = dial })
	}), srv)
}

// dialer opens the connections of a client.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// clocked is a server, or several, with one clock.
type clocked interface {
	Clock() *clock.Clock
	WhyNoClock() string
}

// redisHarness is one empty store: a prefix that nobody else uses. The client is
// the suite's own, connect makes that of a worker with the given prefix.
func redisHarness(t testing.TB, srv clocked, client redis.UniversalClient, connect func(t testing.TB, prefix string, dial dialer) redis.UniversalClient) *leasetest.Harness {
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

	h := &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			own := prefix + w.Namespace
			return redislease.New(connect(t, own, w.Dial), &redislease.Options{Prefix: own})
		},
		SeedToken: func(t testing.TB, key string, token int64) {
			_, counter := redisNames(prefix, key)
			redisDo(t, client, "set", counter, token)
		},
		Damage: damage,
		Block:  func(t testing.TB, _ string) (func() bool, func()) { return pause(t, client) },
	}
	if c := srv.Clock(); c != nil {
		h.Clock = suiteClock(c, time.Microsecond)
		return h
	}
	cantCheck(h, srv.WhyNoClock(), moveClauses...)
	h.Clock = &leasetest.Clock{Now: func() time.Time {
		now, err := client.Time(context.Background()).Result()
		if err != nil {
			t.Errorf("read the server clock: %v", err)
		}
		return now
	}}
	return h
}

// pause lets all writes wait in the server, until unblock. waiting says whether
// one does.
func pause(t testing.TB, client redis.UniversalClient) (waiting func() bool, unblock func()) {
	ctx := context.Background()
	nodes := func(do func(c redis.Cmdable) error) {
		t.Helper()
		var err error
		if cluster, ok := client.(*redis.ClusterClient); ok {
			err = cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error { return do(c) })
		} else {
			err = do(client)
		}
		if err != nil {
			t.Errorf("pause the server: %v", err)
		}
	}
	nodes(func(c redis.Cmdable) error {
		// By the server clock, which is moved meanwhile.
		return c.(interface {
			Do(context.Context, ...any) *redis.Cmd
		}).Do(ctx, "client", "pause", (1000 * time.Hour).Milliseconds(), "write").Err()
	})
	waiting = func() bool {
		var blocked atomic.Bool
		nodes(func(c redis.Cmdable) error {
			list, err := c.ClientList(ctx).Result()
			if strings.Contains(list, " flags=b ") {
				blocked.Store(true)
			}
			return err
		})
		return blocked.Load()
	}
	return waiting, func() { nodes(func(c redis.Cmdable) error { return c.ClientUnpause(ctx).Err() }) }
}
