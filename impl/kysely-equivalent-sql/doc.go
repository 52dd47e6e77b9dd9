// Package sqllease keeps leases in a table of a SQL database: PostgreSQL, MySQL,
// MariaDB or SQLite.
//
// It works on a *sql.DB and imports no driver; the driver is the caller's. It was
// tried with
//
//   - PostgreSQL 15 with github.com/jackc/pgx/v5/stdlib; the statements need 12
//   - MariaDB 10.11 with github.com/go-sql-driver/mysql; they need 10.5
//   - SQLite 3.54 with modernc.org/sqlite; they need 3.42
//
// The statements for MySQL 5.7 and newer were written from its manual, and tried on
// MariaDB alone.
//
// # What is stored
//
// One row for each lease, in the table that [Service.Migrate] makes:
//
//	namespace, name   the key: bytes, as all names
//	holder            who had it last
//	token             the highest token granted so far: a BIGINT
//	expires           µs since 1970 on the database's clock, a BIGINT; 0 when released
//
// A row is never deleted, by a release neither: it is what makes tokens rise. The
// table so grows by a row for every name ever used, of some 60 bytes and the
// names. Leave the rows alone, or names whose rows were deleted begin again with
// token 1; where names are made up for each job, give them a namespace of their own,
// and drop its rows once no resource remembers a token of theirs.
//
// # What is promised
//
// What CONFORMANCE.md asks of a store, on one server that keeps what it has
// committed. A call is one statement that commits by itself, and one round trip;
// Acquire on MySQL is two. A second one follows only where the first one met a race:
// a conflict with another session, or an insert that waited for another that was
// rolled back. Serialization failures, deadlocks and a busy SQLite file are tried
// again until the context ends, up to 100 times, and never read as held.
//
//   - The clock is the server's, read after the statement has the row's lock, once.
//     What a call waited for does not make its judgement stale.
//   - Names are compared as bytes, whatever the collations are.
//   - Settings of the session make no difference: isolation level, time zone,
//     sql_mode, clientFoundRows, simple protocol, a pooler that discards prepared
//     statements. A session without autocommit is an error.
//   - Expiry is rounded up to the ms, on SQLite to the ms after that, since its clock
//     has whole ms: never shorter than the ttl, less than 1 ms longer, on SQLite 2.
//   - A row that was not written by this package is an error, never a free key. So is
//     a server that takes no writes, from Get as well, since its answer may be out of
//     date. A SQLite file that is read-only can be asked with Get.
//
// On MariaDB and MySQL a context that ends closes the connection, but the server may
// go on with the statement, on MariaDB for 10 s at most: the outcome is unknown. The
// others interrupt it.
//
// # What is not promised
//
// A database can lose what it has committed. A grant that is lost may be granted to
// another holder, and, worse, under the same token (TOKEN-10 and -11):
//
//   - A restore from a backup brings the counters back to where they were. Before
//     workers come back, raise them beyond every token that was granted since:
//     UPDATE leases SET token = token + 1000000, expires = 0.
//   - Failover to a replica that lags, or a crash with synchronous_commit off,
//     innodb_flush_log_at_trx_commit other than 1, or synchronous off in SQLite.
//     Leases are then judged by the new host's clock.
//   - A hand that deletes rows or truncates the table.
//
// Where that matters, keep the highest token with the resource too: it will then
// refuse a grant whose token has been used.
//
// InnoDB releases its locks before it flushes its log (MariaDB 10.11,
// storage/innobase/trx/trx0trx.cc, trx_t::commit_in_memory). A call that changes nothing
// may so be answered by what a crash undoes a moment later: a Release that was repeated
// returned nil, and the lease lives on to its end. Grants and renewals are written
// themselves, and flushed with all that came before them.
//
// MariaDB before 11.5 shuts itself down when its clock reaches 2038. A MySQL or
// MariaDB that runs with --sysdate-is-now has no clock that can be read after a wait;
// Migrate refuses it. A binary log needs binlog_format ROW or MIXED: statements that
// read the clock can't be replayed.
//
// # Rights
//
// A role that uses leases needs SELECT, INSERT and UPDATE on the table, and USAGE on
// its schema:
//
//	GRANT SELECT, INSERT, UPDATE ON leases TO worker
//
// Migrate needs to create the table where there is none.
package sqllease
