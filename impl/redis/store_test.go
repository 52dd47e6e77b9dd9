package redislease

import (
	"context"
	"math"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/leasekit/lease"
)

// store is a Redis in this process whose clock stands still until it is moved.
type store struct {
	*miniredis.Miniredis
	clock time.Time
}

// noon is where the server clock of every test starts.
var noon = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func newStore(t testing.TB) *store {
	t.Helper()
	s := &store{Miniredis: miniredis.RunT(t)}
	s.ClockTTL(false)
	s.setClock(noon)
	return s
}

func (s *store) setClock(now time.Time) {
	s.clock = now
	s.SetTime(now)
}

// passTTLs lets the keys of Redis expire as the clock moves by d. In miniredis a
// key has a ttl that runs down; in Redis it has an instant, so a clock that goes
// back makes the ttl longer. In Redis a key is still there in the ms of that
// instant, which matters: it is where a script that judges wrongly shows it.
func (s *store) passTTLs(d time.Duration) {
	for _, key := range s.Keys() {
		ttl := s.TTL(key)
		if ttl <= 0 {
			continue
		}
		if d < 0 {
			ttl = min(ttl, math.MaxInt64+d)
		}
		switch left := ttl - d; {
		case left > 0:
			s.SetTTL(key, left)
		case left > -time.Millisecond:
			s.SetTTL(key, 1) // until the clock moves on
		default:
			s.Del(key)
		}
	}
}

func (s *store) client(t testing.TB) *redis.Client {
	t.Helper()
	return newClient(t, &redis.Options{Addr: s.Addr()})
}

// newClient makes a client with the settings of Open.
func newClient(t testing.TB, o *redis.Options) *redis.Client {
	t.Helper()
	if o.MaxRetries == 0 {
		o.MaxRetries = -1
	}
	o.DialerRetries = 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(o)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
	})
	return client
}

func (s *store) service(t testing.TB, prefix string) *Service {
	t.Helper()
	return New(s.client(t), &Options{Prefix: prefix})
}

// commands counts what a client sends: each is one round trip.
type commands struct{ n atomic.Int64 }

func (c *commands) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(int64(len(cmds)))
		return next(ctx, cmds)
	}
}

// blackHole is a server that takes connections and never answers. The channel
// is closed when it has taken the first one.
func blackHole(t testing.TB) (addr string, accepted <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done, first := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range open {
					c.Close()
				}
				return
			}
			if open = append(open, c); len(open) == 1 {
				close(first)
			}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String(), first
}

func acquire(t testing.TB, s *Service, key, holder string, ttl time.Duration) lease.Lease {
	t.Helper()
	l, err := s.Acquire(context.Background(), key, holder, ttl)
	if err != nil {
		t.Fatalf("Acquire(%.20q, %.20q, %v): %v", key, holder, ttl, err)
	}
	return l
}
