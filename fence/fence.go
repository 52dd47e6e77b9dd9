package fence

import (
	"context"
	"fmt"

	"github.com/leasekit/lease"
)

// Resource keeps a value for each key, and takes a write only under a fencing
// token that is not below the highest one it has seen for that key.
//
// Keys are those of leases: UTF-8, 1 to lease.MaxName bytes, without NUL, compared
// byte for byte. A value is any text of any bytes, as long as the store can take.
// A Resource is safe for concurrent use.
type Resource interface {
	// Write sets the value of key under token, the token of the lease that
	// protects key. In one step it compares token with the highest one seen for
	// key, and either sets both the value and the highest token, or changes
	// nothing and fails with ErrStale, because token is the lower one. An equal
	// token is accepted.
	//
	// A bad key and a token of 0 or less are lease.ErrInvalid; nothing was
	// touched. Any other error leaves the outcome unknown. Then the same
	// Write may be repeated, unless its own writer has written something else
	// since.
	Write(ctx context.Context, key string, token int64, value string) error

	// Read returns the value of key and the highest token seen for it, both of
	// one and the same moment. A key that was never written has the token 0, the
	// value "" and no error. Read changes nothing.
	Read(ctx context.Context, key string) (value string, token int64, err error)
}

// CheckWrite reports whether key and token may be given to Write: a key that
// lease.CheckKey accepts, and a token greater than 0. The error satisfies
// errors.Is for lease.ErrInvalid and says which rule is broken. A resource calls
// it before it touches its store.
func CheckWrite(key string, token int64) error {
	if err := lease.CheckKey(key); err != nil {
		return err
	}
	if token <= 0 {
		return fmt.Errorf("%w: the fencing token is %d, want one that was granted (> 0)", lease.ErrInvalid, token)
	}
	return nil
}
