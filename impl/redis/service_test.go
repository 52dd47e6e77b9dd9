package redislease

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
)

func TestLife(t *testing.T) {
	st := newStore(t)
	s, ctx := st.service(t, ""), context.Background()

	if _, err := s.Get(ctx, "job"); !errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("Get of a key never taken: got %v, want ErrNotHeld", err)
	}
	want := lease.Lease{Key: "job", Holder: "a", Token: 1, ExpiresAt: noon.Add(time.Minute)}
	first := acquire(t, s, "job", "a", time.Minute)
	if first != want {
		t.Errorf("Acquire: got %v, want %v", first, want)
	}
	if _, err := s.Acquire(ctx, "job", "b", time.Hour); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("Acquire by another holder: got %v, want ErrHeld", err)
	}
	if got, err := s.Get(ctx, "job"); err != nil || got != want {
		t.Errorf("Get: got %v, %v, want %v", got, err, want)
	}

	st.setClock(noon.Add(20 * time.Second))
	want.ExpiresAt = noon.Add(50 * time.Second)
	if got := acquire(t, s, "job", "a", 30*time.Second); got != want {
		t.Errorf("Acquire by its holder: got %v, want the same grant %v", got, want)
	}
	want.ExpiresAt = noon.Add(25 * time.Second)
	if got, err := s.Renew(ctx, first, 5*time.Second); err != nil || got != want {
		t.Errorf("Renew: got %v, %v, want %v", got, err, want)
	}
	for name, stale := range map[string]lease.Lease{
		"another token":  {Key: "job", Holder: "a", Token: 2},
		"another holder": {Key: "job", Holder: "b", Token: 1},
		"another key":    {Key: "jo", Holder: "a", Token: 1},
	} {
		if _, err := s.Renew(ctx, stale, time.Hour); !errors.Is(err, lease.ErrLost) {
			t.Errorf("Renew with %s: got %v, want ErrLost", name, err)
		}
		if err := s.Release(ctx, stale); err != nil {
			t.Errorf("Release with %s: got %v, want nil", name, err)
		}
	}
	if got, err := s.Get(ctx, "job"); err != nil || got != want {
		t.Errorf("Get after stale calls: got %v, %v, want %v", got, err, want)
	}

	for range 2 {
		if err := s.Release(ctx, first); err != nil {
			t.Errorf("Release: %v", err)
		}
	}
	if _, err := s.Renew(ctx, first, time.Hour); !errors.Is(err, lease.ErrLost) {
		t.Errorf("Renew after Release: got %v, want ErrLost", err)
	}
	if got := acquire(t, s, "job", "b", time.Second); got.Token <= first.Token {
		t.Errorf("token after Release: got %d, want more than %d", got.Token, first.Token)
	}
}

// At the ms of its expiry a lease is over, whether or not Redis still has it;
// one ms before, it is live. The clock may step back over it.
func TestExpiry(t *testing.T) {
	st := newStore(t)
	s, ctx := st.service(t, ""), context.Background()
	l := acquire(t, s, "job", "a", time.Minute)

	st.setClock(l.ExpiresAt.Add(-time.Microsecond))
	if got, err := s.Get(ctx, "job"); err != nil || got != l {
		t.Errorf("Get 1 µs before the expiry: got %v, %v, want %v", got, err, l)
	}
	st.setClock(l.ExpiresAt)
	if _, err := s.Get(ctx, "job"); !errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("Get at the expiry: got %v, want ErrNotHeld", err)
	}
	if _, err := s.Renew(ctx, l, time.Minute); !errors.Is(err, lease.ErrLost) {
		t.Errorf("Renew at the expiry: got %v, want ErrLost", err)
	}
	next := acquire(t, s, "job", "b", time.Minute)
	if next.Token <= l.Token {
		t.Errorf("token after the expiry: got %d, want more than %d", next.Token, l.Token)
	}
	st.setClock(noon)
	if got, err := s.Get(ctx, "job"); err != nil || got != next {
		t.Errorf("Get after a step back: got %v, %v, want %v", got, err, next)
	}
	if _, err := s.Renew(ctx, l, time.Minute); !errors.Is(err, lease.ErrLost) {
		t.Errorf("Renew of the superseded lease after a step back: got %v, want ErrLost", err)
	}
}

