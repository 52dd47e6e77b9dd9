package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/chaos/clock"
)

// RedisClusterServer is a Redis Cluster of three masters without replicas, which
// all go by one clock.
type RedisClusterServer struct {
	nodes []*RedisServer
}

// Nodes returns the nodes, in the order of the slots that they hold.
func (s *RedisClusterServer) Nodes() []*RedisServer { return s.nodes }

// Addrs returns host:port of every node, as a cluster client wants it.
func (s *RedisClusterServer) Addrs() []string {
	var addrs []string
	for _, node := range s.nodes {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// Clock is the clock that all nodes go by. It is nil where the clock shim is
// not available; WhyNoClock has the reason.
func (s *RedisClusterServer) Clock() *clock.Clock { return s.nodes[0].Clock() }

// WhyNoClock says, as part of a sentence, why Clock is nil; else "".
func (s *RedisClusterServer) WhyNoClock() string { return s.nodes[0].WhyNoClock() }

var sharedRedisCluster *RedisClusterServer

// RedisCluster returns the Redis Cluster that the tests of this binary share: use
// a prefix of your own, and leave the slots where they are. It is always started
// here.
func RedisCluster(t testing.TB) *RedisClusterServer {
	t.Helper()
	return share(t, &sharedRedisCluster, redisClusterSource(), nil, func(at place) (*RedisClusterServer, []*instance, error) {
		s, err := startRedisCluster(at)
		if err != nil {
			return nil, nil, err
		}
		return s, s.instances(), nil
	})
}

// StartRedisCluster starts a Redis Cluster for one test, which may do to it what
// it likes. It ends with the test.
func StartRedisCluster(t testing.TB) *RedisClusterServer {
	t.Helper()
	s, err := startRedisCluster(redisClusterSource().place(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range s.instances() {
		i.endWith(t)
	}
	return s
}

// redisClusterSource is redisSource without containers: nodes tell each other,
// and clients, the addresses that they have, which are not those outside.
func redisClusterSource() source {
	s := redisSource
	s.image = ""
	return s
}

func (s *RedisClusterServer) instances() []*instance {
	var all []*instance
	for _, node := range s.nodes {
		all = append(all, node.instance)
	}
	return all
}

func startRedisCluster(at place) (*RedisClusterServer, error) {
	s := &RedisClusterServer{}
	err := s.start(at)
	if err == nil {
		err = s.form()
	}
	if err != nil {
		for _, i := range s.instances() {
			_, closing := i.close(false)
			err = errors.Join(err, closing)
		}
		return nil, fmt.Errorf("start a Redis Cluster: %w", err)
	}
	return s, nil
}

// start starts the nodes, which know nothing of each other. The clock is that
// of the first, in its folder.
func (s *RedisClusterServer) start(at place) error {
	for len(s.nodes) < 3 {
		bus, err := freePort()
		if err != nil {
			return err
		}
		var of *clock.Clock
		if len(s.nodes) > 0 {
			of = s.Clock()
		}
		node, err := startRedis(at, of,
			"--cluster-enabled", "yes", "--cluster-port", bus,
			// In ms. Nodes watch each other by the clock that the test moves,
			// and would take each other for dead after a jump.
			"--cluster-node-timeout", fmt.Sprint(time.Duration(1<<63-1).Milliseconds()))
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, node)
	}
	return nil
}

// form makes a cluster of the nodes.
func (s *RedisClusterServer) form() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	const slots = 16384
	var clients []*redis.Client
	for n, node := range s.nodes {
		client := redis.NewClient(&redis.Options{Addr: node.Addr()})
		defer client.Close()
		clients = append(clients, client)
		first, next := n*slots/len(s.nodes), (n+1)*slots/len(s.nodes)
		if err := client.ClusterAddSlotsRange(ctx, first, next-1).Err(); err != nil {
			return fmt.Errorf("give slots to a node: %w", err)
		}
		host, port, err := net.SplitHostPort(node.Addr())
		if err != nil {
			return err
		}
		bus, err := client.ConfigGet(ctx, "cluster-port").Result()
		if err != nil {
			return fmt.Errorf("ask a node for its port: %w", err)
		}
		for _, other := range clients[:n] { // each to each: gossip takes seconds
			if err := other.Do(ctx, "CLUSTER", "MEET", host, port, bus["cluster-port"]).Err(); err != nil {
				return fmt.Errorf("introduce a node: %w", err)
			}
		}
	}
	// Every node has to know where every slot is. By its clock it then takes
	// another 2 s until it answers.
	clock := s.Clock()
	if clock != nil {
		defer clock.Reset()
	}
	return await(s.nodes[0].running, func() error {
		if clock != nil {
			clock.Move(100 * time.Millisecond)
		}
		for n, client := range clients {
			info, err := client.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			for _, want := range []string{"cluster_state:ok", fmt.Sprint("cluster_slots_ok:", slots), fmt.Sprint("cluster_known_nodes:", len(clients))} {
				if !strings.Contains(info, want+"\r\n") {
					return fmt.Errorf("node %d has no %s", n, want)
				}
			}
		}
		return nil
	})
}
