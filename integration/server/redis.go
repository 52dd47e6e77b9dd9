package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

var redisSource = source{
	name:    "Redis",
	env:     "LEASE_TEST_REDIS_URL",
	program: "redis-server",
	install: "apt-get install redis-server",
}

// RedisServer is a Redis that is running.
type RedisServer struct {
	url, addr string

	// Of a server that was started here, else zero.
	path    string
	dir     string
	args    []string
	process *process
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
	shared.Lock()
	defer shared.Unlock()
	if sharedRedis != nil {
		return sharedRedis
	}
	if url := redisSource.url(); url != "" {
		o, err := redis.ParseURL(url)
		if err != nil {
			t.Fatalf("%s is not the URL of a Redis; see redis.ParseURL", redisSource.env)
		}
		s := &RedisServer{url: url, addr: o.Addr}
		if _, err := s.info(o); err != nil {
			t.Fatalf("the Redis at %s, which %s names: %v", s.addr, redisSource.env, err)
		}
		sharedRedis = s
		return s
	}
	path := redisSource.path(t)
	needMain(t)
	dir, err := os.MkdirTemp("", "leasekit-redis-")
	if err != nil {
		t.Fatal(err)
	}
	s, err := startRedis(dir, path)
	if err != nil {
		os.RemoveAll(dir)
		t.Fatal(err)
	}
	keep(func() error { return errors.Join(s.process.end(), os.RemoveAll(dir)) })
	sharedRedis = s
	return s
}

// StartRedis starts a Redis for one test, which may do to it what it likes. It
// ends with the test. The args, such as "--appendonly", "yes", are added to the
// command line; without any it keeps nothing on disk.
func StartRedis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	s, err := startRedis(t.TempDir(), redisSource.path(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.process.end(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Crash kills a server that StartRedis started, without any farewell.
func (s *RedisServer) Crash(t testing.TB) {
	t.Helper()
	if err := s.process.crash(); err != nil {
		t.Fatal(err)
	}
}

// Restart crashes a server that StartRedis started, unless Crash did, and
// starts it again at the same address and with the same folder and arguments.
func (s *RedisServer) Restart(t testing.TB) {
	t.Helper()
	s.Crash(t)
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

func startRedis(dir, path string, args ...string) (*RedisServer, error) {
	// Redis can't choose a free port itself, and the one chosen here may be
	// gone when it gets there.
	var failed error
	for range 5 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s := &RedisServer{
			url:  "redis://127.0.0.1:" + port,
			addr: net.JoinHostPort("127.0.0.1", port),
			path: path,
			dir:  dir,
			args: append([]string{
				"--bind", "127.0.0.1", "--port", port, "--protected-mode", "yes",
				"--dir", dir, "--save", "", "--appendonly", "no",
				"--daemonize", "no", "--logfile", "",
			}, args...),
		}
		if failed = s.run(); failed == nil {
			return s, nil
		}
		if s.process == nil || !strings.Contains(s.process.printed(), "Address already in use") {
			break
		}
	}
	return nil, failed
}

// run starts the program and waits until it answers.
func (s *RedisServer) run() error {
	p, err := start(s.dir, s.path, s.args...)
	if err != nil {
		return err
	}
	s.process = p
	own := fmt.Sprintf("\r\nprocess_id:%d\r\n", p.Pid)
	err = p.await(func() error {
		// First without go-redis, which prints every failure.
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			return err
		}
		c.Close()
		info, err := s.info(&redis.Options{Addr: s.addr})
		if err == nil && !strings.Contains(info, own) {
			err = errors.New("another Redis answers at its address")
		}
		return err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("start redis-server at %s: %w", s.addr, err), p.crash())
	}
	return nil
}

// info asks the server what it is. It fails while the server is still loading
// its data.
func (s *RedisServer) info(o *redis.Options) (string, error) {
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
