package redislease

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// The benchmarks run on a Redis in this process, each with a context that can't
// end and with one that can, which costs a goroutine for each call. The
// yardstick is BenchmarkNoOp, the round trip of a script that does nothing. Lua
// in Go is most of what they measure: BenchmarkRedis in module integration shows
// what a real server takes.
func contexts(b *testing.B, body func(b *testing.B, ctx context.Context)) {
	b.Run("background", func(b *testing.B) { body(b, context.Background()) })
	b.Run("cancelable", func(b *testing.B) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		body(b, ctx)
	})
}

func BenchmarkNoOp(b *testing.B) {
	client, ctx := newStore(b).client(b), context.Background()
	noop := redis.NewScript("return {'ok'}")
	if err := noop.Load(ctx, client).Err(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := noop.EvalSha(ctx, client, []string{"{k}l", "{k}n"}).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// One round is two round trips.
func BenchmarkAcquireRelease(b *testing.B) {
	contexts(b, func(b *testing.B, ctx context.Context) {
		s := New(newStore(b).client(b), nil)
		b.ReportAllocs()
		for b.Loop() {
			l, err := s.Acquire(ctx, "job", "a", time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Release(ctx, l); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRenew(b *testing.B) {
	contexts(b, func(b *testing.B, ctx context.Context) {
		s := New(newStore(b).client(b), nil)
		l := acquire(b, s, "job", "a", time.Minute)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Renew(ctx, l, time.Minute); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	contexts(b, func(b *testing.B, ctx context.Context) {
		s := New(newStore(b).client(b), nil)
		acquire(b, s, "job", "a", time.Minute)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Get(ctx, "job"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
