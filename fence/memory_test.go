package fence_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
)

// wantRecord fails unless Read shows this.
func wantRecord(t *testing.T, r fence.Resource, key, value string, token int64) {
	t.Helper()
	v, n, err := r.Read(context.Background(), key)
	if v != value || n != token || err != nil {
		t.Errorf("Read(%q): got %q, %d, %v, want %q, %d, nil", key, v, n, err, value, token)
	}
}

func TestMemoryRefusesTheLowerToken(t *testing.T) {
	ctx := context.Background()
	var m fence.Memory
	wantRecord(t, &m, "k", "", 0)
	for _, token := range []int64{3, 3, 9, 10, math.MaxInt64 - 1, math.MaxInt64} {
		if err := m.Write(ctx, "k", token, "new"); err != nil {
			t.Fatalf("Write with token %d: %v", token, err)
		}
		wantRecord(t, &m, "k", "new", token)
		if token == 3 {
			continue
		}
		err := m.Write(ctx, "k", token-1, "old")
		var stale *fence.StaleError
		if !errors.Is(err, fence.ErrStale) || !errors.As(err, &stale) || *stale != (fence.StaleError{Key: "k", Token: token - 1, Highest: token}) {
			t.Errorf("Write with token %d after %d: got %v, want a StaleError with both", token-1, token, err)
		}
		wantRecord(t, &m, "k", "new", token)
	}
	if err := m.Write(ctx, "other", 1, "v"); err != nil {
		t.Errorf("Write of another key with a lower token: %v", err)
	}
	wantRecord(t, &m, "other", "v", 1)
}

func TestMemoryInvalid(t *testing.T) {
	ctx := context.Background()
	var m fence.Memory
	for _, c := range []struct {
		key   string
		token int64
	}{{"k", 0}, {"k", -1}, {"k", math.MinInt64}, {"", 1}, {"a\x00b", 1}, {"\xff", 1}, {strings.Repeat("x", lease.MaxName+1), 1}} {
		if err := m.Write(ctx, c.key, c.token, "v"); !errors.Is(err, lease.ErrInvalid) || errors.Is(err, fence.ErrStale) {
			t.Errorf("Write of %.10q with token %d: got %v, want ErrInvalid", c.key, c.token, err)
		}
	}
	if _, _, err := m.Read(ctx, ""); !errors.Is(err, lease.ErrInvalid) {
		t.Errorf("Read of no key: got %v, want ErrInvalid", err)
	}
	wantRecord(t, &m, "k", "", 0)
}

func TestMemoryContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var m fence.Memory
	if err := m.Write(ctx, "k", 1, "v"); !errors.Is(err, context.Canceled) {
		t.Errorf("Write with a done context: got %v, want its error", err)
	}
	if _, _, err := m.Read(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Read with a done context: got %v, want its error", err)
	}
	wantRecord(t, &m, "k", "", 0)
}
