package memlease_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// The benchmarks read the machine's clock, as a program does: with an injected
// one they would leave out what a call mostly costs.

func BenchmarkAcquireRelease(b *testing.B) {
	s, ctx := memlease.New(nil).Service(""), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := acquireAndRelease(ctx, s, "job"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenew(b *testing.B) {
	s, ctx := memlease.New(nil).Service(""), context.Background()
	l := acquire(b, s, "job", "a", time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Renew(ctx, l, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s, ctx := memlease.New(nil).Service(""), context.Background()
	acquire(b, s, "job", "a", time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(ctx, "job"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAcquireRefused(b *testing.B) {
	s, ctx := memlease.New(nil).Service(""), context.Background()
	acquire(b, s, "job", "a", time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Acquire(ctx, "job", "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
			b.Fatalf("got %v, want ErrHeld", err)
		}
	}
}

// One round is an Acquire and a Release of a key that no other goroutine uses:
// what the one mutex of the store costs.
func BenchmarkAcquireReleaseParallel(b *testing.B) {
	s, ctx := memlease.New(nil).Service(""), context.Background()
	var n atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		key := fmt.Sprintf("job-%d", n.Add(1))
		for pb.Next() {
			if err := acquireAndRelease(ctx, s, key); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// All goroutines want the same key; a refusal is a round too.
func BenchmarkContendedParallel(b *testing.B) {
	s, ctx := memlease.New(nil).Service(""), context.Background()
	var n atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		holder := fmt.Sprintf("worker-%d", n.Add(1))
		for pb.Next() {
			l, err := s.Acquire(ctx, "job", holder, time.Hour)
			switch {
			case err == nil:
				err = s.Release(ctx, l)
			case errors.Is(err, lease.ErrHeld):
				err = nil
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func acquireAndRelease(ctx context.Context, s *memlease.Service, key string) error {
	l, err := s.Acquire(ctx, key, "a", time.Hour)
	if err != nil {
		return err
	}
	return s.Release(ctx, l)
}
