package memlease_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// whole is an instant without a broken millisecond.
var whole = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// service returns a service on a new store, and its clock, which stands at now.
func service(now time.Time) (*memlease.Service, *clock) {
	c := &clock{now}
	return memlease.New(&memlease.Options{Now: c.Now}).Service(""), c
}

func acquire(t testing.TB, s *memlease.Service, key, holder string, ttl time.Duration) lease.Lease {
	t.Helper()
	l, err := s.Acquire(context.Background(), key, holder, ttl)
	if err != nil {
		t.Fatalf("Acquire(%q, %q, %v): got %v, want a lease", key, holder, ttl, err)
	}
	return l
}

func release(t testing.TB, s *memlease.Service, l lease.Lease) {
	t.Helper()
	if err := s.Release(context.Background(), l); err != nil {
		t.Errorf("Release(%+v): got %v, want nil", l, err)
	}
}

// wantHolder holds Get to the lease l, or to ErrNotHeld if l is zero.
func wantHolder(t testing.TB, s *memlease.Service, key string, l lease.Lease) {
	t.Helper()
	got, err := s.Get(context.Background(), key)
	if got != l || (l == lease.Lease{}) != errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("Get(%q): got %+v, %v, want %+v", key, got, err, l)
	}
}

func TestEndIsRoundedUp(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		past time.Duration // of the last whole millisecond
		ttl  time.Duration
		want int // milliseconds after whole
	}{
		{0, 1, 1},
		{0, ms - 1, 1},
		{0, ms, 1},
		{0, ms + 1, 2},
		{0, time.Second, 1000},
		{1, 1, 1},
		{1, ms - 1, 1},
		{1, ms, 2},
		{1, 2*ms - 1, 2},
		{ms / 2, ms / 2, 1},
		{ms / 2, ms/2 + 1, 2},
		{ms - 1, 1, 1},
		{ms - 1, 2, 2},
		{ms - 1, ms, 2},
		{ms - 1, ms + 1, 2},
		{ms - 1, ms + 2, 3},
		{ms - 1, time.Second, 1001},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%v and %v", tt.past, tt.ttl), func(t *testing.T) {
			s, c := service(whole.Add(tt.past))
			want := whole.Add(time.Duration(tt.want) * ms)
			l := acquire(t, s, "k", "a", tt.ttl)
			if !l.ExpiresAt.Equal(want) {
				t.Errorf("Acquire: got an end of %v, want %v", l.ExpiresAt, want)
			}
			r, err := s.Renew(context.Background(), acquire(t, s, "k", "a", time.Hour), tt.ttl)
			if err != nil || r != l {
				t.Errorf("Renew: got %+v, %v, want %+v", r, err, l)
			}
			c.now = want.Add(-1)
			wantHolder(t, s, "k", l)
			c.now = want
			wantHolder(t, s, "k", lease.Lease{})
		})
	}
}

func TestLargestTTL(t *testing.T) {
	for _, now := range []time.Time{
		time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2031, 5, 6, 7, 8, 9, 999_999_999, time.UTC),
		time.Date(2199, 12, 31, 23, 59, 59, 999_000_001, time.UTC),
	} {
		s, c := service(now)
		l := acquire(t, s, "k", "a", math.MaxInt64)
		if over := l.ExpiresAt.Sub(now.Add(math.MaxInt64)); over < 0 || over >= time.Millisecond {
			t.Errorf("at %v: the end %v is %v after now + ttl, want less than 1 ms", now, l.ExpiresAt, over)
		}
		c.now = l.ExpiresAt.Add(-1)
		wantHolder(t, s, "k", l)
		c.now = l.ExpiresAt
		wantHolder(t, s, "k", lease.Lease{})
	}
}

func TestCounterAtItsEnd(t *testing.T) {
	ctx := context.Background()
	s, c := service(whole)
	s.SeedToken("k", math.MaxInt64-1)
	l := acquire(t, s, "k", "a", time.Minute)
	if l.Token != math.MaxInt64 {
		t.Fatalf("got token %d, want the largest", l.Token)
	}
	if again := acquire(t, s, "k", "a", time.Minute); again != l {
		t.Errorf("Acquire by the holder: got %+v, want %+v", again, l)
	}
	if r, err := s.Renew(ctx, l, time.Minute); err != nil || r != l {
		t.Errorf("Renew: got %+v, %v, want %+v", r, err, l)
	}
	if _, err := s.Acquire(ctx, "k", "b", time.Minute); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("Acquire by another holder: got %v, want ErrHeld", err)
	}
	refused := func(when string) {
		t.Helper()
		got, err := s.Acquire(ctx, "k", "b", time.Minute)
		if err == nil || got != (lease.Lease{}) {
			t.Errorf("Acquire %s: got %+v, %v, want the zero Lease and an error", when, got, err)
		}
		for _, sentinel := range []error{lease.ErrHeld, lease.ErrLost, lease.ErrNotHeld, lease.ErrInvalid} {
			if errors.Is(err, sentinel) {
				t.Errorf("Acquire %s: got %v, want none of the sentinels", when, err)
			}
		}
		wantHolder(t, s, "k", lease.Lease{})
	}
	c.now = l.ExpiresAt
	refused("after the expiry")
	c.now = whole
	wantHolder(t, s, "k", l)
	release(t, s, l)
	refused("after the release")
	if other := acquire(t, s, "k2", "b", time.Minute); other.Token != 1 {
		t.Errorf("another key: got token %d, want 1", other.Token)
	}
}

