// Package chaos tries stores of leases with faults that really happen to them:
// networks that lose replies, servers that are killed, clocks that are set.
//
// # Faults
//
// A [Fault] is a value that is started and healed, and that tells how often it
// met live traffic: what hit nothing has shown nothing. There are four kinds.
//
//   - Of a [Link], a TCP proxy between one worker and the store: [Delay], [Drip],
//     [Cut], [Reset], [BlackHole], [Deaf], [HalfOpen], [Partition], [CutRequest],
//     [CutReply], [LoseReply], [Late], [Repeat], [Replay].
//   - Of a [Process]: [Kill], [Restart], [Pause].
//   - Of a [Clock]: [Step], [Rate].
//   - Of a store, in its own language: [Store].
//
// Each can be used by itself:
//
//	link, err := chaos.NewLink("of worker 1")
//	client := …                              // opens its connections by link.Dial
//	f := chaos.LoseReply(link, chaos.Aim{Nth: 1})
//	err = f.Start(ctx)
//	_, err = client.Acquire(ctx, "job", "a", time.Minute) // granted, and nobody knows
//	err = f.Heal(ctx)
//
// # Campaigns
//
// [Run] lets workers make random calls, each over a link of its own, while a
// nemesis follows a schedule that is drawn from a seed and counted in calls, so
// that the same seed gives the same schedule. Then it heals everything and
// judges:
//
//   - that every service, not built anew, answers every kind of call again
//     within a time (ERR-5);
//   - that every key, once its lease has expired, is granted within a time
//     (EXPIRY-3);
//   - for each key, the order of tokens (TOKEN-2, -7; TOKEN-10 after a crash,
//     TOKEN-11 after a failover);
//   - for each key, that some sequential order explains all replies (EXCL-5), where a
//     call of unknown outcome took effect at any later moment or never (ERR-2),
//     and a request that a link delivered twice may have taken effect twice;
//   - that nothing is left of a service that was closed, neither connections nor
//     goroutines (ERR-6).
//
// A history that has no order is put to the clause that explains it best: the one
// that would make it legal, were it not a clause. If a call that took effect twice
// would explain it, ERR-2 is to blame; if nothing does, EXCL-5. Of several bad keys
// as few clauses as can be are to blame. So a name is a guess, and the history the
// proof: it is saved, with a picture of the shortest window that shows it.
//
// A campaign in which no fault hit anything is inconclusive, as is one with keys
// that the judge could not decide about. A key with more than a few calls of unknown
// outcome may be judged up to there only; the report says on how many keys.
//
// After a failover, and after a crash of a store that declares to lose grants by it,
// a key is judged by the tokens of answered grants alone: a release that was
// answered may be lost as well then, and so may what a Get has shown.
//
// # Judging again
//
// A campaign that found something is saved as JSON. From the module's folder
//
//	go run ./cmd/leasecheck judge campaign-7.json
//
// judges it again, without the store.
//
// # What it can't see
//
// A campaign sees what its clients are told. It does not cut the power: a killed
// process leaves its writes to the kernel, so that what is written and not yet
// synced to the disk survives here. Connections are TCP, and the links don't
// reach between the parts of a store, unless a test puts them there. The sides of
// an exchange are told apart by who sends: in a protocol with several requests
// under way on a connection, faults that aim at one request may hit another.
package chaos
