package chaos

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// keys are those that the workers call on. Each is short-lived, since each call
// of unknown outcome doubles what the judge has to think of.
type keys struct {
	mu   sync.Mutex
	all  []*key
	open []*key // the present key of each slot
}

// key is one lease and what was done with it.
type key struct {
	name    string
	started int
	unknown int
	calls   []*made
	leases  []lease.Lease // granted or seen so far
}

// callsPerKey is when a key is left for a fresh one.
const callsPerKey = 24

func newKeys(slots int) *keys {
	k := &keys{open: make([]*key, slots)}
	for i := range slots {
		k.replace(i)
	}
	return k
}

func (k *keys) replace(slot int) {
	fresh := &key{name: fmt.Sprintf("key-%d", len(k.all)+1)}
	k.all = append(k.all, fresh)
	k.open[slot] = fresh
}

// pick returns a key for one more call.
func (k *keys) pick(rnd *rand.Rand) *key {
	k.mu.Lock()
	defer k.mu.Unlock()
	slot := rnd.IntN(len(k.open))
	if at := k.open[slot]; at.started >= callsPerKey || at.unknown >= history.MaxUnknown {
		k.replace(slot)
	}
	k.open[slot].started++
	return k.open[slot]
}

// known returns one of the last leases of a key, or the zero lease.
func (k *keys) known(of *key, rnd *rand.Rand) lease.Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(of.leases)
	if n == 0 {
		return lease.Lease{}
	}
	return of.leases[n-1-rnd.IntN(min(n, 3))]
}

// add records a call that has returned.
func (k *keys) add(to *key, c *made) {
	k.mu.Lock()
	defer k.mu.Unlock()
	to.calls = append(to.calls, c)
	switch reply := c.reply(); {
	case reply.Outcome == model.Unknown && c.kind != model.Get:
		to.unknown++
	case reply.Outcome == model.Granted && c.wrong() == "":
		to.leases = append(to.leases, c.got)
	}
}
