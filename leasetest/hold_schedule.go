package leasetest

import (
	"fmt"
	"strings"
	"time"
)

// schedule is a story that a hold helper is put through in virtual time: what it
// is asked for, what its bodies do, and what becomes of the store meanwhile.
// Every instant is counted from the beginning of the story.
type schedule struct {
	options holdOptions
	ahead   time.Duration // of the server clock before the worker's
	holds   []hold
	turns   []turn
	strict  bool // a late Release is ErrLost rather than nil
	after   bool // the store is watched for a while after the helper has returned
}

// holdOptions are those that the helper gets.
type holdOptions struct {
	ttl, every, margin, wait time.Duration
	name                     string
}

// hold is one call of the helper.
type hold struct {
	key      int           // which of the keys
	next     bool          // it begins when the one before has returned
	ends     time.Duration // when the caller's context ends, counted from the call; 0: never
	deadline bool          // by a deadline, rather than cancelled
	body     bodyPlan
}

// bodyPlan is what a body does.
type bodyPlan struct {
	runs  time.Duration // how long it works
	heeds bool          // it stops when its context ends
	as    bodyEnd
}

// bodyEnd is how a body ends.
type bodyEnd int

const (
	succeeds bodyEnd = iota
	fails
	panics
)

func (e bodyEnd) String() string {
	return [...]string{"returns nil", "returns its own error", "panics"}[e]
}

// turn is something that happens to the store, or to the calls that are begun
// within a span of time.
type turn struct {
	do        turnKind
	key       int
	at, until time.Duration // until is beyond the span; 0: for ever
	ops       opSet         // the calls that it is about
	by        time.Duration // how long a slow call takes, a client takes to notice that its context ended, or the clock steps
}

// turnKind is a kind of turn.
type turnKind int

const (
	taken    turnKind = iota // the key is another holder's for the span, whoever had it before
	refused                  // calls fail at once, without effect
	unheard                  // calls take effect, and fail: their replies are lost
	slow                     // requests take long to reach the store
	slowBack                 // replies take long to come back
	hangs                    // calls reach no store, and end with their contexts, or with the span
	clockSet                 // the server clock steps
)

// opSet is a set of operations.
type opSet int

const (
	onAcquire opSet = 1 << iota
	onRenew
	onRelease
	onGet
	onAll = onAcquire | onRenew | onRelease | onGet
)

func (o opSet) String() string {
	var names []string
	for i, name := range []string{"Acquire", "Renew", "Release", "Get"} {
		if o&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// about says whether the turn is about a call.
func (t turn) about(op opSet, key int, at time.Duration) bool {
	return t.do != taken && t.do != clockSet && t.ops&op != 0 && t.key == key && t.at <= at && (t.until == 0 || at < t.until)
}

func (t turn) String() string {
	switch t.do {
	case taken:
		return fmt.Sprintf("another holder has %q%s", holdKey(t.key), t.till())
	case clockSet:
		return fmt.Sprintf("the server clock steps by %v against the worker's", t.by)
	}
	what := map[turnKind]string{
		refused: "fail", unheard: "take effect, but their replies are lost",
		slow: fmt.Sprintf("take %v to reach the store", t.by), slowBack: fmt.Sprintf("take %v to come back", t.by),
		hangs: "hang until their contexts end",
	}[t.do]
	if t.do == hangs && t.by > 0 {
		what = fmt.Sprintf("hang until %v after their contexts end", t.by)
	}
	return fmt.Sprintf("calls of %s on %q %s%s", t.ops, holdKey(t.key), what, t.till())
}

func (t turn) till() string {
	if t.until == 0 {
		return ""
	}
	return fmt.Sprintf(" until +%v", t.until)
}

// holdKey is the name of a key.
func holdKey(n int) string { return fmt.Sprintf("job-%d", n+1) }

// horizon is when a story has long been over.
func (p schedule) horizon() time.Duration {
	end := time.Duration(0)
	for _, h := range p.holds {
		end += h.ends + h.body.runs + p.options.ttl
	}
	for _, t := range p.turns {
		end = max(end, t.at, t.until)
	}
	return end + longHold
}

// longHold is how long the helper may take to come to its end when its body has
// ended, or its context. Whatever limits of its own it has, they are far below.
const longHold = 2 * time.Hour

// bounded sees that a story ends: where nothing else would end it, the caller's
// context does.
func (p schedule) bounded() schedule {
	waits := p.options.wait > 0
	for _, t := range p.turns {
		waits = waits || t.do == hangs && t.ops&onAcquire != 0
	}
	p.holds = append([]hold(nil), p.holds...)
	for i := range p.holds {
		if waits && p.holds[i].ends == 0 {
			p.holds[i].ends = 10 * p.options.ttl
		}
	}
	return p
}
