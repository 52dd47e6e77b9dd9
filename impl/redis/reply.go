package redislease

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/leasekit/lease"
)

// reply is what a script returned: a word, and what goes with it. Each script
// begins with a list of its replies.
type reply []string

// is tells whether the reply is word with n values.
func (r reply) is(word string, n int) bool { return len(r) == 1+n && r[0] == word }

// fault is the error for a reply that does not answer the question.
func (r reply) fault() error {
	if r.is("unreadable", 2) {
		return fmt.Errorf("unreadable record: %s: %.80q", r[1], r[2])
	}
	return fmt.Errorf("unexpected reply from Redis: %.80q", []string(r))
}

// lease makes a lease of a reply's values, and makes sure that it is one.
func (r reply) lease(key, holder, token, expires string) (lease.Lease, error) {
	n, tokenErr := strconv.ParseInt(token, 10, 64)
	ms, expiresErr := strconv.ParseInt(expires, 10, 64)
	if err := errors.Join(tokenErr, expiresErr); err != nil {
		return lease.Lease{}, fmt.Errorf("unexpected reply from Redis: %.80q: %w", []string(r), err)
	}
	l := lease.Lease{Key: key, Holder: holder, Token: n, ExpiresAt: time.UnixMilli(ms).UTC()}
	if err := lease.CheckLease(l); err != nil {
		// Not wrapped: the arguments of the call were valid.
		return lease.Lease{}, fmt.Errorf("unreadable record: %v", err)
	}
	return l, nil
}
