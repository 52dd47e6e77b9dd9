package fence

import (
	"errors"
	"fmt"
)

// ErrStale is returned when Write is given a token below the highest one seen
// for the key: the writer's grant has been superseded, and it has to stop. The
// write changed nothing, and will never be accepted. Resources of this project
// return a *StaleError, which satisfies errors.Is for ErrStale.
var ErrStale = errors.New("fence: stale token")

// StaleError says which write was refused and why.
type StaleError struct {
	Key     string
	Token   int64 // the token of the write
	Highest int64 // the highest token seen for Key, greater than Token
}

// Error names both tokens.
func (e *StaleError) Error() string {
	return fmt.Sprintf("fence: stale token: write of %.80q with token %d, where %d was seen", e.Key, e.Token, e.Highest)
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }
