package sqllease

import (
	"fmt"
	"time"

	"github.com/leasekit/lease"
)

// record is a row of the table, and the server clock at which it was judged.
type record struct {
	holder []byte
	token  int64
	// expires is when the grant is over, in µs since 1970 on the server clock;
	// 0 when it was released.
	expires int64
	now     int64 // µs since 1970
}

// An expiry outside of these was not written by this package: it is in another
// unit, or damaged. The contract's server clock runs from 1971 to 2200, and the
// longest ttl is 292 years. The statements have the same bounds.
const (
	firstExpiry = 31_536_000_000_000     // 1971
	lastExpiry  = 20_000_000_000_000_000 // 2603
)

func (r record) live() bool { return r.expires > r.now }

// stale tells whether a first grant was given its expiry, for a ttl in µs, longer
// ago than slack, in µs too. It happens when the statement waits for another
// session's INSERT that is then rolled back: the values of an INSERT are computed
// before it waits. The row exists then, so that a renewal computes them afresh. Nobody
// can tell such a grant from one that its holder acquires again, under the same token,
// while the clock steps; to date that afresh as well does no harm.
func (r record) stale(ttl, slack int64) bool {
	late := r.now + ttl - r.expires
	return r.token == 1 && (late > slack || late < -slack)
}

// lease makes a lease of a record, and makes sure that it is one.
func (r record) lease(key string) (lease.Lease, error) {
	l := lease.Lease{Key: key, Holder: string(r.holder), Token: r.token, ExpiresAt: time.UnixMicro(r.expires).UTC()}
	if err := lease.CheckLease(l); err != nil {
		// Not wrapped: the arguments of the call were valid.
		return lease.Lease{}, fmt.Errorf("unreadable record: %v", err)
	}
	if r.expires != 0 && (r.expires < firstExpiry || r.expires > lastExpiry) {
		return lease.Lease{}, fmt.Errorf("unreadable record: its expiry is %d, want µs since 1970 on a clock between 1971 and 2200", r.expires)
	}
	return l, nil
}
