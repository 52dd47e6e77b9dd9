package lease

import (
	"testing"
	"time"
)

// SetNow makes Hold tell the time by f until the test ends.
func SetNow(t testing.TB, f func() time.Time) {
	old := now
	now = f
	t.Cleanup(func() { now = old })
}