// TestStaleLease gives every kind of lease that is not the live grant to Renew
// and Release, and wants neither to touch what there is.
func TestStaleLease(t *testing.T) {
	ctx := context.Background()
	type making func(t *testing.T, s *memlease.Service, c *clock, l lease.Lease) lease.Lease
	altered := func(f func(*lease.Lease)) making {
		return func(_ *testing.T, _ *memlease.Service, _ *clock, l lease.Lease) lease.Lease {
			f(&l)
			return l
		}
	}
	kinds := map[string]making{
		"other holder": altered(func(l *lease.Lease) { l.Holder = "A" }),
		"lower token":  altered(func(l *lease.Lease) { l.Token-- }),
		"higher token": altered(func(l *lease.Lease) { l.Token++ }),
		"other key":    altered(func(l *lease.Lease) { l.Key = "K" }),
		"expired": func(_ *testing.T, _ *memlease.Service, c *clock, l lease.Lease) lease.Lease {
			c.now = l.ExpiresAt
			return l
		},
		"released": func(t *testing.T, s *memlease.Service, _ *clock, l lease.Lease) lease.Lease {
			release(t, s, l)
			return l
		},
		"superseded": func(t *testing.T, s *memlease.Service, c *clock, l lease.Lease) lease.Lease {
			c.now = l.ExpiresAt
			acquire(t, s, "k", "b", time.Minute)
			return l
		},
		"superseded by the same holder": func(t *testing.T, s *memlease.Service, _ *clock, l lease.Lease) lease.Lease {
			release(t, s, l)
			acquire(t, s, "k", "a", time.Minute)
			return l
		},
	}
	for name, made := range kinds {
		t.Run(name, func(t *testing.T) {
			s, c := service(whole)
			s.SeedToken("k", 7)
			stale := made(t, s, c, acquire(t, s, "k", "a", time.Minute))
			before, _ := s.Get(ctx, "k")
			if l, err := s.Renew(ctx, stale, time.Hour); !errors.Is(err, lease.ErrLost) || l != (lease.Lease{}) {
				t.Errorf("Renew: got %+v, %v, want ErrLost", l, err)
			}
			wantHolder(t, s, "k", before)
			for range 2 {
				release(t, s, stale)
			}
			wantHolder(t, s, "k", before)
		})
	}
}

func TestNamespaces(t *testing.T) {
	c := &clock{whole}
	store := memlease.New(&memlease.Options{Now: c.Now})
	views := []struct{ space, key string }{
		{"", "abc"}, {"a", "bc"}, {"ab", "c"}, {"A", "bc"}, {"a\x00", "bc"}, {"a ", "bc"}, {"a", "bc "},
	}
	var leases []lease.Lease
	for i, v := range views {
		l := acquire(t, store.Service(v.space), v.key, fmt.Sprint("holder-", i), time.Minute)
		if l.Token != 1 {
			t.Errorf("key %q in namespace %q: got token %d, want 1", v.key, v.space, l.Token)
		}
		leases = append(leases, l)
	}
	for i, v := range views {
		wantHolder(t, store.Service(v.space), v.key, leases[i])
	}
	wantHolder(t, memlease.New(&memlease.Options{Now: c.Now}).Service(""), "abc", lease.Lease{})
}

func TestClockStepsBack(t *testing.T) {
	ctx := context.Background()
	s, c := service(whole)
	first := acquire(t, s, "k", "a", time.Minute)
	c.now = first.ExpiresAt
	wantHolder(t, s, "k", lease.Lease{})

	c.now = first.ExpiresAt.Add(-1)
	wantHolder(t, s, "k", first)
	if _, err := s.Acquire(ctx, "k", "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("Acquire after the step: got %v, want ErrHeld", err)
	}

	c.now = first.ExpiresAt
	second := acquire(t, s, "k", "b", time.Hour)
	c.now = whole.AddDate(-10, 0, 0)
	wantHolder(t, s, "k", second)
	if _, err := s.Renew(ctx, first, time.Minute); !errors.Is(err, lease.ErrLost) {
		t.Errorf("Renew of the superseded lease: got %v, want ErrLost", err)
	}

	release(t, s, second)
	c.now = c.now.AddDate(-10, 0, 0)
	wantHolder(t, s, "k", lease.Lease{})
	if third := acquire(t, s, "k", "a", time.Minute); third.Token <= second.Token {
		t.Errorf("got token %d after %d, want a greater one", third.Token, second.Token)
	}
}

