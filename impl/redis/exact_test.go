package redislease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// EXPIRY-1, ARG-3: the expiry is now + ttl, rounded up to the ms, never earlier
// and less than 1 ms later.
func TestExpiryIsExact(t *testing.T) {
	st := newStore(t)
	s, ctx := st.service(t, ""), context.Background()
	starts := []time.Time{
		noon,
		time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2199, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	beyond := []time.Duration{0, time.Microsecond, 499 * time.Microsecond, 500 * time.Microsecond, 999 * time.Microsecond, 999999 * time.Microsecond}
	ttls := []time.Duration{
		1, 999, time.Microsecond, 1001, 500 * time.Microsecond, 999*time.Microsecond + 1, 999999,
		time.Millisecond, time.Millisecond + 1, 1500 * time.Microsecond, 2*time.Millisecond - 1,
		time.Second, time.Hour + 1, 100 * 365 * 24 * time.Hour,
		math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 1e6 * 1e6,
	}
	n := 0
	for _, start := range starts {
		for _, b := range beyond {
			now := start.Add(b)
			st.setClock(now)
			for _, ttl := range ttls {
				n++
				l := acquire(t, s, strconv.Itoa(n), "a", ttl)
				want := now.Add(ttl)
				if over := want.Truncate(time.Millisecond); over != want {
					want = over.Add(time.Millisecond)
				}
				if !l.ExpiresAt.Equal(want) {
					t.Errorf("Acquire at %v for %d ns: expires at %v, want %v", now, ttl, l.ExpiresAt, want)
				}
				again, err := s.Renew(ctx, l, ttl)
				if err != nil || again != l {
					t.Errorf("Renew at %v for %d ns: got %v, %v, want %v", now, ttl, again, err, l)
				}
				if got, err := s.Get(ctx, l.Key); err != nil || got != l {
					t.Errorf("Get at %v after %d ns: got %v, %v, want %v", now, ttl, got, err, l)
				}
			}
		}
	}
}

// TOKEN-8: no digit is lost above 2^53.
func TestTokensAreExact(t *testing.T) {
	st := newStore(t)
	s, ctx := st.service(t, ""), context.Background()
	for _, seed := range []int64{0, 9, 99, 1<<31 - 1, 1 << 31, 1<<53 - 3, 1<<53 - 2, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<53 + 2, 1e17, 1e18 - 1, math.MaxInt64 - 2} {
		key := fmt.Sprint(seed)
		seedCounter(t, st, s.names, key, seed)
		l := acquire(t, s, key, "a", time.Hour)
		if l.Token != seed+1 {
			t.Errorf("token after %d: got %d, want %d", seed, l.Token, seed+1)
		}
		if got, err := s.Get(ctx, key); err != nil || got != l {
			t.Errorf("Get: got %v, %v, want %v", got, err, l)
		}
		if got, err := s.Renew(ctx, l, time.Hour); err != nil || got != l {
			t.Errorf("Renew: got %v, %v, want %v", got, err, l)
		}
		for _, near := range []int64{l.Token - 1, l.Token + 1} {
			if near <= 0 {
				continue
			}
			wrong := lease.Lease{Key: key, Holder: "a", Token: near}
			if _, err := s.Renew(ctx, wrong, time.Hour); !errors.Is(err, lease.ErrLost) {
				t.Errorf("Renew with token %d instead of %d: got %v, want ErrLost", near, l.Token, err)
			}
		}
		if err := s.Release(ctx, l); err != nil {
			t.Error(err)
		}
		if got := acquire(t, s, key, "a", time.Hour); got.Token != seed+2 {
			t.Errorf("token after the release of %d: got %d, want %d", l.Token, got.Token, seed+2)
		}
	}
}

// TOKEN-9: a counter at its maximum grants nothing and changes nothing.
func TestCounterAtMaximum(t *testing.T) {
	st := newStore(t)
	s, ctx := st.service(t, ""), context.Background()
	seedCounter(t, st, s.names, "job", math.MaxInt64-1)
	last := acquire(t, s, "job", "a", time.Minute)
	if last.Token != math.MaxInt64 {
		t.Fatalf("the last token: got %d, want %d", last.Token, int64(math.MaxInt64))
	}
	if got := acquire(t, s, "job", "a", time.Minute); got != last {
		t.Errorf("Acquire by the holder of the last token: got %v, want %v", got, last)
	}
	st.setClock(last.ExpiresAt)
	before := st.Dump()
	for _, holder := range []string{"a", "b"} {
		_, err := s.Acquire(ctx, "job", holder, time.Minute)
		if err == nil || isSentinel(err) {
			t.Errorf("Acquire by %s with the counter at its maximum: got %v, want an error that is no sentinel", holder, err)
		}
	}
	if after := st.Dump(); after != before {
		t.Errorf("the refused calls changed the store: before\n%s\nafter\n%s", before, after)
	}
	if err := s.Release(ctx, last); err != nil {
		t.Errorf("Release of the last token: %v", err)
	}
}

func seedCounter(t testing.TB, st *store, n names, key string, token int64) {
	t.Helper()
	_, counter := n.of(key)
	if err := st.Set(counter, strconv.FormatInt(token, 10)); err != nil {
		t.Fatal(err)
	}
}

func isSentinel(err error) bool {
	for _, s := range []error{lease.ErrHeld, lease.ErrLost, lease.ErrNotHeld, lease.ErrInvalid} {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}
