package lease

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxName is the greatest length of a key or a holder, in bytes.
const MaxName = 512

// CheckKey reports whether key may name a lease: UTF-8, 1 to [MaxName] bytes,
// without NUL. The error satisfies errors.Is for ErrInvalid and says which rule
// is broken.
//
// The Check functions are the one place that knows the limits of the contract
// (ARG-1 to ARG-3). A backend calls them before it touches its store.
func CheckKey(key string) error { return checkName("key", key) }

// CheckAcquire reports whether the arguments of Acquire are within the contract.
// A ttl is greater than 0; every time.Duration above that is allowed.
func CheckAcquire(key, holder string, ttl time.Duration) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := checkName("holder", holder); err != nil {
		return err
	}
	return checkTTL(ttl)
}

// CheckLease reports whether l may be a lease: a valid key, a valid holder and
// a token greater than 0. It is the check of Release.
func CheckLease(l Lease) error {
	if err := CheckKey(l.Key); err != nil {
		return err
	}
	if err := checkName("holder", l.Holder); err != nil {
		return err
	}
	if l.Token <= 0 {
		return fmt.Errorf("%w: the lease's token is %d, want a token that was granted (> 0)", ErrInvalid, l.Token)
	}
	return nil
}

// CheckRenew reports whether the arguments of Renew are within the contract.
func CheckRenew(l Lease, ttl time.Duration) error {
	if err := CheckLease(l); err != nil {
		return err
	}
	return checkTTL(ttl)
}

func checkName(what, name string) error {
	if name != "" && len(name) <= MaxName && plain(name) {
		return nil
	}
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s is empty, want 1 to %d bytes", ErrInvalid, what, MaxName)
	case len(name) > MaxName:
		return fmt.Errorf("%w: the %s has %d bytes, want 1 to %d", ErrInvalid, what, len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: the %s %.40q is not valid UTF-8", ErrInvalid, what, name)
	}
	if i := strings.IndexByte(name, 0); i >= 0 {
		return fmt.Errorf("%w: the %s %.40q has a NUL byte at offset %d", ErrInvalid, what, name, i)
	}
	return nil
}

// plain reports whether name is of ASCII without NUL, as most names are. One look at
// each byte is quicker than two passes, where a call takes less than 100 ns otherwise.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c == 0 || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func checkTTL(ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("%w: the ttl is %v, want more than 0", ErrInvalid, ttl)
	}
	return nil
}
