// Package lease is the contract of a lease service: named locks that end by
// themselves and carry a fencing token.
//
// # What a lease is
//
// A lock in one process is easy: whoever holds it runs, and when the process
// dies so does the lock. Between processes the holder may die, hang or lose its
// network while the lock stays. So the lock gets an end: it is granted for a
// ttl, and the holder renews it as long as it works. Such a lock is a lease.
//
// The end brings a trap. A holder can be paused – by a garbage collector, a
// hypervisor, a SIGSTOP, a slow network – for longer than its ttl. The lease
// ends, another worker gets it, and then the first one goes on, believing that
// it still holds the key. No helper in the paused process can prevent that.
//
// # What a fencing token is
//
// Every grant therefore has a token, a number that is greater than every token
// granted for that key before. The holder sends its token along with each
// write, and the protected resource remembers the highest token it has seen
// and refuses a lower one. The late worker's write carries an old token, and
// is refused. Package fence is that side. The idea is described in Mike Burrows, The Chubby lock service
// for loosely-coupled distributed systems (OSDI 2006), section 2.4, there
// called a sequencer.
//
// That only works if tokens never repeat or go down: not after a release, an
// expiry, years of idleness, or a step of a clock.
//
// # Whose clock
//
// Every lease is judged on one clock, that of the store. Workers' clocks play
// no part: a worker whose clock is wrong by an hour gets the same grants and
// refusals, at the same instants, as any other. [Lease.ExpiresAt] is on the
// server clock too, so do not compare it with time.Now.
//
// # What an error means
//
// [ErrHeld], [ErrLost], [ErrNotHeld] and [ErrInvalid] are answers of the store
// or of the argument checks. Every other error leaves the outcome unknown: the
// call may have been executed. To find out, repeat it: Acquire by the holder
// of a live lease returns the same grant, Renew and Release are identified by
// key, holder and token alone, and all three may be repeated at will.
//
// # Holding a lease
//
// [Hold] does what nearly every user of a lease has to: acquire, renew in the
// background, tell the work to stop when the lease may have ended, and release. It
// can't stop work that does not listen, nor a process that is paused; the fencing
// token is there for that.
//
// # Backends
//
// Package memlease (impl/memory) keeps leases in one process, package
// redislease (impl/redis) in Redis. Package leasetest checks any implementation
// of [Service] against the contract, whose clauses – EXCL-1, TOKEN-2 and so on
// – are listed in CONFORMANCE.md.
package lease
