import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/**
 * A small lease on PostgreSQL, with JDBC.
 *
 * <p>Each key has a row, which is never deleted: it holds the counter of its tokens. A call
 * locks the row, reads the server's clock once it has the lock, and decides.
 */
final class Leases implements AutoCloseable {
    /** A lease; expires is an instant of the server's clock. */
    record Lease(String key, String holder, long token, Instant expires) {}

    /** What refuses a call: one of the words held, lost, not-held, invalid. */
    @SuppressWarnings("serial") // nobody writes it
    static final class Refused extends Exception {
        Refused(String word) {
            super(word);
        }
    }

    private static final String SCHEMA = """
            SELECT pg_advisory_xact_lock(7202531);
            CREATE TABLE IF NOT EXISTS java_leases (
                key text COLLATE "C" PRIMARY KEY,
                holder text COLLATE "C" NOT NULL DEFAULT '',
                token bigint NOT NULL DEFAULT 0,
                expires timestamptz NOT NULL DEFAULT 'epoch'
            )""";

    private final String url;
    private final String prefix;
    private Connection connection;

    Leases(String url, String prefix) {
        this.url = url;
        this.prefix = prefix;
    }

    /** What a row says, and what the clock says since it is locked. */
    private record Row(String holder, long token, Instant expires, Instant now) {
        boolean live() {
            return now.isBefore(expires);
        }

        boolean isOf(String holder, long token) {
            return live() && this.holder.equals(holder) && this.token == token;
        }
    }

    /** What is decided with a row locked; row is null if the key was never taken. */
    private interface Decision {
        Lease by(Row row) throws SQLException, Refused;
    }

    Lease acquire(String key, String holder, long ttl) throws SQLException, Refused {
        valid(validName(key) && validName(holder) && ttl > 0);
        return locked(key, true, row -> {
            if (row.live() && !row.holder.equals(holder)) {
                throw new Refused("held");
            }
            // An exception at the end of int64, and never a token twice.
            long token = row.live() ? row.token : Math.addExact(row.token, 1);
            return write(key, holder, token, end(row.now, ttl));
        });
    }

    Lease renew(String key, String holder, long token, long ttl) throws SQLException, Refused {
        valid(validName(key) && validName(holder) && token > 0 && ttl > 0);
        return locked(key, false, row -> {
            if (row == null || !row.isOf(holder, token)) {
                throw new Refused("lost");
            }
            return write(key, holder, token, end(row.now, ttl));
        });
    }

    void release(String key, String holder, long token) throws SQLException, Refused {
        valid(validName(key) && validName(holder) && token > 0);
        locked(key, false, row -> row != null && row.isOf(holder, token) ? write(key, holder, token, Instant.EPOCH) : null);
    }

    Lease get(String key) throws SQLException, Refused {
        valid(validName(key));
        return locked(key, false, row -> {
            if (row == null || !row.live()) {
                throw new Refused("not-held");
            }
            return new Lease(key, row.holder, row.token, row.expires);
        });
    }

    /** The server's clock. */
    Instant now() throws SQLException {
        try (PreparedStatement query = connection().prepareStatement("SELECT clock_timestamp()")) {
            return instant(query);
        }
    }

    /** Raises the counter of a key that was never taken. */
    void seed(String key, long token) throws SQLException {
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO java_leases (key, token) VALUES (?, ?)")) {
            insert.setString(1, prefix + key);
            insert.setLong(2, token);
            insert.executeUpdate();
        }
    }

    @Override
    public void close() throws SQLException {
        if (connection != null) {
            connection.close();
        }
    }

    /** The connection, a new one if the last has broken. */
    private Connection connection() throws SQLException {
        if (connection == null || connection.isClosed()) {
            connection = DriverManager.getConnection(url);
            try (PreparedStatement schema = connection.prepareStatement(SCHEMA)) {
                schema.execute();
            }
        }
        return connection;
    }

    /** Decides with the row locked. A decision that throws leaves everything as it was. */
    private Lease locked(String key, boolean create, Decision decision) throws SQLException, Refused {
        Connection c = connection();
        c.setAutoCommit(false);
        boolean done = false;
        try {
            Row row = lock(c, key);
            if (row == null && create) {
                try (PreparedStatement insert = c.prepareStatement("INSERT INTO java_leases (key) VALUES (?) ON CONFLICT DO NOTHING")) {
                    insert.setString(1, prefix + key);
                    insert.executeUpdate();
                }
                row = lock(c, key);
            }
            Lease lease = decision.by(row);
            c.commit();
            done = true;
            return lease;
        } finally {
            if (!done && !c.isClosed()) {
                c.rollback();
            }
            if (!c.isClosed()) {
                c.setAutoCommit(true);
            }
        }
    }

    private Row lock(Connection c, String key) throws SQLException {
        try (PreparedStatement query = c.prepareStatement("SELECT holder, token, expires FROM java_leases WHERE key = ? FOR UPDATE")) {
            query.setString(1, prefix + key);
            try (ResultSet rows = query.executeQuery()) {
                if (!rows.next()) {
                    return null;
                }
                // Asked for by itself: in the query above it may be read before the wait for the lock.
                try (PreparedStatement clock = c.prepareStatement("SELECT clock_timestamp()")) {
                    return new Row(rows.getString(1), rows.getLong(2), rows.getObject(3, OffsetDateTime.class).toInstant(), instant(clock));
                }
            }
        }
    }

    private Lease write(String key, String holder, long token, Instant expires) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE java_leases SET holder = ?, token = ?, expires = ? WHERE key = ?")) {
            update.setString(1, holder);
            update.setLong(2, token);
            update.setObject(3, expires.atOffset(ZoneOffset.UTC));
            update.setString(4, prefix + key);
            update.executeUpdate();
        }
        return new Lease(key, holder, token, expires);
    }

    private static Instant instant(PreparedStatement query) throws SQLException {
        try (ResultSet rows = query.executeQuery()) {
            rows.next();
            return rows.getObject(1, OffsetDateTime.class).toInstant();
        }
    }

    /** ttl nanoseconds from now, rounded up to the microsecond, which is what PostgreSQL keeps. */
    private static Instant end(Instant now, long ttl) {
        Instant end = now.plusNanos(ttl);
        int beyond = end.getNano() % 1000;
        return beyond == 0 ? end : end.plusNanos(1000 - beyond);
    }

    private static void valid(boolean is) throws Refused {
        if (!is) {
            throw new Refused("invalid");
        }
    }

    private static boolean validName(String name) {
        int n = name.getBytes(StandardCharsets.UTF_8).length;
        return n >= 1 && n <= 512 && name.indexOf(0) < 0;
    }
}
