package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// A cluster refuses a script whose keys lie in different slots. That is not a
// matter of how many nodes it has: this one has one.
func TestRedisCluster(t *testing.T) {
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

	names := []string{"a", "b", "{", "}", "{}", "}{", "{a}", "{}a", "}l", "a}b", ":", "1:", "é", strings.Repeat("x", lease.MaxName)}
	for _, prefix := range append(names, "") {
		s := redislease.New(client, &redislease.Options{Prefix: prefix})
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
		}
	}
}
