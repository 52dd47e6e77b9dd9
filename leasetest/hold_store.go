package leasetest

import (
	"context"
	"time"

	"github.com/leasekit/lease"
)

// script is the store of a story: a lease.Service that keeps the contract, except
// for what the turns do to it.
type script struct {
	p    schedule
	rec  *record
	quit chan struct{} // closed when the story is over: what hangs ends
}

func (s *script) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	return s.call(ctx, onAcquire, lease.Lease{Key: key, Holder: holder}, ttl, lease.CheckAcquire(key, holder, ttl))
}

func (s *script) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	return s.call(ctx, onRenew, l, ttl, lease.CheckRenew(l, ttl))
}

func (s *script) Release(ctx context.Context, l lease.Lease) error {
	_, err := s.call(ctx, onRelease, l, 0, lease.CheckLease(l))
	return err
}

func (s *script) Get(ctx context.Context, key string) (lease.Lease, error) {
	return s.call(ctx, onGet, lease.Lease{Key: key}, 0, lease.CheckKey(key))
}

// call is one call, from its beginning to its end.
func (s *script) call(ctx context.Context, op opSet, l lease.Lease, ttl time.Duration, invalid error) (lease.Lease, error) {
	c := s.begin(ctx, op, l, ttl)
	var reply lease.Lease
	err := invalid
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		reply, err = s.answer(ctx, c)
	}
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	c.reply, c.err, c.ended = reply, err, s.rec.now()
	return reply, err
}

func (s *script) begin(ctx context.Context, op opSet, l lease.Lease, ttl time.Duration) *storeCall {
	s.rec.mu.Lock()
	c := &storeCall{op: op, key: -1, lease: l, ttl: ttl, began: s.rec.now(), ended: notYet, done: ctx.Err() != nil, owner: -1}
	if i, ok := ctx.Value(holdNumber{}).(int); ok {
		c.owner = i
	}
	for k := range 2 {
		if l.Key == holdKey(k) {
			c.key = k
		}
	}
	s.rec.calls = append(s.rec.calls, c)
	n := len(s.rec.calls)
	s.rec.spun = s.rec.spun || n > tooManyCalls
	s.rec.mu.Unlock()
	if n > tooManyCalls {
		<-s.quit // so that time passes
	}
	if n > 2*tooManyCalls {
		select {} // it spins on when the story is over, and would fill the memory
	}
	return c
}

// answer lets the turns have their way with a call.
func (s *script) answer(ctx context.Context, c *storeCall) (lease.Lease, error) {
	var by turn
	found := false
	for _, t := range s.p.turns {
		if t.about(c.op, c.key, c.began.at) {
			by, found = t, true
			break
		}
	}
	if !found {
		return s.effect(c)
	}
	switch by.do {
	case refused:
		return lease.Lease{}, errStore
	case unheard:
		s.effect(c)
		return lease.Lease{}, errStore
	case slow:
		if err := s.wait(ctx, by.by, 0); err != nil {
			return lease.Lease{}, err
		}
		return s.effect(c)
	case slowBack:
		reply, err := s.effect(c)
		if err := s.wait(ctx, by.by, 0); err != nil {
			return lease.Lease{}, err
		}
		return reply, err
	default:
		span := never
		if by.until > 0 {
			span = by.until - c.began.at
		}
		if err := s.wait(ctx, span, by.by); err != nil {
			return lease.Lease{}, err
		}
		return lease.Lease{}, errStore
	}
}

// wait waits for d, or until ctx ends and for so much longer as the client takes
// to notice it.
func (s *script) wait(ctx context.Context, d, notice time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.quit:
		return errStore
	case <-ctx.Done():
	}
	timer.Reset(notice)
	select {
	case <-timer.C:
	case <-s.quit:
	}
	return ctx.Err()
}

