package fencezoo

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/leasetest"
)

// store keeps the rows of a resource, in one process.
type store struct {
	rules *rules

	// mu is held while a decision is made.
	mu      sync.Mutex
	rows    map[string]row // what a restart leaves
	clients int
}

// row is a key: its value, and the highest token seen.
type row struct {
	value string
	token int64
}

// rules are the decisions of a resource. baseRules makes them as the contract
// wants them; each animal has its own for one of them.
type rules struct {
	// check runs before the store is touched, without its mutex.
	check func(c *call) error

	// lock takes the store's mutex, unless it returns an error.
	lock func(s *store) error

	// rowOf names the row of a key.
	rowOf func(key string) string

	// mark is the token that the write is compared with.
	mark func(c *call) int64

	// stale reports whether a token is too low.
	stale func(token, mark int64) bool

	// refuse answers a write that is too late.
	refuse func(c *call) error

	// accept sets the row of a write that is in time.
	accept func(c *call) error

	// show is what a Read gets to see.
	show func(c *call) row

	// restart ends the store and brings it back.
	restart func(s *store)
}

func baseRules() *rules {
	return &rules{
		check:  func(c *call) error { return fence.CheckWrite(c.key, c.token) },
		lock:   func(s *store) error { s.mu.Lock(); return nil },
		rowOf:  func(key string) string { return key },
		mark:   func(c *call) int64 { return c.row().token },
		stale:  func(token, mark int64) bool { return token < mark },
		refuse: refuse,
		accept: accept,
		show:   func(c *call) row { return c.row() },

		restart: func(*store) {},
	}
}

func refuse(c *call) error {
	return &fence.StaleError{Key: c.key, Token: c.token, Highest: c.s.rules.mark(c)}
}

func accept(c *call) error {
	c.set(row{c.value, c.token})
	return nil
}

func newStore(r *rules) *store { return &store{rules: r, rows: map[string]row{}} }

func (s *store) harness() *leasetest.FenceHarness {
	return &leasetest.FenceHarness{
		Connect: func(testing.TB) fence.Resource {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.clients++
			return &client{s, s.clients}
		},
		Restart: func(testing.TB) { s.rules.restart(s) },
	}
}

// client is one connection to the store.
type client struct {
	s *store
	n int
}

// call is one Write or Read of a client.
type call struct {
	s      *store
	client int
	key    string
	id     string // of the row
	token  int64
	value  string
}

func (c *call) row() row  { return c.s.rows[c.id] }
func (c *call) set(r row) { c.s.rows[c.id] = r }

// pause lets other calls in.
func (c *call) pause() {
	c.s.mu.Unlock()
	yield()
	c.s.mu.Lock()
}

// yield gives other goroutines a chance to run, a varying number of times.
func yield() {
	for range 1 + rand.IntN(4) {
		runtime.Gosched()
	}
}

func (cl *client) Write(_ context.Context, key string, token int64, value string) error {
	r := cl.s.rules
	c := &call{s: cl.s, client: cl.n, key: key, id: r.rowOf(key), token: token, value: value}
	if err := r.check(c); err != nil {
		return err
	}
	if err := r.lock(cl.s); err != nil {
		return err
	}
	defer cl.s.mu.Unlock()
	if r.stale(token, r.mark(c)) {
		return r.refuse(c)
	}
	return r.accept(c)
}

func (cl *client) Read(_ context.Context, key string) (string, int64, error) {
	if err := lease.CheckKey(key); err != nil {
		return "", 0, err
	}
	cl.s.mu.Lock()
	defer cl.s.mu.Unlock()
	r := cl.s.rules.show(&call{s: cl.s, client: cl.n, key: key, id: cl.s.rules.rowOf(key)})
	return r.value, r.token, nil
}
