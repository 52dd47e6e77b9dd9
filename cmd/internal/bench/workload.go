package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
)

// Workload is a kind of call.
type Workload struct {
	Name string

	// About says what one call is, and what its floor is.
	About string

	// floor are the bare round trips that one call can't do without.
	floor []trip

	// minWorkers is the fewest that it makes sense with.
	minWorkers int

	// slow tells that a call waits for the end of a ttl, so that the clock's cost
	// and a rate play no part.
	slow bool

	// with makes the calls of a lock. It is nil where only a lease can do it.
	with func(e *env) (call, error)

	// lease makes the calls of a lease, in place of with.
	lease func(e *env, s lease.Service, f fence.Resource) (call, error)

	// bare makes the calls of the floor. It is nil where they are floor, in turn.
	bare func(e *env, f floor) call
}

// call is one call of a workload. It returns how long it took if that is not the
// time that the function takes, else 0.
type call func(ctx context.Context) (time.Duration, error)

// env is where one worker makes its calls.
type env struct {
	ctx             context.Context // for what is done once, before the first call
	c               *Config
	worker, workers int
	locks           locker // nil for the floor
	shared          *shared
}

// shared is what the workers of one row have in common.
type shared struct {
	keys []string
	won  chan struct{} // of the floor of hot-key: a key in this process
}

func newShared(c *Config, w *Workload) *shared {
	return &shared{keys: keysOf(c, w), won: make(chan struct{}, 1)}
}

// keysOf are the keys that a workload uses: as a rule one for each worker.
func keysOf(c *Config, w *Workload) []string {
	n := workersOf(c, w)
	switch w.Name {
	case manyKeys:
		n = max(c.Keys, n)
	case hotKey:
		n = 1
	}
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s-%d", w.Name, i)
	}
	return keys
}

// key is the key that this worker uses.
func (e *env) key() string { return e.shared.keys[e.worker%len(e.shared.keys)] }

func (e *env) lock(role string) lock { return e.locks(fmt.Sprintf("worker-%d%s", e.worker, role)) }

const (
	manyKeys = "many-keys"
	hotKey   = "hot-key"
)

// Workloads are all workloads, in the order in which they are measured.
var Workloads = []*Workload{
	{
		Name: "acquire-release", floor: []trip{write, write}, with: acquireRelease,
		About: "Take a free key and give it back; each worker has a key of its own. Floor: two writes.",
	},
	{
		Name: "renew", floor: []trip{write}, with: renew,
		About: "Renew a lease that is held. Floor: one write.",
	},
	{
		Name: "get", floor: []trip{read}, with: get,
		About: "Ask who holds a key that is held. Floor: one read. redislock: ask how long the lock in hand is still held.",
	},
	{
		Name: "refused", floor: []trip{read}, with: refused,
		About: "Ask for a key that another holds, and be refused. Floor: one read.",
	},
	{
		Name: manyKeys, floor: []trip{write, write}, with: manyKeysCall, bare: manyKeysBare,
		About: "Acquire and release, going round -keys keys, so that the store has that many records. Floor: two writes of as many keys.",
	},
	{
		Name: hotKey, floor: []trip{write, write}, minWorkers: 4, with: acquireRelease, bare: hotKeyBare,
		About: "All workers, at least 4, want the same key: acquire, and release at once if granted. A refusal is a call too. Floor: two writes for the worker that has won a key in this process meanwhile, one for the others.",
	},
	{
		Name: "hand-over", floor: []trip{write, write}, with: handOver,
		About: "From the start of a release to the next grant, by one that asks again and again (-poll). Floor: two writes.",
	},
	{
		Name: "takeover", floor: []trip{write}, slow: true, with: takeover,
		About: "From the first moment at which an abandoned lease (-takeover-ttl) may be over to the next grant, by one that asks again and again (-poll). Floor: one write.",
	},
	{
		Name: "hold", floor: []trip{write, write, write}, lease: hold,
		About: "lease.Hold with a body that does nothing: acquire, confirm, release. Floor: three writes.",
	},
	{
		Name: "fenced-write", floor: []trip{write}, lease: fencedWrite,
		About: "Write 16 bytes to a fenced resource in the same store, under a token. Floor: one write.",
	},
}

// workersOf is how many workers make the calls of w.
func workersOf(c *Config, w *Workload) int { return max(c.Workers, w.minWorkers) }

// Find returns the workload of that name, or nil.
func Find(name string) *Workload {
	for _, w := range Workloads {
		if w.Name == name {
			return w
		}
	}
	return nil
}
