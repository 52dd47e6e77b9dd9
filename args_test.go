package lease_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

func TestCheckNames(t *testing.T) {
	names := []struct {
		name string
		want string // part of the error, empty: valid
	}{
		{"a", ""},
		{" ", ""},
		{"\n", ""},
		{"jób/ключ/鍵", ""},
		{"\ufffd", ""}, // a genuine replacement character is valid UTF-8
		{strings.Repeat("x", lease.MaxName), ""},
		{strings.Repeat("é", lease.MaxName/2), ""},
		{"", "empty"},
		{strings.Repeat("x", lease.MaxName+1), "513 bytes"},
		{strings.Repeat("é", lease.MaxName/2) + "x", "513 bytes"},
		{"a\x00b", "NUL byte at offset 1"},
		{"a\xffb", "not valid UTF-8"},
		{"\xed\xa0\x80", "not valid UTF-8"}, // a surrogate half
	}
	for _, tt := range names {
		l := lease.Lease{Key: tt.name, Holder: "h", Token: 1}
		m := lease.Lease{Key: "k", Holder: tt.name, Token: 1}
		checks := map[string]error{
			"key: CheckKey":        lease.CheckKey(tt.name),
			"key: CheckAcquire":    lease.CheckAcquire(tt.name, "h", time.Second),
			"key: CheckLease":      lease.CheckLease(l),
			"key: CheckRenew":      lease.CheckRenew(l, time.Second),
			"holder: CheckAcquire": lease.CheckAcquire("k", tt.name, time.Second),
			"holder: CheckLease":   lease.CheckLease(m),
			"holder: CheckRenew":   lease.CheckRenew(m, time.Second),
		}
		for what, err := range checks {
			arg, _, _ := strings.Cut(what, ":")
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%s of %.20q: got %v, want no error", what, tt.name, err)
			case tt.want != "" && !errors.Is(err, lease.ErrInvalid):
				t.Errorf("%s of %.20q: got %v, want ErrInvalid", what, tt.name, err)
			case tt.want != "" && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "the "+arg)):
				t.Errorf("%s of %.20q: error %q names neither the %s nor the rule %q", what, tt.name, err, arg, tt.want)
			}
		}
	}
}

func TestCheckTTL(t *testing.T) {
	for ttl, ok := range map[time.Duration]bool{
		1: true, time.Second: true, math.MaxInt64: true,
		0: false, -1: false, math.MinInt64: false,
	} {
		for what, err := range map[string]error{
			"CheckAcquire": lease.CheckAcquire("k", "h", ttl),
			"CheckRenew":   lease.CheckRenew(lease.Lease{Key: "k", Holder: "h", Token: 1}, ttl),
		} {
			if ok != (err == nil) || !ok && !errors.Is(err, lease.ErrInvalid) {
				t.Errorf("%s with ttl %d: got %v, want ok=%v", what, ttl, err, ok)
			}
		}
	}
}

func TestCheckToken(t *testing.T) {
	for token, ok := range map[int64]bool{1: true, math.MaxInt64: true, 0: false, -1: false, math.MinInt64: false} {
		err := lease.CheckLease(lease.Lease{Key: "k", Holder: "h", Token: token})
		if ok != (err == nil) || !ok && !errors.Is(err, lease.ErrInvalid) {
			t.Errorf("CheckLease with token %d: got %v, want ok=%v", token, err, ok)
		}
	}
}
