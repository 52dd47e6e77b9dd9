package redislease

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// ERR-9: what this package did not write is an error in every call, it names
// the key, and stays as it is.
func TestUnreadableRecords(t *testing.T) {
	damages := map[string]func(st *store, hash, counter string){
		"a string in place of the lease":  func(st *store, hash, _ string) { st.Del(hash); st.Set(hash, "x") },
		"a list in place of the lease":    func(st *store, hash, _ string) { st.Del(hash); st.Push(hash, "x") },
		"a set in place of the lease":     func(st *store, hash, _ string) { st.Del(hash); st.SAdd(hash, "x") },
		"a hash of other fields":          func(st *store, hash, _ string) { st.Del(hash); st.HSet(hash, "x", "y") },
		"three other fields":              func(st *store, hash, _ string) { st.Del(hash); st.HSet(hash, "x", "1", "y", "2", "z", "3") },
		"a field without a name":          func(st *store, hash, _ string) { st.HSet(hash, "", "x") },
		"only a field without a name":     func(st *store, hash, _ string) { st.Del(hash); st.HSet(hash, "", "x") },
		"no holder":                       func(st *store, hash, _ string) { st.HDel(hash, "holder") },
		"no token":                        func(st *store, hash, _ string) { st.HDel(hash, "token") },
		"no expiry":                       func(st *store, hash, _ string) { st.HDel(hash, "expires") },
		"a field of the future":           func(st *store, hash, _ string) { st.HSet(hash, "schema", "2") },
		"an empty holder":                 func(st *store, hash, _ string) { st.HSet(hash, "holder", "") },
		"a holder with NUL":               func(st *store, hash, _ string) { st.HSet(hash, "holder", "a\x00b") },
		"a holder that is too long":       func(st *store, hash, _ string) { st.HSet(hash, "holder", strings.Repeat("x", 513)) },
		"a token that is no number":       func(st *store, hash, _ string) { st.HSet(hash, "token", "x") },
		"token 0":                         func(st *store, hash, _ string) { st.HSet(hash, "token", "0") },
		"token -1":                        func(st *store, hash, _ string) { st.HSet(hash, "token", "-1") },
		"token 01":                        func(st *store, hash, _ string) { st.HSet(hash, "token", "01") },
		"token 1.0":                       func(st *store, hash, _ string) { st.HSet(hash, "token", "1.0") },
		"token 1e3":                       func(st *store, hash, _ string) { st.HSet(hash, "token", "1e3") },
		"token 2^63":                      func(st *store, hash, _ string) { st.HSet(hash, "token", "9223372036854775808") },
		"token above the counter":         func(st *store, hash, _ string) { st.HSet(hash, "token", "8") },
		"an expiry that is no number":     func(st *store, hash, _ string) { st.HSet(hash, "expires", "soon") },
		"an empty expiry":                 func(st *store, hash, _ string) { st.HSet(hash, "expires", "") },
		"a negative expiry":               func(st *store, hash, _ string) { st.HSet(hash, "expires", "-1") },
		"an expiry in ns":                 func(st *store, hash, _ string) { st.HSet(hash, "expires", "1709208000000000000") },
		"an expiry of infinity":           func(st *store, hash, _ string) { st.HSet(hash, "expires", "inf") },
		"a hash in place of the counter":  func(st *store, _, counter string) { st.Del(counter); st.HSet(counter, "x", "y") },
		"no counter":                      func(st *store, _, counter string) { st.Del(counter) },
		"a counter below the token":       func(st *store, _, counter string) { st.Set(counter, "6") },
		"a counter that is no number":     func(st *store, _, counter string) { st.Set(counter, "x") },
		"an empty counter":                func(st *store, _, counter string) { st.Set(counter, "") },
		"a negative counter":              func(st *store, _, counter string) { st.Set(counter, "-7") },
		"a counter beyond int64":          func(st *store, _, counter string) { st.Set(counter, "9223372036854775808") },
		"a counter with a sign":           func(st *store, _, counter string) { st.Set(counter, "+7") },
		"a counter with a line end":       func(st *store, _, counter string) { st.Set(counter, "7\n") },
		"a counter in place of the lease": func(st *store, hash, _ string) { st.Del(hash); st.Set(hash, "7") },
	}
	for name, damage := range damages {
		st := newStore(t)
		s, ctx := st.service(t, ""), context.Background()
		hash, counter := s.names.of("job")
		seedCounter(t, st, s.names, "job", 6)
		l := acquire(t, s, "job", "a", time.Minute)
		damage(st, hash, counter)

		// While the lease is live, and after its end, which the record does
		// not outlive by much on a real Redis, but may.
		for _, now := range []time.Time{noon, l.ExpiresAt} {
			st.setClock(now)
			before := st.Dump()
			for call, do := range map[string]func() (lease.Lease, error){
				"Acquire by the holder": func() (lease.Lease, error) { return s.Acquire(ctx, "job", "a", time.Minute) },
				"Acquire by another":    func() (lease.Lease, error) { return s.Acquire(ctx, "job", "b", time.Minute) },
				"Renew":                 func() (lease.Lease, error) { return s.Renew(ctx, l, time.Minute) },
				"Release":               func() (lease.Lease, error) { return lease.Lease{}, s.Release(ctx, l) },
				"Get":                   func() (lease.Lease, error) { return s.Get(ctx, "job") },
			} {
				got, err := do()
				if err == nil || isSentinel(err) || got != (lease.Lease{}) {
					t.Errorf("%s: %s: got %v, %v, want no lease and an error that is no sentinel", name, call, got, err)
				} else if !strings.Contains(err.Error(), `"job"`) {
					t.Errorf("%s: %s: the error %q does not name the key", name, call, err)
				}
			}
			if after := st.Dump(); after != before {
				t.Errorf("%s: the calls changed the store: before\n%s\nafter\n%s", name, before, after)
			}
		}
	}
}

