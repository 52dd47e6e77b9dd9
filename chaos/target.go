package chaos

import (
	"cmp"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// Target is an empty store that campaigns are run on.
type Target struct {
	// Name is how reports call it: "redis, appendfsync always".
	Name string

	// Connect makes one more client of the store. It opens its connections by
	// dial. The second result closes the client, and may be nil.
	Connect func(dial Dial) (lease.Service, func() error, error)

	// Now reads the server clock. It is not needed with a Clock; with neither,
	// calls are judged by what grants themselves tell.
	Now func() time.Time

	// Clock is the server clock, if it can be moved.
	Clock Clock

	// Match tells the requests that belong to a call from those that a client
	// makes of itself, such as its greeting. Nil: all are taken for a call's.
	Match func(request []byte) bool

	// Faults are those that this store offers, beside those of links and of the
	// Clock, which all have.
	Faults []Kind

	// How coarse the store is, as in leasetest.Harness: 0 is 1 ms, none, none.
	Resolution, MinTTL, ExpiryLag time.Duration

	// LateCommit says that the store reads its clock before it commits, as
	// databases do: others may see a grant only some time after the instant that
	// its expiry tells.
	LateCommit bool

	// TakesBack says that an Acquire of unknown outcome may be taken back: others
	// see its grant for a while, and then no more.
	TakesBack bool

	// Redates says that the first grant of a key may be given its expiry twice, if
	// the clock steps or the call waits meanwhile: others may see the first one, and
	// it may be over by then, so that the call makes a second grant.
	Redates bool

	// Unflushed says that others may see what a call has done before it is on disk,
	// as in InnoDB, which releases locks before it flushes its log. If the store
	// crashes at that moment, who has changed nothing was told what is not so any
	// more. Grants are written, and flushed with all that was before them.
	Unflushed bool

	// Deviations names clauses that the store does not keep in this mode, with
	// the reason. They don't fail a campaign.
	Deviations map[string]string
}

func (t Target) rules() model.Rules {
	return model.Rules{
		Resolution: cmp.Or(t.Resolution, time.Millisecond), MinTTL: t.MinTTL, ExpiryLag: t.ExpiryLag, LateCommit: t.LateCommit,
	}
}
