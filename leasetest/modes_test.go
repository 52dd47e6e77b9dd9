package leasetest_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
	"github.com/leasekit/lease/leasetest"
)

// shifted is a server clock that runs on, and can be moved.
type shifted struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *shifted) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off).Round(0)
}

func (c *shifted) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

// modes are the ways in which a harness may offer the server clock.
var modes = map[string]func(*memlease.Store, *shifted) *leasetest.Clock{
	"no clock":        func(*memlease.Store, *shifted) *leasetest.Clock { return nil },
	"a clock to read": func(_ *memlease.Store, c *shifted) *leasetest.Clock { return &leasetest.Clock{Now: c.Now} },
	"a clock that runs on": func(_ *memlease.Store, c *shifted) *leasetest.Clock {
		return &leasetest.Clock{Now: c.Now, Move: c.Move}
	},
}

// queue holds back calls that write, as long as it is blocked.
type queue struct {
	mu      sync.Mutex
	gate    chan struct{} // nil while it is open
	waiting int
}

// pass waits until the queue is open.
func (q *queue) pass() {
	q.mu.Lock()
	defer q.mu.Unlock()
	gate := q.gate
	if gate == nil {
		return
	}
	q.waiting++
	q.mu.Unlock()
	<-gate
	q.mu.Lock()
	q.waiting--
}

func (q *queue) block(testing.TB, string) (waiting func() bool, unblock func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gate = make(chan struct{})
	waiting = func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.waiting > 0
	}
	return waiting, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		close(q.gate)
		q.gate = nil
	}
}

// queued is a service whose writes go through a queue.
type queued struct {
	lease.Service
	queue *queue
}

func (s queued) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	s.queue.pass()
	return s.Service.Acquire(ctx, key, holder, ttl)
}

func (s queued) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	s.queue.pass()
	return s.Service.Renew(ctx, l, ttl)
}

// TestClockModes wants no false alarm from a backend that keeps the contract,
// however little of its clock the harness offers, and nothing called passed
// that can't be seen there.
func TestClockModes(t *testing.T) {
	unseen := map[string][]string{
		"no clock":             {"TOKEN-5", "EXPIRY-1", "EXPIRY-2", "EXPIRY-5", "EXPIRY-6", "EXPIRY-7", "TOKEN-8", "TOKEN-9", "ERR-1", "ERR-4", "ERR-9", "EXPIRY-4", "EXPIRY-8"},
		"a clock to read":      {"TOKEN-5", "EXPIRY-2", "EXPIRY-6", "EXPIRY-7", "TOKEN-8", "TOKEN-9", "ERR-1", "ERR-4", "ERR-9", "EXPIRY-4"},
		"a clock that runs on": {"EXPIRY-2", "EXPIRY-7", "TOKEN-8", "TOKEN-9", "ERR-1", "ERR-4", "ERR-9", "EXPIRY-4"},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(testing.TB) *leasetest.Harness {
				c := &shifted{off: 5 * 365 * 24 * time.Hour}
				store, q := memlease.New(&memlease.Options{Now: c.Now}), &queue{}
				return &leasetest.Harness{
					Connect: func(_ testing.TB, w leasetest.Worker) lease.Service {
						return queued{store.Service(w.Namespace), q}
					},
					Clock:   mode(store, c),
					Block:   q.block,
					Restart: func(testing.TB) {}, // one that keeps all
				}
			}
			report, err := leasetest.Check(context.Background(), open, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(report.Summary())
			for _, c := range report.Clauses {
				want := leasetest.Pass
				if leasetest.Later(c.ID) || slices.Contains(unseen[name], c.ID) {
					want = leasetest.NotChecked
				}
				if c.Verdict != want {
					t.Errorf("%s: got %s (%s), want %s", c.ID, c.Verdict, c.Reason, want)
					if c.Failure != nil {
						t.Log(c.Failure.Problem, "\n", leasetest.HistoryText(c.Failure))
					}
				}
			}
		})
	}
}
