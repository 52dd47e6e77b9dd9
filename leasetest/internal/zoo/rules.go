package zoo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/leasekit/lease"
)

var (
	errDamaged   = errors.New("the record can't be read")
	errExhausted = errors.New("the counter of the key can't rise any more")
)

// rules are the decisions of a backend. baseRules makes them as the contract
// wants them; each animal has its own for one of them.
type rules struct {
	// service is what Connect hands out, for faults outside of the store.
	service func(w *worker) lease.Service

	// begin, the checks and reach run before the store is touched, without
	// its mutex.
	begin        func(ctx context.Context, w *worker) error
	checkAcquire func(key, holder string, ttl time.Duration) error
	checkRenew   func(l lease.Lease, ttl time.Duration) error
	checkRelease func(l lease.Lease) error
	checkGet     func(key string) error
	reach        func(ctx context.Context, w *worker) error

	// lock takes the store's mutex, unless it returns an error.
	lock func(s *store) error

	// clock is the instant by which the store judges a call.
	clock func(c *call) time.Time

	// restart is what becomes of the store in a crash.
	restart func(s *store)

	// recordOf names the record of a key.
	recordOf func(namespace, key string) string

	// damaged judges a call on a record that can't be read. The call goes on
	// if it returns nil.
	damaged func(c *call) error

	// live reports whether the key has a live grant.
	live func(c *call) bool

	// sameHolder compares the holder of the live grant with one who asks.
	sameHolder func(c *call, asks string) bool

	// blocked reports whether an Acquire by another holder is refused.
	blocked func(c *call, holder string, ttl time.Duration) bool

	// token chooses the token of the next grant.
	token func(c *call) (int64, error)

	// seed raises the counter of a record, for the harness.
	seed func(s *store, id string, token int64)

	// expiry is when a grant made or set anew in this call ends.
	expiry func(c *call, ttl time.Duration) int64

	// renewable and releasable report whether Renew and Release of l take
	// effect.
	renewable  func(c *call, l lease.Lease) bool
	releasable func(c *call, l lease.Lease) bool

	// show is the grant of the key as a reply tells it.
	show func(c *call) lease.Lease

	// The calls, and the two ways in which an Acquire can succeed: grant
	// begins a new grant, again finds the holder's own one live.
	acquire func(c *call, holder string, ttl time.Duration) (lease.Lease, error)
	grant   func(c *call, holder string, ttl time.Duration) (lease.Lease, error)
	again   func(c *call, holder string, ttl time.Duration) (lease.Lease, error)
	renew   func(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error)
	release func(c *call, l lease.Lease) error
	get     func(c *call) (lease.Lease, error)
}

func baseRules() *rules {
	return &rules{
		service:      func(w *worker) lease.Service { return w },
		begin:        func(ctx context.Context, _ *worker) error { return ctx.Err() },
		checkAcquire: lease.CheckAcquire,
		checkRenew:   lease.CheckRenew,
		checkRelease: lease.CheckLease,
		checkGet:     lease.CheckKey,
		reach:        reach,
		lock:         lock,
		clock:        func(c *call) time.Time { return c.s.clock() },
		restart:      func(*store) {},
		recordOf:     recordOf,
		damaged: func(c *call) error {
			return fmt.Errorf("read the record of %q: %w (%s)", c.key, errDamaged, c.rec.damage)
		},
		live:       live,
		sameHolder: func(c *call, asks string) bool { return c.rec.holder == asks },
		blocked:    func(c *call, _ string, _ time.Duration) bool { return c.rules.live(c) },
		token:      nextToken,
		seed:       seed,
		expiry:     expiry,
		renewable:  func(c *call, l lease.Lease) bool { return c.matches(l) && c.rules.live(c) },
		// No look at the clock: to release a grant that is over does no harm.
		releasable: (*call).matches,
		show:       show,
		acquire:    acquire,
		grant:      grant,
		again:      again,
		renew:      renew,
		release:    release,
		get:        get,
	}
}

// lock gives way to others first, as a call over a network does: else calls are
// so short that they hardly ever meet, and a race is no race.
func lock(s *store) error {
	yield()
	s.mu.Lock()
	return nil
}

// recordOf keeps namespaces apart by their length, so that no two pairs of
// namespace and key give the same text.
func recordOf(namespace, key string) string {
	return strconv.Itoa(len(namespace)) + ":" + namespace + key
}

func live(c *call) bool {
	return c.rec != nil && !c.rec.released && c.now.UnixMilli() < c.rec.expires
}

func nextToken(c *call) (int64, error) {
	if c.counter() == math.MaxInt64 {
		return 0, errExhausted
	}
	return c.counter() + 1, nil
}

// expiry is the first whole millisecond that is no earlier than ttl from now.
// It adds milliseconds and nanoseconds apart, since the sum of a long ttl and
// now in nanoseconds does not fit.
func expiry(c *call, ttl time.Duration) int64 {
	rest := int64(c.now.Nanosecond())%1e6 + int64(ttl)%1e6
	return c.now.UnixMilli() + ttl.Milliseconds() + (rest+1e6-1)/1e6
}

func show(c *call) lease.Lease {
	return lease.Lease{Key: c.key, Holder: c.rec.holder, Token: c.rec.token, ExpiresAt: time.UnixMilli(c.rec.expires).UTC()}
}

func acquire(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
	switch r := c.rules; {
	case r.live(c) && r.sameHolder(c, holder):
		return r.again(c, holder, ttl)
	case r.blocked(c, holder, ttl):
		return lease.Lease{}, lease.ErrHeld
	default:
		return r.grant(c, holder, ttl)
	}
}

func grant(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
	token, err := c.rules.token(c)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("choose the next token of %q: %w", c.key, err)
	}
	c.begin(holder, token, ttl)
	return c.rules.show(c), nil
}

func again(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
	c.rec.holder = holder
	c.rec.acquired++
	c.extend(ttl)
	return c.rules.show(c), nil
}

func renew(c *call, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if !c.rules.renewable(c, l) {
		return lease.Lease{}, lease.ErrLost
	}
	c.rec.renewed++
	c.extend(ttl)
	return c.rules.show(c), nil
}

func release(c *call, l lease.Lease) error {
	if c.rules.releasable(c, l) {
		c.rec.released = true
	}
	return nil
}

func get(c *call) (lease.Lease, error) {
	if !c.rules.live(c) {
		return lease.Lease{}, lease.ErrNotHeld
	}
	return c.rules.show(c), nil
}
