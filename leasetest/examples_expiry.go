package leasetest

import (
	"strconv"
	"time"
)

const day = 24 * time.Hour

func shownInt(n int64) string { return strconv.FormatInt(n, 10) }

// expiryReportExamples are about the expiry that a grant reports.
func expiryReportExamples() []example {
	return []example{
		{"EXPIRY-1", "a grant ends its ttl from now, by the server clock", needRead, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", 90*time.Second).granted().named("b"),
			release(workerB, "b").done(),
			acquire(workerB, "bob", 1234567*time.Microsecond).granted(),
			acquire(workerA, "alice", day).on("other-%").granted(),
		}},
		{"EXPIRY-1", "the ttl is rounded up, never down, wherever the clock stands", needRead | needMove, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			pass(377 * time.Microsecond),
			acquire(workerA, "alice", time.Second+1).granted().named("a"),
			release(workerA, "a").done(),
			pass(500 * time.Microsecond),
			acquire(workerA, "alice", time.Second+999*time.Nanosecond).granted().named("a"),
			release(workerA, "a").done(),
			pass(123 * time.Microsecond),
			acquire(workerA, "alice", time.Second-time.Microsecond).granted(),
		}},
		{"EXPIRY-5", "the expiry is an instant on the server clock", needRead, program{
			acquire(workerA, "alice", long).granted(),
			get(workerB).granted(),
			acquire(workerA, "alice", 200*day).on("summer-%").granted(),
			get(workerB).on("summer-%").granted(),
		}},
	}
}

// expiryExamples are about the end of a lease, well past it.
func expiryExamples() []example {
	return []example{
		{"EXPIRY-3", "an expired key can be had at once, by anyone and for any ttl", 0, program{
			acquireShort(workerA, "alice").granted(),
			end(2),
			acquireShort(workerB, "bob").granted(),
			end(2),
			acquire(workerC, "carol", long).granted(),
		}},
		{"EXPIRY-3", "the contender's own ttl plays no part", needMove, program{
			acquire(workerA, "alice", long).granted(),
			end(2),
			acquire(workerB, "bob", 100*long).granted(),
			end(2),
			acquire(workerA, "alice", time.Millisecond).granted(),
		}},
		{"RENEW-2", "an expired lease cannot be renewed, even if nobody took the key", 0, program{
			acquireShort(workerA, "alice").granted().named("a"),
			end(2),
			renew(workerA, "a", long).lost(),
			get(workerB).notHeld(),
		}},
		{"RENEW-2", "an expired lease cannot be renewed much later", needMove, program{
			acquire(workerA, "alice", long).granted().named("a"),
			end(2),
			pass(long / 2),
			renew(workerB, "a", long).lost(),
			acquire(workerB, "bob", long).granted(),
		}},
		{"GET-2", "an expired key is not held", 0, program{
			acquireShort(workerA, "alice").granted(),
			end(2),
			get(workerA).notHeld(),
			get(workerB).notHeld(),
		}},
	}
}

// clockExamples are about single instants, and about clocks that jump.
func clockExamples() []example {
	return []example{
		{"EXPIRY-5", "the expiry is an instant in every season", needMove, program{
			acquire(workerA, "alice", long).granted(),
			pass(91 * day),
			acquire(workerA, "alice", long).granted(),
			get(workerB).granted(),
			pass(91 * day),
			acquire(workerA, "alice", 100*day).granted(),
			get(workerB).granted(),
			pass(91 * day),
			acquire(workerA, "alice", long).granted(),
			get(workerB).granted(),
		}},
		{"EXPIRY-2", "Get: live one resolution before the expiry, over at it", needFreeze, program{
			acquire(workerA, "alice", long).granted(),
			end(-1),
			get(workerB).granted(),
			end(0),
			get(workerB).notHeld(),
		}},
		{"EXPIRY-2", "Acquire: refused one resolution before the expiry, granted at it", needFreeze, program{
			acquire(workerA, "alice", long).granted(),
			end(-1),
			acquire(workerB, "bob", long).held(),
			end(0),
			acquire(workerB, "bob", long).granted(),
		}},
		{"EXPIRY-2", "Renew: granted one resolution before the expiry, lost at it", needFreeze, program{
			acquire(workerA, "alice", long).granted().named("a"),
			end(-1),
			renew(workerA, "a", long).granted(),
			end(0),
			renew(workerA, "a", long).lost(),
		}},
		{"EXPIRY-2", "the holder's Acquire: the same grant before the expiry, a new one at it", needFreeze, program{
			acquire(workerA, "alice", long).granted(),
			end(-1),
			acquire(workerA, "alice", long).granted(),
			end(0),
			acquire(workerA, "alice", long).granted(),
		}},
		{"EXPIRY-2", "Release: frees the key one resolution before the expiry", needFreeze, program{
			acquire(workerA, "alice", long).granted().named("a"),
			end(-1),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted(),
		}},
		{"EXPIRY-6", "a lease is over when the clock jumps past its expiry", needMove, program{
			acquire(workerA, "alice", long).granted().named("a"),
			pass(10 * 365 * day),
			get(workerB).notHeld(),
			renew(workerA, "a", long).lost(),
			acquire(workerB, "bob", long).granted(),
			end(0),
			pass(2 * day),
			acquire(workerC, "carol", long).granted(),
			pass(40 * 365 * day),
			get(workerC).notHeld(),
		}},
		{"EXPIRY-7", "a live lease stays when the clock steps back", needFreeze, program{
			acquire(workerA, "alice", long).granted().named("a"),
			pass(-time.Hour),
			acquire(workerB, "bob", long).held(),
			get(workerC).granted(),
			pass(-10 * 365 * day),
			acquire(workerB, "bob", long).held(),
			renew(workerA, "a", long).granted(),
		}},
		{"EXPIRY-7", "a superseded lease does not come back with the clock", needFreeze, program{
			acquire(workerA, "alice", long).granted().named("a"),
			pass(2 * long),
			acquire(workerB, "bob", long).granted(),
			pass(-long - long/2),
			renew(workerA, "a", long).lost(),
			get(workerA).granted(),
			acquire(workerC, "carol", long).held(),
		}},
		{"EXPIRY-7", "tokens rise after the clock stepped back", needFreeze, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			pass(-time.Hour),
			acquire(workerB, "bob", long).granted().named("b"),
			release(workerB, "b").done(),
			pass(-365 * day),
			acquire(workerA, "alice", long).granted(),
		}},
		{"EXPIRY-7", "an expired lease is over or live again, and stays what it is", needFreeze, program{
			acquire(workerA, "alice", long).granted().named("a"),
			pass(long + time.Minute),
			pass(-5 * time.Minute),
			get(workerB),
			acquire(workerB, "bob", long),
			renew(workerA, "a", long),
			get(workerC).granted(),
		}},
	}
}
