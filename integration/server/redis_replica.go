package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// replicaArgs are for servers that replicate while their clock is moved: by it a
// replica would be taken for dead, and a new one would be waited for before its
// data is sent.
var replicaArgs = []string{"--repl-timeout", "2147483647", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"}

// StartRedisPair starts a Redis and replicas of it for one test, all under one
// clock. They know nothing of each other yet: see [RedisServer.Replicate].
func StartRedisPair(t testing.TB, replicas int, args ...string) (*RedisServer, []*RedisServer) {
	t.Helper()
	from := redisClusterSource() // in containers they would not find each other
	args = append(append([]string{}, replicaArgs...), args...)
	primary, err := startRedis(from.place(t), nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	primary.endWith(t)
	var all []*RedisServer
	for range replicas {
		s, err := startRedis(from.place(t), primary.Clock(), args...)
		if err != nil {
			t.Fatal(err)
		}
		s.endWith(t)
		all = append(all, s)
	}
	return primary, all
}

// Replicate makes the server a replica of the one at addr, and returns when it
// has its data and gets what is written from then on.
func (s *RedisServer) Replicate(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	client, primary := redis.NewClient(&redis.Options{Addr: s.addr}), redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	defer primary.Close()
	if err := client.Do(ctx, "replicaof", host, port).Err(); err != nil {
		return fmt.Errorf("make a replica: %w", err)
	}
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		info, err := client.Info(ctx, "replication").Result()
		if err != nil {
			return fmt.Errorf("ask a replica: %w", err)
		}
		if strings.Contains(info, "master_link_status:up\r\n") {
			confirmed, err := inStep(ctx, primary)
			if err != nil || confirmed {
				return err
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.Join(errors.New("the replica is not in step"), ctx.Err())
		}
	}
}

// inStep says whether all replicas confirm what is written to their primary. It
// sends a new one nothing for up to a second after that has the data.
func inStep(ctx context.Context, primary *redis.Client) (bool, error) {
	conn := primary.Conn() // WAIT is about its own connection
	defer conn.Close()
	const key = "leasekit-test-in-step"
	if err := errors.Join(conn.Set(ctx, key, 1, 0).Err(), conn.Del(ctx, key).Err()); err != nil {
		return false, fmt.Errorf("write to a primary: %w", err)
	}
	info, err := conn.Info(ctx, "replication").Result()
	if err != nil {
		return false, fmt.Errorf("ask a primary: %w", err)
	}
	_, rest, _ := strings.Cut(info, "connected_slaves:")
	digits, _, _ := strings.Cut(rest, "\r\n")
	replicas, err := strconv.Atoi(digits)
	if err != nil {
		return false, fmt.Errorf("ask a primary how many replicas it has: %w", err)
	}
	got, err := conn.Wait(ctx, replicas, time.Second).Result()
	return replicas > 0 && got >= int64(replicas), err
}

// Promote makes a replica a primary, with what it has.
func (s *RedisServer) Promote(ctx context.Context) error {
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	defer client.Close()
	if err := client.Do(ctx, "replicaof", "no", "one").Err(); err != nil {
		return fmt.Errorf("promote a replica: %w", err)
	}
	return nil
}
