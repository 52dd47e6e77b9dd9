// Package leasetest checks implementations of lease.Service against the
// contract of CONFORMANCE.md, clause by clause.
//
// A backend joins with one test:
//
//	func TestConformance(t *testing.T) {
//		leasetest.Run(t, func(t testing.TB) *leasetest.Harness {
//			store := mystore.New()
//			return &leasetest.Harness{
//				Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
//					return store.Client()
//				},
//			}
//		})
//	}
//
// Every clause is a subtest named by its id. A failure quotes the clause and
// shows the shortest history that breaks it, with what the contract expects of
// the last reply, and the command that repeats it.
//
// # What is checked, and how
//
// Examples are small scenarios, at least one for each clause. Random programs
// go over the whole interface: several workers, holders and keys that look
// alike, stale, made-up and foreign leases, ttls from 1 ns to the largest, and
// a server clock that is moved to an expiry, one unit to either side, and by
// years both ways. Both are judged by one reference model, exactly where the
// clock stands still and by intervals where it runs. Races and random
// concurrent calls are recorded and judged by porcupine. Workers with wrong
// clocks live in testing/synctest bubbles. Contexts end before calls and in
// the middle of them.
//
// Once a clause has failed, or is declared as a deviation, the model is relaxed
// for it and the program runs again, so that one fault does not hide another.
//
// # What a harness offers
//
// Only Harness.Connect is required. The more of the store the test can reach –
// its clock, its counters, its records – the more clauses can be checked. A
// clause that can't be checked is reported as such, with the reason; it never
// passes. The most is gained by a Clock that can be moved and frozen: without
// one, short ttls and real waiting have to do.
//
// # Hold helpers
//
// RunHold checks a hold helper – what acquires, renews while a body runs, and
// releases – against the HOLD clauses, on a store of its own in virtual time:
//
//	func TestHold(t *testing.T) { leasetest.RunHold(t, lease.Hold) }
//
// A helper of another shape joins by an adapter; see HoldFunc and Helper.
//
// # Flags
//
//	-rapid.checks=N    random programs (default 100, of up to 50 steps each)
//	-rapid.seed=N      the seed that a failure printed
//	-lease.report=DIR  write the Report as JSON, one file per Run
//	-lease.isolate     judge in a child process, whose death is a verdict
//	-lease.strict      fail clauses that are not checked, except those in Harness.Unchecked
//
// # What it can't see
//
// A test shows faults, not their absence. What two threads do depends on how
// they meet; a fault that needs a rare meeting can pass (EXCL-3, EXCL-5,
// TOKEN-7, ERR-2 and ERR-7 are checked so). A store whose clock can only be read
// is never asked at the very instant of an expiry. And a harness that lies –
// whose Clock is not the one by which the store judges – gets wrong verdicts.
// Of a hold helper it does not see what the wall clock alone does to it, for in a
// bubble there is no other clock; nor a data race, unless the tests run with -race.
package leasetest
