package redislease

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leasekit/lease"
)

// reply is what a script returned: a word, and what goes with it. Each script
// begins with a list of its replies. It is a text, in which blanks separate them, or a
// list, where one of them may have blanks.
type reply struct {
	words [mostWords]string
	n     int
}

const mostWords = 4

// newReply reads a reply of Redis.
func newReply(from any) (reply, error) {
	var r reply
	switch from := from.(type) {
	case string:
		for rest, more := from, true; more; r.n++ {
			if r.n == mostWords {
				return reply{}, fmt.Errorf("unexpected reply from Redis: %.80q", from)
			}
			r.words[r.n], rest, more = strings.Cut(rest, " ")
		}
		return r, nil
	case []any:
		if len(from) > mostWords {
			break
		}
		for i, word := range from {
			text, ok := word.(string)
			if !ok {
				return reply{}, fmt.Errorf("unexpected reply from Redis: %.80v", from)
			}
			r.words[i] = text
		}
		r.n = len(from)
		return r, nil
	}
	return reply{}, fmt.Errorf("unexpected reply from Redis: %.80v", from)
}

// is tells whether the reply is word with n values.
func (r reply) is(word string, n int) bool { return r.n == 1+n && r.words[0] == word }

// fault is the error for a reply that does not answer the question.
func (r reply) fault() error {
	if r.is("unreadable", 2) {
		return fmt.Errorf("unreadable record: %s: %.80q", r.words[1], r.words[2])
	}
	return fmt.Errorf("unexpected reply from Redis: %.80q", r.words[:r.n])
}

// lease makes a lease of a reply's values, and makes sure that it is one.
func (r reply) lease(key, holder, token, expires string) (lease.Lease, error) {
	n, tokenErr := strconv.ParseInt(token, 10, 64)
	ms, expiresErr := strconv.ParseInt(expires, 10, 64)
	if err := errors.Join(tokenErr, expiresErr); err != nil {
		return lease.Lease{}, fmt.Errorf("unexpected reply from Redis: %.80q: %w", r.words[:r.n], err)
	}
	l := lease.Lease{Key: key, Holder: holder, Token: n, ExpiresAt: time.UnixMilli(ms).UTC()}
	if err := lease.CheckLease(l); err != nil {
		// Not wrapped: the arguments of the call were valid.
		return lease.Lease{}, fmt.Errorf("unreadable record: %v", err)
	}
	return l, nil
}
