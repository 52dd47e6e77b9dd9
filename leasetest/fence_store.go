package leasetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
)

// fenceStore is one opened resource with the clients connected to it.
type fenceStore struct {
	guard *guard
	tb    *caseTB
	h     *FenceHarness
	ctx   context.Context

	mu      sync.Mutex
	clients map[int]fence.Resource
	fresh   atomic.Int64 // number of fresh key names handed out
}

// openFence opens a fresh resource. The error is the harness's fault.
func (s *fenceSuite) openFence(what string) (*fenceStore, error) {
	tb := newCaseTB(s.parent, s.name+"/"+what)
	st := &fenceStore{guard: s.guard, tb: tb, ctx: tb.ctx, clients: map[int]fence.Resource{}}
	err := tb.setUp(s.guard, func() { st.h = s.open(tb) })
	if err != nil {
		err = fmt.Errorf("open the resource: %w", err)
	} else {
		err = st.h.check()
	}
	if err != nil {
		tb.finish(s.guard)
		return nil, err
	}
	return st, nil
}

// closeFence ends a resource; what goes wrong there is the harness's fault.
func (s *fenceSuite) closeFence(st *fenceStore) {
	if err := st.tb.finish(s.guard); err != nil {
		for _, c := range s.clauses {
			s.broken(c.ID, err)
		}
	}
}

// withFence runs a check on a resource of its own. Whatever keeps it from that is
// the harness's fault.
func (s *fenceSuite) withFence(what string, check func(st *fenceStore) error) {
	st, err := s.openFence(what)
	if err == nil {
		defer s.closeFence(st)
		err = check(st)
	}
	if err != nil {
		for _, c := range s.clauses {
			s.broken(c.ID, err)
		}
	}
}

// client returns client n, connected when it is first used.
func (st *fenceStore) client(n int) (fence.Resource, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if c, ok := st.clients[n]; ok {
		return c, nil
	}
	var c fence.Resource
	if err := st.tb.setUp(st.guard, func() { c = st.h.Connect(st.tb) }); err != nil {
		return nil, fmt.Errorf("connect a client: %w", err)
	}
	if c == nil {
		return nil, errors.New("connect a client: Harness.Connect returned a nil fence.Resource: return the client, or call t.Fatal with what went wrong")
	}
	st.clients[n] = c
	return c, nil
}

// restart ends the resource and brings it back.
func (st *fenceStore) restart() error {
	if err := st.tb.setUp(st.guard, func() { st.h.Restart(st.tb) }); err != nil {
		return fmt.Errorf("restart the resource: %w", err)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	clear(st.clients)
	return nil
}

// call makes a call with the guard.
func (st *fenceStore) call(r fence.Resource, c fenceCall) fenceAnswer {
	result := make(chan fenceAnswer, 1) // so that a call that comes back late writes into nobody's answer
	if end := st.guard.run(func() { result <- c.on(st.ctx, r) }); !end.ok() {
		return fenceAnswer{problem: end.text}
	}
	return <-result
}

// freshName returns a key name that was not used on this resource before.
func (st *fenceStore) freshName() string { return fmt.Sprintf("k%d", st.fresh.Add(1)) }

// fenceCall is a call of a resource: a Read, or a Write.
type fenceCall struct {
	write bool
	key   string
	token int64
	value string
}

func (c fenceCall) on(ctx context.Context, r fence.Resource) (a fenceAnswer) {
	if c.write {
		a.err = r.Write(ctx, c.key, c.token, c.value)
		return a
	}
	a.read = true
	a.value, a.token, a.err = r.Read(ctx, c.key)
	return a
}

// String shows the call as Go code would have it, without the context.
func (c fenceCall) String() string {
	if c.write {
		return fmt.Sprintf("Write(%s, %d, %q)", shown(c.key), c.token, c.value)
	}
	return fmt.Sprintf("Read(%s)", shown(c.key))
}

// fenceAnswer is everything that came back from a call.
type fenceAnswer struct {
	read    bool
	value   string
	token   int64
	err     error
	problem string // the call panicked or did not return in time: what happened
}

// outcome is what an answer to a Write, or the error of a Read, amounts to.
type outcome int

const (
	unclear outcome = iota // none of the others
	accepted
	stale
	invalid
)

func (a fenceAnswer) outcome() outcome {
	isStale, isInvalid := errors.Is(a.err, fence.ErrStale), errors.Is(a.err, lease.ErrInvalid)
	switch {
	case a.problem != "" || isStale && isInvalid:
		return unclear
	case a.err == nil:
		return accepted
	case isStale:
		return stale
	case isInvalid:
		return invalid
	}
	return unclear
}

// String shows the answer in a history.
func (a fenceAnswer) String() string {
	switch {
	case a.problem != "":
		return a.problem
	case a.err == nil && a.read:
		return fmt.Sprintf("%q, token %d", a.value, a.token)
	case a.err == nil:
		return "nil"
	}
	switch a.outcome() {
	case stale:
		return "ErrStale"
	case invalid:
		return "ErrInvalid"
	}
	return "error: " + a.err.Error()
}
