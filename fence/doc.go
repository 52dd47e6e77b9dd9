// Package fence is the other side of a lease: the protected resource, which
// refuses a writer whose grant has been superseded.
//
// # Why
//
// A lease protects nothing by itself. Its holder can be paused – by a garbage
// collector, a hypervisor, a SIGSTOP, a slow network – for longer than the lease
// lasts, and then goes on, believing that it still holds the key. No check that
// it makes can help, since the pause may come after the check. But the resource
// can tell who is late: each grant of a key has a greater token than all grants
// before it, so the resource keeps the highest token that it has seen for the
// key, and refuses a write with a lower one. Mike Burrows, The Chubby lock service
// for loosely-coupled distributed systems (OSDI 2006), section 2.4, has the idea
// under the name of sequencers.
//
// # What it takes
//
// [Resource] is the shape of it: a value for each key, written under a token. It
// rests on three things, and each is easily got wrong:
//
//   - Comparing the token, writing the value and remembering the token are one
//     atomic step: one statement, one script, one transaction that locks the row.
//     Otherwise a stale write lands between the look and the write.
//   - The mark – the highest token seen – lies beside the value and lasts as long.
//     A mark in the memory of a process is gone after a restart, and the oldest
//     worker alive gets through.
//   - Tokens are compared as integers of 64 bits. As text 9 is above 10, and a
//     float64 takes 2^53+1 for 2^53.
//
// A token equal to the mark is accepted: the holder of one grant writes as often
// as it likes. What several writers do under one and the same grant is theirs to
// order.
//
// # Models
//
// [Memory] is a resource in one process, and the plainest model. Package
// redislease (impl/redis) has one in Redis, in one script, and package sqllease
// (impl/kysely-equivalent-sql) one in PostgreSQL, MySQL, MariaDB and SQLite, in one
// statement. Whatever else protects
// its data by tokens can be put behind Resource, and leasetest.RunFence then checks
// it against the clauses FENCE-1 to FENCE-5 of CONFORMANCE.md.
//
// # What a fence can't do
//
// It refuses a stale write once a newer token was seen, and not before: until the
// new holder has written, the late write of the old one is accepted. It does
// not undo what was accepted. So the new holder reads what is there only after a
// write of its own – a claim of its token is enough – and then nothing older can
// land any more. A fence does nothing for what is not written through it: a mail
// that was sent, a machine that was started.
package fence