// A holder that is not UTF-8 can only be seen by Get, which has to return it;
// to the others it is another holder.
func TestUnreadableHolder(t *testing.T) {
	st := newStore(t)
	s, ctx := st.service(t, ""), context.Background()
	hash, _ := s.names.of("job")
	acquire(t, s, "job", "a", time.Minute)
	st.HSet(hash, "holder", "\xff")
	if got, err := s.Get(ctx, "job"); err == nil || isSentinel(err) || got != (lease.Lease{}) {
		t.Errorf("Get: got %v, %v, want no lease and an error that is no sentinel", got, err)
	}
}

// A counter below the token of the lease is seen whatever their digits are, and
// one above it is not a fault.
func TestCounterBelowToken(t *testing.T) {
	for _, tt := range []struct {
		token, counter string
		readable       bool
	}{
		{"10", "9", false},
		{"9", "10", true},
		{"9007199254740993", "9007199254740992", false},
		{"9007199254740992", "9007199254740993", true},
		{"9223372036854775807", "9223372036854775806", false},
		{"7", "7", true},
	} {
		st := newStore(t)
		s := st.service(t, "")
		hash, counter := s.names.of("job")
		acquire(t, s, "job", "a", time.Minute)
		st.HSet(hash, "token", tt.token)
		st.Set(counter, tt.counter)
		if _, err := s.Get(context.Background(), "job"); (err == nil) != tt.readable || isSentinel(err) {
			t.Errorf("token %s, counter %s: got %v, want readable: %v", tt.token, tt.counter, err, tt.readable)
		}
	}
}

// A damaged counter without a lease: no grant.
func TestUnreadableCounterOfFreeKey(t *testing.T) {
	for _, value := range []string{"x", "", "-1", "1.5", "007", "9223372036854775808"} {
		st := newStore(t)
		s := st.service(t, "")
		_, counter := s.names.of("job")
		st.Set(counter, value)
		before := st.Dump()
		if got, err := s.Acquire(context.Background(), "job", "a", time.Minute); err == nil || isSentinel(err) {
			t.Errorf("counter %q: Acquire: got %v, %v, want an error that is no sentinel", value, got, err)
		}
		if after := st.Dump(); after != before {
			t.Errorf("counter %q: Acquire changed the store: before\n%s\nafter\n%s", value, before, after)
		}
	}
}
