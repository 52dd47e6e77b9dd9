package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/chaos/clock"
)

var redisSource = source{
	name:     "Redis",
	env:      "LEASE_TEST_REDIS_URL",
	programs: []string{"redis-server"},
	image:    "redis:7",
	install:  "apt-get install redis-server",
}

// RedisServer is a Redis that is running.
type RedisServer struct {
	url, addr string
	*instance
}

// URL returns the address as redis.ParseURL reads it. It may contain a
// password: do not print it.
func (s *RedisServer) URL() string { return s.url }

// Addr returns host:port, or the path of a socket.
func (s *RedisServer) Addr() string { return s.addr }

var sharedRedis *RedisServer

// Redis returns the Redis that the tests of this binary share. It may hold data
// of others: use a prefix that is unique, and leave its settings alone.
func Redis(t testing.TB) *RedisServer {
	t.Helper()
	return share(t, &sharedRedis, redisSource, redisAt, func(at place) (*RedisServer, []*instance, error) {
		s, err := startRedis(at, nil)
		if err != nil {
			return nil, nil, err
		}
		return s, []*instance{s.instance}, nil
	})
}

// StartRedis starts a Redis for one test, which may do to it what it likes. It
// ends with the test. The args, such as "--appendonly", "yes", are added to the
// command line; without any it keeps nothing on disk.
func StartRedis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	s, err := startRedis(redisSource.place(t), nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	s.endWith(t)
	return s
}

// redisAt is the server that somebody else started.
func redisAt(url string) (*RedisServer, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("the value is not the URL of a Redis; see redis.ParseURL")
	}
	s := &RedisServer{url: url, addr: o.Addr}
	if _, err := redisInfo(o); err != nil {
		return nil, fmt.Errorf("%s: %w", s.addr, err)
	}
	return s, nil
}

// startRedis starts a Redis under a clock of its own, or under the given one.
func startRedis(at place, of *clock.Clock, args ...string) (*RedisServer, error) {
	dir, err := folder("redis", nil)
	if err != nil {
		return nil, err
	}
	args = append([]string{"--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", ""}, args...)
	i, err := startOnFreePort(dir, of, func(port string) *instance {
		i := &instance{name: "redis-server"}
		if at.image != "" {
			i.launcher = &image{name: at.image, cmd: append([]string{"redis-server", "--protected-mode", "no"}, args...), port: "6379/tcp", on: port}
		} else {
			i.launcher = program{path: at.path, args: append([]string{
				"--bind", "127.0.0.1", "--port", port, "--protected-mode", "yes", "--dir", dir,
			}, args...)}
		}
		i.ready = func(r running) error {
			info, err := redisInfo(&redis.Options{Addr: i.addr})
			if p, ok := r.(*process); ok && err == nil && !strings.Contains(info, fmt.Sprintf("\r\nprocess_id:%d\r\n", p.Pid)) {
				err = errors.New("another Redis answers at its address")
			}
			return err
		}
		return i
	})
	if err != nil {
		return nil, err
	}
	return &RedisServer{url: "redis://" + i.addr, addr: i.addr, instance: i}, nil
}

// redisInfo asks the server what it is. It fails while the server is still loading
// its data.
func redisInfo(o *redis.Options) (string, error) {
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DialTimeout, o.ReadTimeout = time.Second, time.Second
	client := redis.NewClient(o)
	defer client.Close()
	ctx := context.Background()
	if err := client.Ping(ctx).Err(); err != nil {
		return "", err
	}
	return client.Info(ctx, "server").Result()
}
