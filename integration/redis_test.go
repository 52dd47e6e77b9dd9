package integration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

func TestRedisLife(t *testing.T) {
	s, client, prefix := redisService(t)
	ctx := context.Background()
	hash, _ := redisNames(prefix, "job")

	first := acquire(t, s, "job", "a", time.Hour)
	if again := acquire(t, s, "job", "a", time.Minute); again.Token != first.Token || !again.ExpiresAt.Before(first.ExpiresAt) {
		t.Errorf("Acquire by its holder, for less: got %v, want the grant %v, ending sooner", again, first)
	}
	if _, err := s.Acquire(ctx, "job", "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("Acquire by another holder: got %v, want ErrHeld", err)
	}
	renewed, err := s.Renew(ctx, first, 2*time.Hour)
	if err != nil || renewed.Token != first.Token || !renewed.ExpiresAt.After(first.ExpiresAt) {
		t.Errorf("Renew: got %v, %v, want the grant %v, ending later", renewed, err, first)
	}
	if got, err := s.Get(ctx, "job"); err != nil || got != renewed {
		t.Errorf("Get: got %v, %v, want %v", got, err, renewed)
	}
	if at := client.PExpireTime(ctx, hash).Val(); at != time.Duration(renewed.ExpiresAt.UnixMilli())*time.Millisecond {
		t.Errorf("Redis removes the record at %v after 1970, want %v ms", at, renewed.ExpiresAt.UnixMilli())
	}
	if err := s.Release(ctx, first); err != nil {
		t.Errorf("Release: %v", err)
	}
	if n := client.Exists(ctx, hash).Val(); n != 0 {
		t.Error("the record is still there after Release")
	}
	if _, err := s.Renew(ctx, first, time.Hour); !errors.Is(err, lease.ErrLost) {
		t.Errorf("Renew after Release: got %v, want ErrLost", err)
	}
	if _, err := s.Get(ctx, "job"); !errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("Get after Release: got %v, want ErrNotHeld", err)
	}
	if got := acquire(t, s, "job", "b", time.Hour); got.Token <= first.Token {
		t.Errorf("token after Release: got %d, want more than %d", got.Token, first.Token)
	}
}

// EXPIRY-1 on the clock of a real server, which runs on.
func TestRedisExpiryIsExact(t *testing.T) {
	s, client, _ := redisService(t)
	ctx := context.Background()
	for i, ttl := range []time.Duration{1, 999, time.Microsecond, time.Millisecond, time.Millisecond + 1, time.Second + 500*time.Microsecond, math.MaxInt64} {
		for range 20 {
			before := client.Time(ctx).Val()
			l := acquire(t, s, strconv.Itoa(i), "a", ttl)
			after := client.Time(ctx).Val()
			if earliest, latest := before.Add(ttl), after.Add(ttl).Add(time.Millisecond); l.ExpiresAt.Before(earliest) || l.ExpiresAt.After(latest) {
				t.Errorf("ttl %d ns: expires at %v, want %v to %v", ttl, l.ExpiresAt, earliest, latest)
			}
		}
	}
}

