package lease

import (
	"context"
	"time"
)

// Lease is one grant of a key to a holder, as the store reported it.
//
// It is a plain value and portable: whoever has it, on whatever worker, can
// renew or release the grant (RELEASE-4). Key, Holder and Token together
// identify the grant; ExpiresAt is what was true when it was reported and
// plays no part in Renew or Release (RENEW-7).
type Lease struct {
	// Key is the name of the lease: UTF-8, 1 to [MaxName] bytes, without NUL.
	Key string

	// Holder is who holds it, under the same rules as Key.
	Holder string

	// Token is the fencing token of this grant, greater than 0 and than every
	// token ever granted for Key. It stays the same for the whole grant. Send
	// it along with each write to what the lease protects, so that a resource
	// can refuse a writer whose grant has been superseded.
	Token int64

	// ExpiresAt is the instant on the server clock – the clock of the store,
	// not of the worker – at which the grant is over.
	ExpiresAt time.Time
}

// Service is a store that grants leases, seen from one worker.
//
// A Service is safe for concurrent use. Its calls never wait for a lease to
// become free. Each returns either a whole Lease and nil, or the zero Lease
// and an error (ERR-8); the error is one of the sentinels of this package, the
// context's error, or anything else, and then the outcome is unknown.
//
// CONFORMANCE.md states what every call promises, clause by clause; package
// leasetest checks it.
type Service interface {
	// Acquire takes the lease of key for holder until ttl from now on the
	// server clock. If another holder's lease is live it fails with ErrHeld
	// and changes nothing. If holder's own lease is live it returns the same
	// grant, with its token, and sets its expiry to ttl from now.
	Acquire(ctx context.Context, key, holder string, ttl time.Duration) (Lease, error)

	// Renew sets the expiry of the live grant l to ttl from now, earlier or
	// later than before. It fails with ErrLost, and changes nothing, if l is
	// not the live grant of its key.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)

	// Release ends the grant l, at once and for everybody. It is idempotent:
	// a lease that is not the present grant is left alone, with nil or
	// ErrLost.
	Release(ctx context.Context, l Lease) error

	// Get returns the live grant of key, or ErrNotHeld. It changes nothing.
	Get(ctx context.Context, key string) (Lease, error)
}
