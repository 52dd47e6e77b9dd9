package integration

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
)

// BenchmarkRedis compares every call with the yardstick, the round trip of a
// script that does nothing: with one worker, which shows the latency, and with
// eight, each on a key of its own, which shows the throughput. The context
// can't end, or can, which costs a goroutine for each call.
//
// Compare medians of several runs (-count): with one worker the time to wake a
// thread is most of it, and that comes in two sizes, far apart.
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
			for _, workers := range []int{1, 8} {
				b.Run(fmt.Sprintf("%s/%s/workers=%d", call.name, kind.name, workers), func(b *testing.B) {
					b.ReportAllocs()
					var left atomic.Int64
					left.Store(int64(b.N))
					var all sync.WaitGroup
					for w := range workers {
						id := fmt.Sprint(call.name, kind.name, workers, w)
						held := acquire(b, s, "held by "+id, id, time.Hour)
						all.Go(func() {
							for left.Add(-1) >= 0 {
								if err := call.do(kind.ctx, held); err != nil {
									b.Error(err)
									return
								}
							}
						})
					}
					all.Wait()
				})
			}
		}
	}
}
