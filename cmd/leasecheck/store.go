package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/cmd/internal/target"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/leasetest"
)

// targetForms is a line for each form of a target that is a store.
func targetForms() string {
	var b strings.Builder
	for line := range strings.Lines(target.Forms) {
		b.WriteString("    " + line)
	}
	return strings.TrimRight(b.String(), "\n")
}

// storeWait bounds what is asked of a store besides the calls of the suite.
const storeWait = 10 * time.Second

// judgeStore runs the suite on a store, in this process.
func (s *settings) judgeStore(ctx context.Context) (*leasetest.Report, error) {
	o := s.options(s.named(s.shown))
	o.Progress = tellParent()
	if s.target == "memory:" {
		return leasetest.Check(ctx, s.declaring(openMemory), o)
	}
	st, err := openStore(ctx, s.target)
	if err != nil {
		return s.unable(o.Name, err)
	}
	r, err := leasetest.Check(ctx, s.declaring(st.open), o)
	return r, errors.Join(err, st.close())
}

// openMemory is a store in memory with a clock that the suite moves.
func openMemory(testing.TB) *leasetest.Harness {
	now := time.Date(2031, 5, 6, 7, 8, 9, 123456, time.UTC)
	clock := func() time.Time { return now }
	store := memlease.New(&memlease.Options{Now: clock})
	h := &leasetest.Harness{
		Connect: func(_ testing.TB, w leasetest.Worker) lease.Service { return store.Service(w.Namespace) },
		Clock:   &leasetest.Clock{Now: clock, Move: func(d time.Duration) { now = now.Add(d) }, Freeze: func(bool) {}},
	}
	cantCheck(h, "nothing but grants raises its counters", "TOKEN-8", "TOKEN-9")
	cantCheck(h, "nobody else can write the records", "ERR-9")
	cantCheck(h, "what is in memory ends with its process, and nothing in it can hang", "TOKEN-10", "EXPIRY-8", "EXPIRY-9", "ERR-1", "ERR-4", "ERR-5")
	return h
}

// cantCheck says of clauses that a harness can't have them checked, and why.
func cantCheck(h *leasetest.Harness, why string, ids ...string) {
	if h.Unchecked == nil {
		h.Unchecked = map[string]string{}
	}
	for _, id := range ids {
		h.Unchecked[id] = why
	}
}

// store is a server that somebody runs for other things too: what the suite stores has
// names that nobody else uses, and is removed at the end.
type store struct {
	target *target.Target
	admin  *target.Client // reads the clock, seeds counters, tidies up
	own    string         // what the names begin with
	began  time.Time
	opened atomic.Int64

	mu   sync.Mutex
	free []*target.Client
}

func openStore(ctx context.Context, dsn string) (*store, error) {
	t, err := target.Open(dsn)
	if err != nil {
		return nil, err
	}
	s := &store{target: t, own: "leasecheck_" + strings.ToLower(rand.Text()), began: time.Now().Round(0)}
	if s.admin, err = t.Connect(ctx, &target.Options{Table: s.own}); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return s, nil
}

// open is one empty store: a namespace that nothing has used.
func (s *store) open(t testing.TB) *leasetest.Harness {
	namespace := fmt.Sprintf("%s-%d:", s.own, s.opened.Add(1))
	h := &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			return s.connect(t, namespace+w.Namespace, w)
		},
		Clock: &leasetest.Clock{Now: func() time.Time {
			ctx, cancel := context.WithTimeout(context.Background(), storeWait)
			defer cancel()
			now, err := s.now(ctx)
			if err != nil {
				t.Errorf("read the server clock: %v", err)
			}
			return now
		}},
		SeedToken: func(t testing.TB, key string, token int64) {
			ctx, cancel := context.WithTimeout(context.Background(), storeWait)
			defer cancel()
			if err := s.seed(ctx, namespace, key, token); err != nil {
				t.Fatalf("raise the counter: %v", err)
			}
		},
	}
	if s.target.Kind == target.SQLite {
		h.Resolution = 2 * time.Millisecond // it adds one to a clock of whole ms
		cantCheck(h, "there is no network between a service and its store", "ERR-1", "ERR-4")
	}
	cantCheck(h, "leasecheck leaves the clock of your server alone", "TOKEN-5", "EXPIRY-2", "EXPIRY-6", "EXPIRY-7")
	cantCheck(h, "leasecheck does not crash your server", "TOKEN-10", "EXPIRY-9", "ERR-5")
	cantCheck(h, "leasecheck does not block or damage what your server keeps", "EXPIRY-8", "ERR-9")
	return h
}

// connect gives a worker a client of its own. Those that others are done with serve
// again, since some servers take long to make a connection; where the clock is wrong,
// which is in a bubble of the suite, and where connections are dialled in a way of
// their own, one is made.
func (s *store) connect(t testing.TB, namespace string, w leasetest.Worker) lease.Service {
	var c *target.Client
	late := &lateDial{then: w.Dial}
	o := &target.Options{Table: s.own}
	plain := w.Dial == nil && time.Now().Round(0).Sub(s.began).Abs() < 24*time.Hour
	if plain {
		c = s.spare()
	}
	if w.Dial != nil {
		o.Dial = late.dial
	}
	if c == nil {
		var err error
		if c, err = s.target.Connect(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if plain {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.free = append(s.free, c)
		} else if err := c.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
	})
	svc, err := c.Service(t.Context(), namespace)
	if err == nil {
		err = late.ready()
	}
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

// spare returns a client that nobody uses, or nil.
func (s *store) spare() *target.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return nil
	}
	c := s.free[n-1]
	s.free = s.free[:n-1]
	return c
}

// close removes what the suite has stored.
func (s *store) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), storeWait)
	defer cancel()
	failed := s.tidy(ctx)
	for _, c := range append(s.free, s.admin) {
		failed = errors.Join(failed, c.Close())
	}
	return errors.Join(failed, s.target.Close())
}
