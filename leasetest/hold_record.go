package leasetest

import (
	"errors"
	"sync"
	"time"

	"github.com/leasekit/lease"
)

// never is later than all that happens in a story.
const never = time.Duration(1<<63 - 1)

// moment is when something happened: the time since the story began, and its
// place among all that happened, which tells apart what happened at one time.
type moment struct {
	at  time.Duration
	seq int
}

var notYet = moment{never, 1<<63 - 1}

func (m moment) before(n moment) bool { return m.seq < n.seq }
func (m moment) happened() bool       { return m != notYet }

// storeCall is one call that the helper made to the store.
type storeCall struct {
	op           opSet
	key          int // -1: one that nobody asked for
	lease        lease.Lease
	ttl          time.Duration
	began, ended moment
	done         bool // its context was done when it began
	reply        lease.Lease
	err          error
	owner        int // the hold that it was made for; -1: not known
}

// bodyRun is one run of a body.
type bodyRun struct {
	lease        lease.Lease
	began, ended moment
	noContext    bool
	failed       bool // it returned an error
	cancelled    moment
	cause        error
}

// holdRun is one call of the helper.
type holdRun struct {
	began, ended moment
	err          error
	panicked     any
	exited       bool // its goroutine ended without a return
	callerEnded  moment
	callerErr    error
	bodies       []*bodyRun
}

// record is all that happened in one story.
type record struct {
	mu    sync.Mutex
	began time.Time
	seq   int

	holds  []*holdRun
	calls  []*storeCall
	grants []*scriptGrant

	final *record // as it stood when the story was broken off

	allReturned bool   // every call of the helper returned
	left        bool   // something was left then
	stuck       string // virtual time did not get to the end of the story
	spun        bool   // more calls were made than any helper needs
}

// now is the present moment. The caller holds the mutex.
func (r *record) now() moment {
	r.seq++
	return moment{time.Since(r.began), r.seq}
}

// mark notes that something happens now.
func (r *record) mark(m *moment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*m = r.now()
}

// The errors of a story.
var (
	errStore = errors.New("the store does not answer (by the suite)")
	errBody  = errors.New("the body's own error (by the suite)")
)

// bodyPanic is what a body panics with.
const bodyPanic = "the body panics (by the suite)"
