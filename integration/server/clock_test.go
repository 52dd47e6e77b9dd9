package server

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/chaos/clock"
)

// Every server shows the clock that the test moves, in all ways to ask for it.
func TestClock(t *testing.T) {
	type reader func(t *testing.T) time.Time
	for kind, open := range map[string]func(t *testing.T) (*clock.Clock, map[string]reader){
		"Redis": func(t *testing.T) (*clock.Clock, map[string]reader) {
			s := Redis(t)
			client := redis.NewClient(&redis.Options{Addr: s.Addr()})
			t.Cleanup(func() { client.Close() })
			read := func(script string) reader {
				return func(t *testing.T) time.Time {
					v, err := client.Eval(context.Background(), script, []string{"key"}).Int64()
					if err != nil {
						t.Fatal(err)
					}
					return time.UnixMicro(v)
				}
			}
			return s.Clock(), map[string]reader{
				"TIME": read("local t = redis.call('TIME'); return t[1]*1000000+t[2]"),
				"PTTL": read("redis.call('SET', KEYS[1], '', 'PXAT', 7258118400000); return (7258118400000 - redis.call('PTTL', KEYS[1])) * 1000"),
			}
		},
		"PostgreSQL": func(t *testing.T) (*clock.Clock, map[string]reader) {
			s := Postgres(t)
			conn, err := pgx.Connect(t.Context(), s.DSN())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close(context.Background()) })
			read := func(call string) reader {
				return func(t *testing.T) (now time.Time) {
					if err := conn.QueryRow(t.Context(), "SELECT "+call).Scan(&now); err != nil {
						t.Fatal(err)
					}
					return now
				}
			}
			return s.Clock(), map[string]reader{
				"clock_timestamp()": read("clock_timestamp()"),
				"now()":             read("now()"),
			}
		},
		"MariaDB": func(t *testing.T) (*clock.Clock, map[string]reader) {
			s := MariaDB(t)
			db, err := sql.Open("mysql", s.DSN())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			read := func(call string) reader {
				return func(t *testing.T) time.Time {
					var now int64
					query := "SET STATEMENT time_zone='+00:00' FOR SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + call + ")"
					if err := db.QueryRow(query).Scan(&now); err != nil {
						t.Fatal(err)
					}
					return time.UnixMicro(now)
				}
			}
			// Not NOW: it never repeats an instant, and counts on by 1 µs.
			return s.Clock(), map[string]reader{"SYSDATE(6)": read("SYSDATE(6)")}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			c, readers := open(t)
			if c == nil {
				t.Fatal("the server has no clock that can be moved")
			}
			defer c.Reset()
			check := func(what string) {
				t.Helper()
				for name, read := range readers {
					before := c.Now().Truncate(time.Millisecond)
					got := read(t)
					if after := c.Now(); got.Before(before) || got.After(after) {
						t.Errorf("%s: %s is %v, want %v to %v", what, name, got.UTC(), before.UTC(), after.UTC())
					}
				}
			}
			check("at the start")
			c.Move(24 * time.Hour)
			check("a day ahead")
			c.Move(-10 * 365 * 24 * time.Hour)
			check("ten years back")
			c.Freeze(true)
			stands := c.Now()
			check("standing")
			if again := c.Now(); again != stands {
				t.Errorf("the clock went on to %v from %v while it stood", again, stands)
			}
			c.Move(150 * 365 * 24 * time.Hour)
			check("standing, 150 years on")
			c.Move(time.Date(1971, 1, 2, 0, 0, 0, 0, time.UTC).Sub(c.Now()))
			check("standing in 1971")
			c.Move(40 * 365 * 24 * time.Hour)
			c.Freeze(false)
			check("running on")
			c.Reset()
			check("after Reset")
		})
	}
}

// MariaDB waits for a row lock until an instant on its clock: after a step back
// that must not have passed.
func TestLockWaitAfterStepBack(t *testing.T) {
	s, ctx := MariaDB(t), t.Context()
	db, err := sql.Open("mysql", s.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var conns [2]*sql.Conn
	for n := range conns {
		if conns[n], err = db.Conn(ctx); err != nil {
			t.Fatal(err)
		}
		defer conns[n].Close()
	}
	holder, waiter := conns[0], conns[1]
	for _, statement := range []string{
		"CREATE TABLE x (k INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO x VALUES (1)", "BEGIN", "SELECT * FROM x FOR UPDATE",
	} {
		if _, err := holder.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if s.Clock() == nil {
		t.Fatal("the server has no clock that can be moved")
	}
	defer s.Clock().Reset()
	s.Clock().Move(-365 * 24 * time.Hour)
	done := make(chan error, 1)
	go func() {
		_, err := waiter.ExecContext(ctx, "UPDATE x SET k = 2")
		done <- err
	}()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for waiting, deadline := 0, time.Now().Add(patience); waiting == 0; {
		select {
		case err := <-done:
			t.Fatalf("the statement did not wait for the lock: %v", err)
		case <-again.C:
		}
		if time.Now().After(deadline) {
			t.Fatalf("no statement waits for the lock after %v", patience)
		}
		const query = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
		if err := db.QueryRowContext(ctx, query).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := holder.ExecContext(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the statement that waited for the lock: %v", err)
	}
}