// EXPIRY-3: the key is free at its expiry, and Redis removes the record.
func TestRedisExpiry(t *testing.T) {
	s, client, prefix := redisService(t)
	ctx := context.Background()
	first := acquire(t, s, "job", "a", 30*time.Millisecond)
	var next lease.Lease
	for {
		before := client.Time(ctx).Val()
		l, err := s.Acquire(ctx, "job", "b", time.Hour)
		after := client.Time(ctx).Val()
		if errors.Is(err, lease.ErrHeld) {
			if !before.Before(first.ExpiresAt) {
				t.Fatalf("held at %v, want free from %v", before, first.ExpiresAt)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if after.Before(first.ExpiresAt) {
			t.Fatalf("granted at %v, want held until %v", after, first.ExpiresAt)
		}
		next = l
		break
	}
	if next.Token <= first.Token {
		t.Errorf("token after the expiry: got %d, want more than %d", next.Token, first.Token)
	}
	if _, err := s.Renew(ctx, first, time.Hour); !errors.Is(err, lease.ErrLost) {
		t.Errorf("Renew of the expired lease: got %v, want ErrLost", err)
	}

	if _, err := s.Renew(ctx, next, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	hash, counter := redisNames(prefix, "job")
	for deadline := time.Now().Add(5 * time.Second); client.Exists(ctx, hash).Val() != 0; {
		if time.Now().After(deadline) {
			t.Fatal("the record outlives its lease by 5 s")
		}
	}
	if n := client.Get(ctx, counter).Val(); n != strconv.FormatInt(next.Token, 10) {
		t.Errorf("the counter is %q, want %d", n, next.Token)
	}
}

// TOKEN-8, TOKEN-9.
func TestRedisTokens(t *testing.T) {
	s, client, prefix := redisService(t)
	ctx := context.Background()
	for _, seed := range []int64{1<<53 - 2, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1e18, math.MaxInt64 - 1} {
		key := fmt.Sprint(seed)
		hash, counter := redisNames(prefix, key)
		redisDo(t, client, "set", counter, seed)
		l := acquire(t, s, key, "a", time.Hour)
		if l.Token != seed+1 {
			t.Errorf("token after %d: got %d, want %d", seed, l.Token, seed+1)
		}
		if got, err := s.Renew(ctx, l, time.Hour); err != nil || got.Token != l.Token {
			t.Errorf("Renew: got %v, %v, want token %d", got, err, l.Token)
		}
		if got, err := s.Get(ctx, key); err != nil || got.Token != l.Token {
			t.Errorf("Get: got %v, %v, want token %d", got, err, l.Token)
		}
		if err := s.Release(ctx, l); err != nil {
			t.Error(err)
		}
		if l.Token == math.MaxInt64 {
			_, err := s.Acquire(ctx, key, "a", time.Hour)
			wantError(t, "Acquire with the counter at its maximum", err)
			if n := client.Exists(ctx, hash).Val(); n != 0 || client.Get(ctx, counter).Val() != fmt.Sprint(int64(math.MaxInt64)) {
				t.Error("the refused Acquire changed the store")
			}
		}
	}
}

// EXCL-3, TOKEN-7: of many who want the key at once, one gets it.
func TestRedisContention(t *testing.T) {
	_, _, prefix := redisService(t)
	ctx := context.Background()
	const workers, rounds = 8, 25
	services := make([]*redislease.Service, workers)
	for i := range services {
		services[i] = redislease.New(redisClient(t, server.Redis(t), nil), &redislease.Options{Prefix: prefix})
	}
	highest := int64(0)
	for round := range rounds {
		var mu sync.Mutex
		var granted []lease.Lease
		var all sync.WaitGroup
		for i, s := range services {
			all.Go(func() {
				l, err := s.Acquire(ctx, "job", fmt.Sprint("worker ", i), time.Hour)
				if errors.Is(err, lease.ErrHeld) {
					return
				}
				if err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				mu.Lock()
				granted = append(granted, l)
				mu.Unlock()
			})
		}
		all.Wait()
		if len(granted) != 1 || granted[0].Token <= highest {
			t.Fatalf("round %d: granted %v, want one lease with a token above %d", round, granted, highest)
		}
		highest = granted[0].Token
		if err := services[round%workers].Release(ctx, granted[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// ERR-9, with the types and the texts of a real server.
func TestRedisUnreadableRecords(t *testing.T) {
	s, client, prefix := redisService(t)
	ctx := context.Background()
	hash, counter := redisNames(prefix, "job")
	for name, damage := range map[string][][]any{
		"a string in place of the lease": {{"set", hash, "x"}},
		"a list in place of the lease":   {{"del", hash}, {"rpush", hash, "x"}},
		"a hash of other fields":         {{"del", hash}, {"hset", hash, "x", "y"}},
		"no expiry":                      {{"hdel", hash, "expires"}},
		"a field of the future":          {{"hset", hash, "schema", "2"}},
		"a token that is no number":      {{"hset", hash, "token", "x"}},
		"an expiry that is no number":    {{"hset", hash, "expires", "soon"}},
		"a holder with NUL":              {{"hset", hash, "holder", "a\x00b"}},
		"a list in place of the counter": {{"del", counter}, {"rpush", counter, "x"}},
		"a counter that is no number":    {{"set", counter, "x"}},
		"no counter":                     {{"del", counter}},
	} {
		redisDo(t, client, "del", hash, counter)
		l := acquire(t, s, "job", "a", time.Hour)
		for _, command := range damage {
			redisDo(t, client, command...)
		}
		before := dump(t, client, hash) + dump(t, client, counter)
		for call, do := range map[string]func() error{
			"Acquire by the holder": func() error { _, err := s.Acquire(ctx, "job", "a", time.Hour); return err },
			"Acquire by another":    func() error { _, err := s.Acquire(ctx, "job", "b", time.Hour); return err },
			"Renew":                 func() error { _, err := s.Renew(ctx, l, time.Hour); return err },
			"Release":               func() error { return s.Release(ctx, l) },
			"Get":                   func() error { _, err := s.Get(ctx, "job"); return err },
		} {
			err := do()
			wantError(t, name+": "+call, err)
			if err != nil && !strings.Contains(err.Error(), `"job"`) {
				t.Errorf("%s: %s: the error %q does not name the key", name, call, err)
			}
		}
		if after := dump(t, client, hash) + dump(t, client, counter); after != before {
			t.Errorf("%s: the calls changed the store", name)
		}
	}
}

// dump returns all that a key holds, in the form of DUMP.
func dump(t testing.TB, client *redis.Client, key string) string {
	t.Helper()
	v, err := client.Dump(context.Background(), key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	return v
}
