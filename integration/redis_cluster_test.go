package integration

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestRedisCluster checks the backend on a Redis Cluster of three nodes.
func TestRedisCluster(t *testing.T) {
	srv := server.RedisCluster(t)
	leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
		h := redisHarness(t, srv, clusterClient(t, srv, nil), func(t testing.TB, _ string, dial dialer) redis.UniversalClient {
			return clusterClient(t, srv, dial)
		})
		cantCheck(h, "the nodes keep nothing on disk: TestRedisConformance crashes one that does", crashClauses...)
		return h
	})
}

// clusterClient connects to a cluster, with the settings of redislease.Open.
func clusterClient(t testing.TB, s *server.RedisClusterServer, dial dialer) *redis.ClusterClient {
	t.Helper()
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:  s.Addrs(),
		Dialer: dial,

		MaxRetries: -1, DialerRetries: 1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { client.Close() })
	return client
}

// A cluster refuses a script whose keys lie in different slots: whatever stands
// in a prefix and in a key, braces above all, the two names of a lease share
// one. And two leases that look alike are two.
func TestRedisClusterNames(t *testing.T) {
	client := clusterClient(t, server.RedisCluster(t), nil)
	own, ctx := ownPrefix(t, client), context.Background()
	names := []string{"a", "b", "{", "}", "{}", "}{", "{a}", "{}a", "}l", "a}b", ":", "1:", "é", strings.Repeat("x", lease.MaxName)}
	nodes := map[string]bool{}
	for _, prefix := range append(names, "") {
		s := redislease.New(client, &redislease.Options{Prefix: own + prefix})
		for _, key := range names {
			l := acquire(t, s, key, "a", time.Hour)
			if l.Token != 1 {
				t.Errorf("prefix %.20q, key %.20q: the first token is %d, want 1", prefix, key, l.Token)
			}
			if _, err := s.Acquire(ctx, key, "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
				t.Errorf("prefix %.20q, key %.20q: Acquire by another holder: got %v, want ErrHeld", prefix, key, err)
			}
			if err := s.Release(ctx, l); err != nil {
				t.Errorf("prefix %.20q, key %.20q: Release: %v", prefix, key, err)
			}
			hash, _ := redisNames(own+prefix, key)
			node, err := client.MasterForKey(ctx, hash)
			if err != nil {
				t.Fatal(err)
			}
			nodes[node.Options().Addr] = true
		}
	}
	if len(nodes) != 3 {
		t.Errorf("the names lie on %d nodes, want 3", len(nodes))
	}
}

// A slot that is on its way to another node, and one that has arrived there, are
// found by ASK and MOVED: a lease goes along, and stays the same grant.
func TestRedisClusterMove(t *testing.T) {
	srv := server.StartRedisCluster(t)
	ctx := context.Background()
	first := redislease.New(clusterClient(t, srv, nil), nil)
	l := acquire(t, first, "job", "a", time.Hour)
	second := redislease.New(clusterClient(t, srv, nil), nil) // knows the slots as they are now
	check := func(when string, s *redislease.Service) {
		t.Helper()
		if got, err := s.Get(ctx, "job"); err != nil || got != l {
			t.Errorf("%s: Get: got %v, %v, want %v", when, got, err, l)
		}
		if _, err := s.Acquire(ctx, "job", "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
			t.Errorf("%s: Acquire by another holder: got %v, want ErrHeld", when, err)
		}
		renewed, err := s.Renew(ctx, l, time.Hour)
		if err != nil || renewed.Token != l.Token {
			t.Errorf("%s: Renew: got %v, %v, want the grant %v", when, renewed, err, l)
			return
		}
		l = renewed
	}
	check("at first", second)

	hash, counter := redisNames(redislease.DefaultPrefix, "job")
	owner, err := clusterClient(t, srv, nil).MasterForKey(ctx, hash)
	if err != nil {
		t.Fatal(err)
	}
	var from, to *redis.Client
	for _, node := range srv.Nodes() {
		if client := redisClient(t, node, nil); client.Options().Addr == owner.Options().Addr {
			from = client
		} else {
			to = client
		}
	}
	sent := func(answer string) {
		t.Helper()
		if stats := from.Info(ctx, "errorstats").Val(); !strings.Contains(stats, "errorstat_"+answer+":") {
			t.Errorf("no client was sent to the other node by %s", answer)
		}
	}
	slot := redisDo(t, from, "cluster", "keyslot", hash)
	id := redisDo(t, to, "cluster", "myid")
	redisDo(t, to, "cluster", "setslot", slot, "importing", redisDo(t, from, "cluster", "myid"))
	redisDo(t, from, "cluster", "setslot", slot, "migrating", id)
	check("before the lease goes", first)

	host, port, err := net.SplitHostPort(to.Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	redisDo(t, from, "migrate", host, port, "", 0, 5000, "keys", hash, counter)
	check("on its way", first)
	sent("ASK")

	for _, node := range []*redis.Client{to, from} {
		redisDo(t, node, "cluster", "setslot", slot, "node", id)
	}
	check("after the move", second)
	sent("MOVED")
	if err := first.Release(ctx, l); err != nil {
		t.Errorf("Release: %v", err)
	}
	if got := acquire(t, second, "job", "b", time.Hour); got.Token <= l.Token {
		t.Errorf("token after the move: got %d, want more than %d", got.Token, l.Token)
	}
}
