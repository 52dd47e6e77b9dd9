package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/fence"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

// TestRedisFenceConformance checks the fence on a real Redis that writes each call to
// disk before it answers, and is crashed.
func TestRedisFenceConformance(t *testing.T) {
	leasetest.RunFence(t, func(t testing.TB) *leasetest.FenceHarness {
		srv := server.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
		return &leasetest.FenceHarness{
			Connect: func(t testing.TB) fence.Resource { return redislease.NewFence(redisClient(t, srv, nil), nil) },
			Restart: srv.Restart,
		}
	})
}

// A Redis that keeps nothing on disk forgets the marks when it crashes, as the
// package documentation says; the suite has to see it.
func TestRedisFenceForgets(t *testing.T) {
	report, err := leasetest.CheckFence(t.Context(), func(t testing.TB) *leasetest.FenceHarness {
		srv := server.StartRedis(t)
		return &leasetest.FenceHarness{
			Connect: func(t testing.TB) fence.Resource { return redislease.NewFence(redisClient(t, srv, nil), nil) },
			Restart: srv.Restart,
		}
	}, &leasetest.Options{Cases: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Clauses {
		want := leasetest.Pass
		if c.ID == "FENCE-4" {
			want = leasetest.Fail
		}
		if c.Verdict != want {
			t.Errorf("%s: got %s (%s), want %s", c.ID, c.Verdict, c.Reason, want)
		}
	}
}

// Neither a replica nor a full server takes a write, and none of their errors looks
// like an answer.
func TestRedisFenceReplica(t *testing.T) {
	srv := server.StartRedis(t)
	client := redisClient(t, srv, nil)
	f, ctx := redislease.NewFence(client, nil), context.Background()
	if err := f.Write(ctx, "job", 5, "v"); err != nil {
		t.Fatal(err)
	}
	redisDo(t, client, "replicaof", "127.0.0.1", "1")
	_, _, readErr := f.Read(ctx, "job")
	for name, err := range map[string]error{"Write": f.Write(ctx, "job", 6, "w"), "stale Write": f.Write(ctx, "job", 4, "w"), "Read": readErr} {
		wantError(t, name+" on a replica", err)
		if !redis.IsReadOnlyError(err) || errors.Is(err, fence.ErrStale) {
			t.Errorf("%s on a replica: got %v, want READONLY", name, err)
		}
	}
	redisDo(t, client, "replicaof", "no", "one")

	redisDo(t, client, "config", "set", "maxmemory", "1")
	wantError(t, "Write on a full server", f.Write(ctx, "job", 6, "w"))
	if value, token, err := f.Read(ctx, "job"); value != "v" || token != 5 || err != nil {
		t.Errorf("Read on a full server: got %q, %d, %v, want what was written", value, token, err)
	}
}

// The fence of a key lies where its lease does, and scripts that the server has
// forgotten are sent again.
func TestRedisFenceCluster(t *testing.T) {
	srv := server.StartRedis(t, "--cluster-enabled", "yes")
	node := redisClient(t, srv, nil)
	redisDo(t, node, "cluster", "addslotsrange", 0, 16383)
	ctx := context.Background()
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(node.ClusterInfo(ctx).Val(), "cluster_state:ok"); {
		if time.Now().After(deadline) {
			t.Fatal("the cluster does not form")
		}
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{srv.Addr()}})
	defer client.Close()
	f := redislease.NewFence(client, nil)
	for i, key := range []string{"a", "{", "}", "{}", "{a}", "}f", "a}b", "é"} {
		if err := f.Write(ctx, key, int64(10-i), key); err != nil {
			t.Errorf("Write of %q: %v", key, err)
		}
		redisDo(t, node, "script", "flush")
		if value, token, err := f.Read(ctx, key); value != key || token != int64(10-i) || err != nil {
			t.Errorf("Read of %q: got %q, %d, %v", key, value, token, err)
		}
		redisDo(t, node, "script", "flush")
		if err := f.Write(ctx, key, 1, "late"); !errors.Is(err, fence.ErrStale) {
			t.Errorf("Write of %q with a lower token: got %v, want ErrStale", key, err)
		}
	}
	s := redislease.New(client, &redislease.Options{Prefix: redislease.DefaultFencePrefix})
	acquire(t, s, "a", "worker", time.Hour)
}
