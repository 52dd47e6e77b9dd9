package leasetest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// Harness is one empty store, and what the suite may do to it.
//
// Only Connect is required. Every other field that is left zero makes the
// clauses that need it "not checked", with that as the reason; it never makes
// them pass.
type Harness struct {
	// Connect opens one more worker on this store: a client of its own, as
	// another process would have. Register what has to be closed with
	// t.Cleanup; it runs when the suite is done with the worker. Connect may
	// be called from several goroutines, and inside a testing/synctest bubble,
	// where the client must be made afresh and name hosts by IP address.
	Connect func(t testing.TB, w Worker) lease.Service

	// ConnectSkewed is Connect for a worker whose own clock is wrong by off: ahead
	// of the right time, or behind it if off is negative. It is for workers in
	// other processes, whose clock the suite can't make wrong; one in this process
	// needs no ConnectSkewed, since Connect is called in a testing/synctest bubble
	// then. A harness that can't do it for this worker calls t.Skip with the reason.
	ConnectSkewed func(t testing.TB, w Worker, off time.Duration) lease.Service

	// Clock is the server clock. Nil means that the suite can neither read nor
	// move it: it then uses short ttls and waits.
	Clock *Clock

	// SeedToken raises the counter of key so that the token of the next grant
	// is greater than token, and no greater than it has to be. It is called
	// for keys that were never taken. Nil: TOKEN-8 and -9 are not checked.
	SeedToken func(t testing.TB, key string, token int64)

	// Damage makes the record of key unreadable for the backend, one entry for
	// each way that the store allows: a foreign type, a field that is no
	// number, a schema of the future. It is called while key is held. Nil:
	// ERR-9 is not checked.
	Damage map[string]func(t testing.TB, key string)

	// Restart crashes the store, as a power cut does, and brings it back at the
	// same address and with the same server clock. It returns when the store
	// takes calls again; workers that were connected stay as they are. Nil:
	// TOKEN-10, EXPIRY-9 and ERR-5 are not checked.
	Restart func(t testing.TB)

	// Block makes every call that would write to key wait inside the store, as
	// a session does that holds the lock of its record or pauses the queue,
	// until unblock is called; then the record is as it was. It is called while
	// key is held. waiting says whether such a call waits there now. Nil:
	// EXPIRY-8 is not checked.
	Block func(t testing.TB, key string) (waiting func() bool, unblock func())

	// Resolution is the unit to which the backend rounds expiry. Default 1 ms.
	Resolution time.Duration

	// MinTTL is the shortest lease that the store can keep; a shorter ttl is
	// rounded up to it. Default none.
	MinTTL time.Duration

	// MaxTTL is the longest ttl that the store takes; a longer one is
	// ErrInvalid. Default the largest time.Duration.
	MaxTTL time.Duration

	// ExpiryLag is how long after its expiry a key may still be taken for
	// held. Default 0.
	ExpiryLag time.Duration

	// Deviations declares clauses that this backend does not keep, by id, with
	// the reason. A declared clause that fails is reported as a deviation; one
	// that is checked and kept is an error, so that the list stays true.
	Deviations map[string]string

	// Unchecked declares clauses that this harness can't have checked, by id,
	// with the reason, so that a strict run (-lease.strict) accepts them. An
	// entry for a clause that was checked is an error, so that the list stays
	// true.
	Unchecked map[string]string
}

// Worker is how the suite wants a client made. Zero fields mean: as always.
type Worker struct {
	// Namespace separates services on one store from each other (KEY-2). A
	// harness whose backend has no namespaces calls t.Skip if it is not empty.
	Namespace string

	// Dial opens the client's connections, if not nil; faults go in here. A
	// harness that can't pass it on to the client leaves it alone: the suite
	// sees that it was never called.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Clock is the server clock: the one by which the store judges its leases. Now
// may be called from several goroutines at once, and while calls to the store
// are out; Move and Freeze are called while none is, but for one that waits
// because of Block.
type Clock struct {
	// Now reads the clock as the store itself reads it, with the store's own
	// granularity. Required.
	Now func() time.Time

	// Move moves the clock by d, which may be negative. Nil: it can't be
	// moved.
	Move func(d time.Duration)

	// Freeze stops the clock (true) or lets it run on (false). A clock that
	// always stands still has a Freeze that does nothing. Nil: it can't stand
	// still. Leave it nil too where the store's own clock moves on by itself while
	// the system's stands: NOW of MariaDB, unlike SYSDATE, gains 1 µs with every
	// statement then, which would be taken for leases that end late.
	Freeze func(on bool)
}

// check reports what is wrong with the harness, as a person who wrote it wants
// to read it, or nil.
func (h *Harness) check() error {
	if h == nil {
		return fmt.Errorf("open returned a nil *Harness: return one with at least Connect set")
	}
	if h.Connect == nil {
		return fmt.Errorf("the harness's Connect is nil: set it to a function that opens one more client of the store and returns its lease.Service")
	}
	if h.Clock != nil && h.Clock.Now == nil {
		return fmt.Errorf("the harness's Clock.Now is nil: set it to a function that reads the server clock, or leave Clock nil")
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"Resolution", h.Resolution}, {"MinTTL", h.MinTTL}, {"MaxTTL", h.MaxTTL}, {"ExpiryLag", h.ExpiryLag},
	} {
		if f.value < 0 {
			return fmt.Errorf("the harness's %s is %v: want 0 for the default, or more", f.name, f.value)
		}
	}
	if h.MaxTTL > 0 && h.MinTTL > h.MaxTTL {
		return fmt.Errorf("the harness's MinTTL %v is above MaxTTL %v", h.MinTTL, h.MaxTTL)
	}
	return checkDeclared(h.Deviations, h.Unchecked)
}

// checkDeclared looks at what a harness says of clauses.
func checkDeclared(deviations, unchecked map[string]string) error {
	if err := checkEntries("Deviations", deviations); err != nil {
		return err
	}
	if err := checkEntries("Unchecked", unchecked); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(deviations)) {
		if _, both := unchecked[id]; both {
			return fmt.Errorf("the harness names %s both in Deviations and in Unchecked: keep one of the two", id)
		}
	}
	return nil
}

// checkEntries looks at a map of clause ids to reasons.
func checkEntries(field string, entries map[string]string) error {
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if _, ok := clauseByID(id); !ok {
			return fmt.Errorf("the harness's %s names the clause %q, which does not exist%s: CONFORMANCE.md lists the clauses", field, id, didYouMean(id))
		}
		if strings.TrimSpace(entries[id]) == "" {
			return fmt.Errorf("the harness's %s[%q] has no reason: say why, for the reader of the report", field, id)
		}
	}
	return nil
}

// didYouMean proposes the clauses of the same group for an id that is unknown.
func didYouMean(id string) string {
	group, _, _ := strings.Cut(strings.ToUpper(id), "-")
	var near []string
	for _, c := range clauses {
		if strings.HasPrefix(c.ID, group+"-") {
			near = append(near, c.ID)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (there is %s)", strings.Join(near, ", "))
}

func (h *Harness) resolution() time.Duration {
	if h.Resolution == 0 {
		return time.Millisecond
	}
	return h.Resolution
}

func (h *Harness) maxTTL() time.Duration {
	if h.MaxTTL == 0 {
		return math.MaxInt64
	}
	return h.MaxTTL
}

func (h *Harness) rules() model.Rules {
	return model.Rules{Resolution: h.resolution(), MinTTL: h.MinTTL, ExpiryLag: h.ExpiryLag}
}
