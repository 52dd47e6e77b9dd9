package lease

import "errors"

// The four definite refusals. A backend returns one of them, wrapped or not,
// only when the store has answered the question; callers compare with
// errors.Is. Every other error means that the outcome is unknown: the call may
// have taken effect, may still do so, or never will (CONFORMANCE.md, ERR-2).
var (
	// ErrHeld is returned when Acquire finds that the lease of another holder
	// is live.
	ErrHeld = errors.New("lease: held by another holder")

	// ErrLost is returned when the lease given to Renew is not, or no longer,
	// the live grant of its holder: it expired, was released, was superseded
	// by a newer grant, or never existed. Release may return it too, for a
	// lease that is not the present grant.
	ErrLost = errors.New("lease: lost")

	// ErrNotHeld is returned when Get finds that nobody holds the key.
	ErrNotHeld = errors.New("lease: not held")

	// ErrInvalid is returned when an argument is outside of the contract; the
	// error's text names the argument and the rule. The store was not touched.
	ErrInvalid = errors.New("lease: invalid argument")
)