// A test's clock often starts at the zero time, long before 1970.
func TestReleaseBefore1970(t *testing.T) {
	s, _ := service(time.Time{})
	release(t, s, acquire(t, s, "k", "a", time.Minute))
	wantHolder(t, s, "k", lease.Lease{})
	if l := acquire(t, s, "k", "b", time.Minute); l.Token != 2 {
		t.Errorf("got token %d, want 2", l.Token)
	}
}

// TestDefaultClock runs in a bubble, whose clock stands still.
func TestDefaultClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, o := range []*memlease.Options{nil, {}} {
			l := acquire(t, memlease.New(o).Service(""), "k", "a", time.Minute)
			if want := time.Now().Add(time.Minute); !l.ExpiresAt.Equal(want) {
				t.Errorf("options %v: got an end of %v, want %v", o, l.ExpiresAt, want)
			}
		}
	})
}

func TestContextDone(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	for want, ctx := range map[error]context.Context{context.Canceled: cancelled, context.DeadlineExceeded: late} {
		s, _ := service(whole)
		l := acquire(t, s, "k", "a", time.Minute)
		calls := map[string]func() (lease.Lease, error){
			"Acquire": func() (lease.Lease, error) { return s.Acquire(ctx, "free", "a", time.Minute) },
			"Renew":   func() (lease.Lease, error) { return s.Renew(ctx, l, time.Hour) },
			"Release": func() (lease.Lease, error) { return lease.Lease{}, s.Release(ctx, l) },
			"Get":     func() (lease.Lease, error) { return s.Get(ctx, "k") },
		}
		for name, call := range calls {
			if got, err := call(); !errors.Is(err, want) || got != (lease.Lease{}) {
				t.Errorf("%s: got %+v, %v, want the zero Lease and %v", name, got, err, want)
			}
		}
		wantHolder(t, s, "k", l)
		wantHolder(t, s, "free", lease.Lease{})
	}
}

// TestKnownKeyDoesNotAllocate is also what shows that a store does not grow
// with calls on the same key.
func TestKnownKeyDoesNotAllocate(t *testing.T) {
	ctx := context.Background()
	s, _ := service(whole)
	held := acquire(t, s, "held", "a", time.Minute)
	stale := held
	stale.Token++
	acquire(t, s, "k", "a", time.Minute)
	var failed error
	want := func(got, want error) {
		if !errors.Is(got, want) {
			failed = fmt.Errorf("got %v, want %v", got, want)
		}
	}
	for name, call := range map[string]func(){
		"Acquire and Release": func() {
			l, err := s.Acquire(ctx, "k", "a", time.Minute)
			want(err, nil)
			want(s.Release(ctx, l), nil)
		},
		"Acquire again":            func() { _, err := s.Acquire(ctx, "held", "a", time.Minute); want(err, nil) },
		"Acquire refused":          func() { _, err := s.Acquire(ctx, "held", "b", time.Minute); want(err, lease.ErrHeld) },
		"Renew":                    func() { _, err := s.Renew(ctx, held, time.Minute); want(err, nil) },
		"Renew refused":            func() { _, err := s.Renew(ctx, stale, time.Minute); want(err, lease.ErrLost) },
		"Release of a stale lease": func() { want(s.Release(ctx, stale), nil) },
		"Get":                      func() { _, err := s.Get(ctx, "held"); want(err, nil) },
		"Get of nothing":           func() { _, err := s.Get(ctx, "never"); want(err, lease.ErrNotHeld) },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 || failed != nil {
			t.Errorf("%s: got %v allocations (%v), want 0", name, n, failed)
		}
		failed = nil
	}
}

// TestHammer lets workers fight for one key while its lease is all that guards
// a plain variable: under -race a second holder is seen as a data race, without
// it as a lost count.
func TestHammer(t *testing.T) {
	const workers, rounds = 4, 200
	ctx := context.Background()
	var tick atomic.Int64 // the server clock, which creeps while the workers run
	store := memlease.New(&memlease.Options{Now: func() time.Time {
		return whole.Add(time.Duration(tick.Add(1)))
	}})
	var tokens []int64 // guarded by the lease
	var wg sync.WaitGroup
	for w := range workers {
		s, me := store.Service("hammer"), fmt.Sprintf("worker-%d", w)
		wg.Go(func() {
			for granted := 0; granted < rounds; {
				l, err := s.Acquire(ctx, "k", me, time.Hour)
				if errors.Is(err, lease.ErrHeld) {
					s.Get(ctx, "k")
					s.Renew(ctx, lease.Lease{Key: "k", Holder: me, Token: 1 << 40}, time.Hour)
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				granted++
				tokens = append(tokens, l.Token)
				if _, err := s.Renew(ctx, l, 2*time.Hour); err != nil {
					t.Errorf("Renew: %v", err)
				}
				if err := s.Release(ctx, l); err != nil {
					t.Errorf("Release: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if len(tokens) != workers*rounds {
		t.Errorf("%d grants left a mark, want %d", len(tokens), workers*rounds)
	}
	for i := 1; i < len(tokens); i++ {
		if tokens[i] <= tokens[i-1] {
			t.Fatalf("grant %d: got token %d after %d, want a greater one", i, tokens[i], tokens[i-1])
		}
	}
}
