package tinystore

import "time"

// Flaws are what can be wrong with the store and its client. The zero value is
// right in everything.
type Flaws struct {
	// Of the client.
	Resend         time.Duration // a request that failed is sent once more after this
	ReplayRelease  time.Duration // a release that failed ends whatever its holder has after this, in the background
	QueueAcquire   time.Duration // an acquire that failed is sent once more after this, in the background
	UndoCancelled  bool          // an acquire whose context has ended is undone by ending whatever its holder has
	FailedIsHeld   bool          // an acquire that failed counts as refused
	FailedIsLost   bool          // a renewal that failed counts as lost
	FailedIsFree   bool          // a get that failed counts as a free key
	FailedIsDone   bool          // a release that failed counts as done
	NeverRedials   bool          // after a connection has broken there is no other
	KeepsBroken    bool          // connections that broke are not closed
	LeavesReader   bool          // a call that failed leaves a goroutine behind
	SharesReplies  bool          // a connection is used again after a call that timed out
	ForgetsScript  string        // this call does not heal when the server has forgotten its script
	AnnouncesFresh bool          // an acquire says whether the client believes to hold the key already

	// Of the server.
	RefusesFresh     bool // an acquire by a client that believes not to hold a live lease is refused
	NewTokenForFresh bool // or gets a new token
	RenewsByExpiry   bool // a renewal must name the expiry that the lease had
	CounterLate      bool // the counter is written to disk with the next call
	GrantLate        bool // the grant is written to disk with the next call
	CounterInMemory  bool // the counter is written to disk every tenth time
	DoubtsFarEnds    bool // a lease that ends too far ahead counts as over
	FreesOnCrash     bool // a start clears the leases, but not the counters
}
