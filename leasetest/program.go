package leasetest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// A program is a list of steps that one test case takes on one store. Steps
// name leases and keys by symbols, so that any step may be left out and the
// rest still makes sense: that is what lets a failing program shrink.
type program []step

// action is what a step does.
type action int

const (
	doAcquire action = iota
	doRenew
	doRelease
	doGet
	doMove // move the server clock, or wait until it gets there
	doSeed // raise the key's counter
)

// step is one line of a program.
type step struct {
	do     action
	worker int
	space  string // namespace of the worker
	key    string // pattern of the key, see keyName
	holder string
	ttl    time.Duration
	short  bool  // take the run's short ttl: one that can be waited for where the clock can't be moved
	ref    ref   // the lease given to Renew and Release
	move   move  // of doMove
	token  int64 // of doSeed

	as   string         // name under which the lease of the reply is kept for a ref
	want *model.Outcome // what a hand-written example sees here on a backend that keeps the contract
	lax  bool           // want may also be Lost instead of Done
}

// ref names a lease that an earlier step got.
type ref struct {
	as    string // the step's name; empty: the back-th last lease that was granted for the key
	back  int
	alter alter
}

// alter says how the lease differs from what was granted.
type alter int

const (
	intact alter = iota
	tokenUp
	tokenDown
	tokenZero
	tokenNegative
	otherHolder // a name that looks like the holder's
	otherKey    // the lease of this key, presented for another one
	zeroLease
	badHolder
	expiresZero // ExpiresAt plays no part in what identifies a grant
	expiresFar
)

// move says where the server clock goes.
type move struct {
	by    time.Duration
	toEnd bool // first to the end of the grant of the step's key
	units int  // then this many resolutions further
	early bool // a quarter of the short ttl before it
}

// altered returns l as the step presents it.
func (a alter) altered(l lease.Lease) lease.Lease {
	switch a {
	case tokenUp:
		l.Token++
		if l.Token < 0 { // it is to be made up, not invalid
			l.Token = math.MaxInt64 - 1
		}
	case tokenDown:
		l.Token--
		if l.Token <= 0 {
			l.Token = 1 << 40
		}
	case tokenZero:
		l.Token = 0
	case tokenNegative:
		l.Token = -l.Token
	case otherHolder:
		l.Holder += " "
	case zeroLease:
		l = lease.Lease{}
	case badHolder:
		l.Holder = ""
	case expiresZero:
		l.ExpiresAt = time.Time{}
	case expiresFar:
		l.ExpiresAt = l.ExpiresAt.AddDate(1, 0, 0)
	}
	return l
}

// keyName makes a key from its pattern: % becomes the case's own fresh name,
// and … fills the key up to the longest that is allowed. A pattern without %
// is taken as it is, for keys that are no keys.
func keyName(pattern, fresh string) string {
	name := strings.ReplaceAll(pattern, "%", fresh)
	if head, tail, ok := strings.Cut(name, "…"); ok {
		name = head + strings.Repeat("x", max(0, lease.MaxName-len(head)-len(tail))) + tail
	}
	return name
}

// shown is a name as it stands in a history: quoted, and cut if it is long.
func shown(name string) string {
	if len(name) > 60 {
		return fmt.Sprintf("%q…%q (%d bytes)", name[:24], name[len(name)-8:], len(name))
	}
	return fmt.Sprintf("%q", name)
}

// call is a step made concrete: what is really asked of a service.
type call struct {
	do     action
	key    string
	holder string
	ttl    time.Duration
	lease  lease.Lease
}

// String shows the call as Go code would have it, without the context.
func (c call) String() string {
	switch c.do {
	case doAcquire:
		return fmt.Sprintf("Acquire(%s, %s, %s)", shown(c.key), shown(c.holder), shownTTL(c.ttl))
	case doRenew:
		return fmt.Sprintf("Renew(%s, %s)", shownLease(c.lease), shownTTL(c.ttl))
	case doRelease:
		return fmt.Sprintf("Release(%s)", shownLease(c.lease))
	default:
		return fmt.Sprintf("Get(%s)", shown(c.key))
	}
}

// op is the call as the model sees it.
func (c call) op() model.Op {
	switch c.do {
	case doAcquire:
		return model.Op{Kind: model.Acquire, Holder: c.holder, TTL: c.ttl}
	case doRenew:
		return model.Op{Kind: model.Renew, Holder: c.lease.Holder, Token: c.lease.Token, TTL: c.ttl}
	case doRelease:
		return model.Op{Kind: model.Release, Holder: c.lease.Holder, Token: c.lease.Token}
	default:
		return model.Op{Kind: model.Get}
	}
}

// invalid returns why the contract wants ErrInvalid for the call, or nil, and
// the clause that says so. maxTTL is the longest ttl that the store takes.
func (c call) invalid(maxTTL time.Duration) (clause string, err error) {
	names := "ARG-1"
	switch c.do {
	case doAcquire:
		err = lease.CheckAcquire(c.key, c.holder, c.ttl)
	case doRenew:
		err = lease.CheckRenew(c.lease, c.ttl)
	case doRelease:
		err = lease.CheckLease(c.lease)
	default:
		err = lease.CheckKey(c.key)
	}
	if c.do == doAcquire || c.do == doRenew {
		switch {
		case c.ttl <= 0:
			return "ARG-2", err
		case c.ttl > maxTTL:
			return "ARG-3", fmt.Errorf("the ttl %v is above the store's MaxTTL %v", c.ttl, maxTTL)
		}
	}
	return names, err
}

func shownTTL(d time.Duration) string {
	if d == 1<<63-1 {
		return "the largest ttl"
	}
	return d.String()
}

func shownLease(l lease.Lease) string {
	if l == (lease.Lease{}) {
		return "zero Lease"
	}
	return fmt.Sprintf("{%s %s token %d}", shown(l.Key), shown(l.Holder), l.Token)
}
