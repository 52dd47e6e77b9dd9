// Package redislease keeps leases in Redis, and values behind fencing tokens.
//
// It works on a go-redis client of one server, of Sentinel or of Cluster, needs no
// preparation of the server, and does each call in one round trip: one Lua
// script, run by its digest, and once more by its text if the server has
// forgotten it. It needs Redis 5 or newer.
//
// # What is stored
//
// Two keys for each lease, with the default prefix and a lease named "job":
//
//	{6:lease:job}l   hash: holder, token, expires (ms since 1970, server clock)
//	{6:lease:job}n   string: the highest token granted so far
//
// The number is the length of the prefix. It keeps services with different
// prefixes apart even where prefix and name joined give the same text, and it
// keeps the braces from being empty, so that both keys of a lease lie in one
// cluster slot whatever its name is.
//
// A [Fence] has one key for each value, a hash with the fields value and token:
//
//	{6:fence:job}f
//
// Redis removes the hash of a lease some time after the lease is over. The counter is
// never removed, by a release neither: it is what makes tokens rise. Count on
// some 80 bytes and the name for every name ever used. A fenced value is never
// removed either, for the same reason.
//
// # What is promised
//
// What CONFORMANCE.md asks of a store, on one server that keeps its data. A lease
// is live exactly while TIME, in ms, is below the stored expiry. What Redis
// does with the key plays no part in it, nor does any worker's clock. Expiry is
// rounded up to the ms: never shorter than the ttl, less than 1 ms longer.
//
// A record that was not written by this package is an error, never a free key.
// A server that takes no writes – a replica, a full or a read-only one – gives
// an error too, from Get as well, since its answer may be out of date. Renew
// and Release need no memory and go on when Redis has reached maxmemory; a new
// grant does not.
//
// # What is not promised
//
// Redis can lose what it has acknowledged. A grant that is lost may be granted
// to another holder, and, worse, under the same token (TOKEN-10 and -11):
//
//   - Failover. Replication is asynchronous. A replica that is promoted may lack
//     the last grants. min-replicas-to-write (heeded by scripts from Redis 6.0
//     on) narrows the gap; so does waiting for replicas, below, which closes it
//     for those that are waited for. Leases are then judged by the new host's
//     clock.
//   - Restart. Without persistence every counter starts again at 1. With
//     appendfsync everysec the last second may be missing; with always, nothing.
//   - Eviction. maxmemory-policy must be noeviction. The others remove leases
//     that are live, or counters.
//   - FLUSHALL, and a hand that deletes the counter.
//
// Where that matters, keep the highest token with the resource too: it will
// then refuse a grant whose token has been used.
//
// A lease whose counter is gone or too low is reported as an error while its
// record is there to tell.
//
// A Fence lasts as long as Redis keeps its data, and no longer: what loses a
// counter loses a mark, the value with it, and then the oldest worker alive can
// write (FENCE-4). It takes appendonly with appendfsync always, noeviction, and no
// failover while a stale worker may live.
//
// # Waiting for replicas
//
// With Options.Replicas a grant and a renewal are answered only when so many
// replicas have them. If one of those is promoted, it knows every grant that was
// answered, and tokens go on rising (TOKEN-11). It takes a second round trip, and a
// replica that is slow or away makes every Acquire fail.
//
// What it does not cover: a replica that was not among them may be promoted, and
// repeat a token that was answered. So wait for all that can be promoted, or let
// only those be (replica-priority 0 for the others). A replica that restarts without
// its data has confirmed nothing any more. An old primary that still runs after
// the failover and can't reach its replicas grants nothing new, but still refuses,
// and still answers Get.
//
// When the replicas don't confirm in time, the outcome is unknown. A new grant is
// then taken back, as far as that can be done: others may have seen it for a
// moment, and see it until its expiry if it could not be. A renewal stays.
//
// # Rights
//
// An ACL user needs the two kinds of keys, and these commands; of the channels
// it needs none. For the default prefix:
//
//	ACL SETUSER worker on >PASSWORD resetkeys resetchannels -@all ~{6:lease:* +evalsha +eval +time +get +incr +hgetall +hset +hdel +del +pexpireat +ping
//
// Without eval a script that the server has forgotten stays forgotten. ping is for
// [Open], which also needs what its URL asks for: select for a database,
// client|setname for a name. A cluster client needs cluster|slots. A Fence needs its
// kind of keys, and evalsha, eval, hlen, hget, hexists, hset and hdel. Waiting for
// replicas needs wait.
//
// # Not a Ring
//
// A redis.Ring spreads keys over servers that know nothing of each other, and
// moves them when one is away: a live lease would be granted again.
package redislease
