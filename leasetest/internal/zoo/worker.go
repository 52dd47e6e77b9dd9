package zoo

import (
	"context"
	"math/rand/v2"
	"net"
	"runtime"
	"time"

	"github.com/leasekit/lease"
)

// worker is one client of a store.
type worker struct {
	id        int
	boots     int // restarts of the store before the worker was connected; for the faults
	namespace string
	dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	store     *store
	rules     *rules
}

var _ lease.Service = (*worker)(nil)

// The calls of a lease.Service, as far as faults tell them apart.
const (
	acquiring = "acquire"
	renewing  = "renew"
	releasing = "release"
	getting   = "get"
)

func (w *worker) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	check := func() error { return w.rules.checkAcquire(key, holder, ttl) }
	return w.do(ctx, acquiring, key, check, func(c *call) (lease.Lease, error) {
		return w.rules.acquire(c, holder, ttl)
	})
}

func (w *worker) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	check := func() error { return w.rules.checkRenew(l, ttl) }
	return w.do(ctx, renewing, l.Key, check, func(c *call) (lease.Lease, error) {
		return w.rules.renew(c, l, ttl)
	})
}

func (w *worker) Release(ctx context.Context, l lease.Lease) error {
	check := func() error { return w.rules.checkRelease(l) }
	_, err := w.do(ctx, releasing, l.Key, check, func(c *call) (lease.Lease, error) {
		return lease.Lease{}, w.rules.release(c, l)
	})
	return err
}

func (w *worker) Get(ctx context.Context, key string) (lease.Lease, error) {
	check := func() error { return w.rules.checkGet(key) }
	return w.do(ctx, getting, key, check, w.rules.get)
}

// do runs one call: the context, the arguments, the way to the store, and then
// op under the store's mutex.
func (w *worker) do(ctx context.Context, name, key string, check func() error, op func(*call) (lease.Lease, error)) (lease.Lease, error) {
	if err := w.rules.begin(ctx, w); err != nil {
		return lease.Lease{}, err
	}
	if err := check(); err != nil {
		return lease.Lease{}, err
	}
	if err := w.rules.reach(ctx, w); err != nil {
		return lease.Lease{}, err
	}
	if err := w.rules.lock(w.store); err != nil {
		return lease.Lease{}, err
	}
	defer w.store.mu.Unlock()
	c := &call{rules: w.rules, w: w, s: w.store, name: name, key: key, id: w.rules.recordOf(w.namespace, key)}
	c.arrived = c.s.clock()
	if name != getting {
		if err := c.await(ctx); err != nil {
			return lease.Lease{}, err
		}
	}
	c.load()
	if c.rec != nil && c.rec.damage != "" {
		if err := w.rules.damaged(c); err != nil {
			return lease.Lease{}, err
		}
	}
	return op(c)
}

// call is one call that has reached the store and holds its mutex.
type call struct {
	rules *rules
	w     *worker
	s     *store
	name  string // which call of the service
	key   string // as the caller gave it
	id    string // of its record
	now   time.Time
	rec   *record // nil if the key was never taken
	fresh bool    // the call makes a new grant
	back  bool    // the clock stepped back since the expiry was last set; for the faults
	seen  int64   // the counter as the call first saw it; for a fault that trusts it

	arrived time.Time // when the call reached the store, before it waited there; for the faults
}

// await waits while the record is blocked.
func (c *call) await(ctx context.Context) error {
	for c.s.blocks[c.id] != nil {
		gate := c.s.blocks[c.id]
		c.s.waiting++
		c.s.mu.Unlock()
		select {
		case <-gate:
		case <-ctx.Done():
		}
		c.s.mu.Lock()
		c.s.waiting--
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// load reads clock and record.
func (c *call) load() {
	c.now = c.rules.clock(c)
	c.rec = c.s.records[c.id]
	c.back = c.rec != nil && c.rec.backs != c.s.backs
}

// counter is the last token given for the key, or 0.
func (c *call) counter() int64 {
	if c.rec == nil {
		return 0
	}
	return c.rec.token
}

// matches reports whether l names the present or the last grant of its key.
func (c *call) matches(l lease.Lease) bool {
	return c.rec != nil && c.rec.holder == l.Holder && c.rec.token == l.Token
}

// lapsed reports whether the key's last grant ended by its expiry.
func lapsed(c *call) bool { return c.rec != nil && !c.rec.released && !live(c) }

// begin writes a new grant.
func (c *call) begin(holder string, token int64, ttl time.Duration) {
	c.fresh = true
	if c.rec == nil {
		c.rec = &record{past: map[int64]string{}}
		c.s.records[c.id] = c.rec
	}
	c.rec.holder, c.rec.token, c.rec.granted = holder, token, c.now
	c.s.grants++
	c.rec.acquired, c.rec.renewed, c.rec.order, c.rec.boots = 1, 0, c.s.grants, c.s.boots
	c.rec.past[token] = holder
	c.extend(ttl)
}

// extend writes a new expiry of the present grant.
func (c *call) extend(ttl time.Duration) {
	c.rec.expires = c.rules.expiry(c, ttl)
	c.rec.released, c.rec.ttl, c.rec.written, c.rec.backs = false, ttl, c.now, c.s.backs
}

// pause lets other calls in, as a backend does that makes two trips where the
// contract asks for one step.
func (c *call) pause() {
	c.s.mu.Unlock()
	yield()
	c.s.mu.Lock()
	c.load()
}

// yield gives other goroutines a chance to run, a varying number of times.
func yield() {
	for range 1 + rand.IntN(4) {
		runtime.Gosched()
	}
}