// Redis has to remove the record of a lease by itself, and no sooner than the
// lease is over.
func TestRecordExpires(t *testing.T) {
	st := newStore(t)
	s, ctx := st.service(t, ""), context.Background()
	hash, counter := s.names.of("job")
	l := acquire(t, s, "job", "a", time.Minute)
	if got := st.TTL(hash); got != time.Minute {
		t.Errorf("after Acquire the record has a ttl of %v, want %v", got, time.Minute)
	}
	if _, err := s.Renew(ctx, l, time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := st.TTL(hash); got != time.Hour {
		t.Errorf("after Renew the record has a ttl of %v, want %v", got, time.Hour)
	}
	acquire(t, s, "job", "a", time.Second)
	if got := st.TTL(hash); got != time.Second {
		t.Errorf("after another Acquire the record has a ttl of %v, want %v", got, time.Second)
	}
	if got := st.TTL(counter); got != 0 {
		t.Errorf("the counter has a ttl of %v, want none", got)
	}
}

func TestInvalidArguments(t *testing.T) {
	st := newStore(t)
	client := st.client(t)
	var sent commands
	client.AddHook(&sent)
	s, ctx := New(client, nil), context.Background()
	long := strings.Repeat("x", lease.MaxName+1)
	for name, call := range map[string]func() (lease.Lease, error){
		"Acquire, key":    func() (lease.Lease, error) { return s.Acquire(ctx, "", "a", 1) },
		"Acquire, holder": func() (lease.Lease, error) { return s.Acquire(ctx, "k", long, 1) },
		"Acquire, ttl":    func() (lease.Lease, error) { return s.Acquire(ctx, "k", "a", 0) },
		"Renew, token":    func() (lease.Lease, error) { return s.Renew(ctx, lease.Lease{Key: "k", Holder: "a"}, 1) },
		"Renew, ttl":      func() (lease.Lease, error) { return s.Renew(ctx, lease.Lease{Key: "k", Holder: "a", Token: 1}, -1) },
		"Release, holder": func() (lease.Lease, error) {
			return lease.Lease{}, s.Release(ctx, lease.Lease{Key: "k", Holder: "\xff", Token: 1})
		},
		"Get, key": func() (lease.Lease, error) { return s.Get(ctx, "a\x00b") },
	} {
		if l, err := call(); !errors.Is(err, lease.ErrInvalid) || l != (lease.Lease{}) {
			t.Errorf("%s: got %v, %v, want no lease and ErrInvalid", name, l, err)
		}
	}
	if n := sent.n.Load(); n != 0 {
		t.Errorf("%d commands were sent for invalid arguments, want none", n)
	}
}

func TestOneRoundTrip(t *testing.T) {
	st := newStore(t)
	client := st.client(t)
	var sent commands
	client.AddHook(&sent)
	s, ctx := New(client, nil), context.Background()
	l := lease.Lease{Key: "job", Holder: "a", Token: 1}
	calls := []struct {
		name string
		call func() error
		want error
	}{
		{"Acquire of a free key", func() error { _, err := s.Acquire(ctx, "job", "a", time.Hour); return err }, nil},
		{"Acquire by its holder", func() error { _, err := s.Acquire(ctx, "job", "a", time.Hour); return err }, nil},
		{"Acquire of a held key", func() error { _, err := s.Acquire(ctx, "job", "b", time.Hour); return err }, lease.ErrHeld},
		{"Renew", func() error { _, err := s.Renew(ctx, l, time.Hour); return err }, nil},
		{"Get", func() error { _, err := s.Get(ctx, "job"); return err }, nil},
		{"Release", func() error { return s.Release(ctx, l) }, nil},
		{"Release again", func() error { return s.Release(ctx, l) }, nil},
		{"Renew of a lost lease", func() error { _, err := s.Renew(ctx, l, time.Hour); return err }, lease.ErrLost},
		{"Get of a free key", func() error { _, err := s.Get(ctx, "job"); return err }, lease.ErrNotHeld},
	}
	admin := st.client(t)
	for _, pass := range []struct {
		name  string
		flush bool
		want  int64 // round trips; 0: not counted
	}{
		{"first use", false, 0},
		{"scripts known", false, 1},
		{"scripts flushed", true, 2},
	} {
		if err := admin.Del(ctx, "{6:lease:job}l", "{6:lease:job}n").Err(); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if pass.flush {
				if err := admin.ScriptFlush(ctx).Err(); err != nil {
					t.Fatal(err)
				}
			}
			sent.n.Store(0)
			if err := c.call(); !errors.Is(err, c.want) {
				t.Errorf("%s: %s: got %v, want %v", pass.name, c.name, err, c.want)
			}
			if got := sent.n.Load(); pass.want != 0 && got != pass.want {
				t.Errorf("%s: %s took %d round trips, want %d", pass.name, c.name, got, pass.want)
			}
		}
	}
}

func TestNilClient(t *testing.T) {
	var none *redis.Client
	for name, s := range map[string]*Service{"nil": New(nil, nil), "nil *redis.Client": New(none, nil)} {
		if _, err := s.Get(context.Background(), "job"); err == nil || !strings.Contains(err.Error(), "client is nil") {
			t.Errorf("Get with %s as the client: got %v, want an error that says so", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close with %s as the client: %v", name, err)
		}
	}
}

func TestCloseLeavesTheCallersClient(t *testing.T) {
	client := newStore(t).client(t)
	if err := New(client, nil).Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := client.Ping(context.Background()).Err(); err != nil {
		t.Errorf("the client after Close of the service: %v, want it to work", err)
	}
}
