package integration

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
)

// BenchmarkRedis has 8 workers, each on a key of its own, and compares every
// call with the yardstick, the round trip of a script that does nothing. The
// context can't end, or can, which costs a goroutine for each call.
//
// One worker alone measures mostly how long the machine takes to wake a thread,
// which varies by a factor of five.
func BenchmarkRedis(b *testing.B) {
	s, client, _ := redisService(b)
	noop := redis.NewScript("return {'ok'}")
	if err := noop.Load(context.Background(), client).Err(); err != nil {
		b.Fatal(err)
	}
	cancelable, cancel := context.WithCancel(context.Background())
	defer cancel()

	for _, call := range []struct {
		name string
		do   func(ctx context.Context, held lease.Lease) error
	}{
		{"NoOp", func(ctx context.Context, held lease.Lease) error {
			return noop.EvalSha(ctx, client, []string{"{k}l", "{k}n"}).Err()
		}},
		{"AcquireAndRelease", func(ctx context.Context, held lease.Lease) error { // two round trips
			l, err := s.Acquire(ctx, held.Holder, "a", time.Hour)
			if err != nil {
				return err
			}
			return s.Release(ctx, l)
		}},
		{"Renew", func(ctx context.Context, held lease.Lease) error {
			_, err := s.Renew(ctx, held, time.Hour)
			return err
		}},
		{"RefusedAcquire", func(ctx context.Context, held lease.Lease) error {
			_, err := s.Acquire(ctx, held.Key, "b", time.Hour)
			return ignore(err, lease.ErrHeld)
		}},
		{"Get", func(ctx context.Context, held lease.Lease) error {
			_, err := s.Get(ctx, held.Key)
			return err
		}},
	} {
		for _, kind := range []struct {
			name string
			ctx  context.Context
		}{{"background", context.Background()}, {"cancelable", cancelable}} {
			if call.name == "NoOp" && kind.ctx == cancelable {
				continue
			}
			b.Run(call.name+"/"+kind.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetParallelism((8 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
				var workers atomic.Int64
				b.RunParallel(func(pb *testing.PB) {
					id := fmt.Sprint(call.name, kind.name, workers.Add(1))
					held := acquire(b, s, "held by "+id, id, time.Hour)
					for pb.Next() {
						if err := call.do(kind.ctx, held); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}