// effect is what the store does.
func (s *script) effect(c *storeCall) (lease.Lease, error) {
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	if c.key < 0 {
		// A key that nobody asked for: it is always free, and can't be had.
		if c.op == onAcquire {
			return lease.Lease{}, lease.ErrHeld
		}
		return lease.Lease{}, lease.ErrNotHeld
	}
	at := time.Since(s.rec.began)
	g := s.present(c.key, at)
	mine := g != nil && g.holder == c.lease.Holder && g.token == c.lease.Token
	switch c.op {
	case onAcquire:
		switch {
		case g == nil:
			return s.shown(s.grant(c.key, c.lease.Holder, at, s.lasts(c.ttl)), at, c.ttl), nil
		case g.holder != c.lease.Holder:
			return lease.Lease{}, lease.ErrHeld
		}
		g.over = at + s.lasts(c.ttl)
		return s.shown(g, at, c.ttl), nil
	case onRenew:
		if !mine {
			return lease.Lease{}, lease.ErrLost
		}
		g.over = at + s.lasts(c.ttl)
		return s.shown(g, at, c.ttl), nil
	case onRelease:
		if mine {
			g.over, g.freed = at, true
		} else if s.p.strict {
			return lease.Lease{}, lease.ErrLost
		}
		return lease.Lease{}, nil
	default:
		if g == nil {
			return lease.Lease{}, lease.ErrNotHeld
		}
		return s.shown(g, at, g.over-at), nil
	}
}

// lasts is how long a ttl lasts on the worker's clock: the server's is faster by
// as much as the helper was told to reckon with.
func (s *script) lasts(ttl time.Duration) time.Duration {
	return max(ttl-s.p.options.margin, 1)
}

// present is the grant of a key that is live at an instant, or nil.
func (s *script) present(key int, at time.Duration) *scriptGrant {
	for _, t := range s.p.turns {
		if t.do != taken || t.key != key || t.at > at {
			continue
		}
		// A rival of this turn has the key from t.at on.
		if s.known(t) {
			continue
		}
		if g := s.last(key); g != nil {
			g.over = min(g.over, t.at)
		}
		until := t.until
		if until == 0 {
			until = never
		}
		s.grant(key, rival(t), t.at, until-t.at)
	}
	if g := s.last(key); g != nil && at < g.over {
		return g
	}
	return nil
}

// rival is the name of the holder that a turn gives the key to.
func rival(t turn) string { return "rival from +" + t.at.String() }

func (s *script) known(t turn) bool {
	for _, g := range s.rec.grants {
		if g.key == t.key && g.holder == rival(t) {
			return true
		}
	}
	return false
}

func (s *script) last(key int) *scriptGrant {
	for i := len(s.rec.grants) - 1; i >= 0; i-- {
		if s.rec.grants[i].key == key {
			return s.rec.grants[i]
		}
	}
	return nil
}

func (s *script) grant(key int, holder string, at, lasts time.Duration) *scriptGrant {
	token := int64(7)
	if g := s.last(key); g != nil {
		token = g.token + 1
	}
	over := at + lasts
	if over < at {
		over = never
	}
	g := &scriptGrant{key: key, holder: holder, token: token, over: over}
	s.rec.grants = append(s.rec.grants, g)
	return g
}

// shown is a grant as the store reports it, on the server clock.
func (s *script) shown(g *scriptGrant, at, ttl time.Duration) lease.Lease {
	server := s.rec.began.Add(at + s.p.ahead)
	for _, t := range s.p.turns {
		if t.do == clockSet && t.at <= at {
			server = server.Add(t.by)
		}
	}
	return lease.Lease{Key: holdKey(g.key), Holder: g.holder, Token: g.token, ExpiresAt: server.Add(ttl).Round(0)}
}

// scriptGrant is what the store knows of one grant.
type scriptGrant struct {
	key    int
	holder string
	token  int64
	over   time.Duration // when it ends, or ended
	freed  bool          // by its own holder
}

// tooManyCalls is how many calls of the store a helper may make in one story. One
// that renews and polls as it should makes some hundred at most.
const tooManyCalls = 3000

// holdNumber is under what the caller's context knows which call of the helper it
// is for. What the helper makes of that context knows it too.
type holdNumber struct{}
