package redislease

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// odd are prefixes and keys that could be mistaken for each other or for a part
// of the names of Redis keys.
var odd = []string{
	"a", "A", "ab", "b", "a ", " a", "l", "n", "}l", "}n", "a}l", "a}n", "{", "}", "{}", "}{", "{a}", "{}a", "a{b}c",
	":", "1:", "1:a", "0:", "2:ab", "6:lease:", "{1:aa}l", "*", "?", "[a]", "\\", "\r\n", "\"", "'", "é", "e\u0301", "鍵", "\u200b",
	strings.Repeat("x", lease.MaxName),
}

func TestNamesAreUnique(t *testing.T) {
	whose := map[string]string{}
	for _, prefix := range append([]string{"", "\x00", "\xff"}, odd...) {
		for _, key := range odd {
			hash, counter := newNames(prefix).of(key)
			for _, name := range []string{hash, counter} {
				this := prefix + "\x00" + key
				if other, taken := whose[name]; taken {
					t.Errorf("prefix and key %.40q and %.40q share the name %.60q", this, other, name)
				}
				whose[name] = this
			}
			if a, b := slotTag(hash), slotTag(counter); a != b || a == "" || a == hash {
				t.Errorf("prefix %.40q, key %.40q: hash tags %.40q and %.40q, want one", prefix, key, a, b)
			}
		}
	}
}

// slotTag is the part of a name by which Redis Cluster chooses the slot, after
// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
func slotTag(name string) string {
	_, after, found := strings.Cut(name, "{")
	tag, _, closed := strings.Cut(after, "}")
	if !found || !closed || tag == "" {
		return name
	}
	return tag
}

// KEY-1, KEY-3, EXCL-6: odd names are independent and come back as they are.
func TestOddNames(t *testing.T) {
	s, ctx := newStore(t).service(t, ""), context.Background()
	leases := map[string]lease.Lease{}
	for i, key := range odd {
		l := acquire(t, s, key, odd[len(odd)-1-i], time.Hour)
		if l.Token != 1 {
			t.Errorf("the first token of key %.40q: got %d, want 1", key, l.Token)
		}
		leases[key] = l
	}
	for _, key := range odd {
		if got, err := s.Get(ctx, key); err != nil || got != leases[key] {
			t.Errorf("Get(%.40q): got %v, %v, want %v", key, got, err, leases[key])
		}
		for _, holder := range odd {
			if _, err := s.Acquire(ctx, key, holder, time.Hour); holder != leases[key].Holder && !errors.Is(err, lease.ErrHeld) {
				t.Errorf("Acquire of %.40q by %.40q, held by %.40q: got %v, want ErrHeld", key, holder, leases[key].Holder, err)
			}
		}
	}
}

// KEY-2: prefix and key joined are the same for all of these.
func TestPrefixesAreIndependent(t *testing.T) {
	st := newStore(t)
	ctx := context.Background()
	all := "a:b:c:d"
	for i := 1; i < len(all); i++ {
		s := st.service(t, all[:i])
		if l := acquire(t, s, all[i:], "a", time.Hour); l.Token != 1 {
			t.Errorf("prefix %q, key %q: the first token is %d, want 1", all[:i], all[i:], l.Token)
		}
	}
	if _, err := st.service(t, DefaultPrefix).Get(ctx, "job"); !errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("Get with the default prefix: got %v, want ErrNotHeld", err)
	}
	l := acquire(t, New(st.client(t), nil), "job", "a", time.Hour)
	if got, err := st.service(t, DefaultPrefix).Get(ctx, "job"); err != nil || got != l {
		t.Errorf("Get with the default prefix after Acquire without options: got %v, %v, want %v", got, err, l)
	}
}
