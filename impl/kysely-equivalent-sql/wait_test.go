package sqllease_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/impl/kysely-equivalent-sql/sqlitetest"
)

// A call that waits for the write lock past the expiry is judged by the clock
// after the wait (EXPIRY-8), whether SQLite waits or the service tries again.
func TestWaitForWriteLock(t *testing.T) {
	const ttl = time.Minute
	ctx := context.Background()
	for _, journal := range []string{"wal", "delete"} {
		for _, busy := range []time.Duration{0, 5 * time.Second} {
			t.Run(fmt.Sprintf("%s, busy_timeout %v", journal, busy), func(t *testing.T) {
				f := sqlitetest.New(t, journal, busy)
				svc := f.Service(t, "")
				for _, call := range []struct {
					name string
					do   func(l lease.Lease) (lease.Lease, error)
					want error // nil: a new grant
				}{
					{"Acquire by another holder", func(l lease.Lease) (lease.Lease, error) { return svc.Acquire(ctx, l.Key, "b", ttl) }, nil},
					{"Acquire by its holder", func(l lease.Lease) (lease.Lease, error) { return svc.Acquire(ctx, l.Key, "a", ttl) }, nil},
					{"Renew", func(l lease.Lease) (lease.Lease, error) { return svc.Renew(ctx, l, time.Hour) }, lease.ErrLost},
					{"Acquire of a new key", func(l lease.Lease) (lease.Lease, error) { return svc.Acquire(ctx, "new", "a", ttl) }, nil},
				} {
					before, err := svc.Acquire(ctx, call.name, "a", ttl)
					if err != nil {
						t.Fatal(err)
					}
					unlock := lockFile(t, f)
					sent, reads := f.Sent(), f.ClockReads()
					var got lease.Lease
					done := make(chan struct{})
					go func() {
						defer close(done)
						got, err = call.do(before)
					}()
					// Without a timeout of its own SQLite refuses at once, so a second
					// statement shows that the first one met the lock.
					want := sent + 1
					if busy == 0 {
						want++
					}
					select {
					case <-f.WhenSent(want):
					case <-done:
						t.Errorf("%s did not wait for the lock: got %v, %v", call.name, got, err)
					}
					f.SetClock(before.ExpiresAt)
					if n := f.ClockReads() - reads; n != 0 {
						t.Errorf("%s looked at the clock %d times while it waited for the lock", call.name, n)
					}
					unlock()
					<-done
					switch {
					case call.want != nil:
						if !errors.Is(err, call.want) {
							t.Errorf("%s: got %v, %v, want %v", call.name, got, err, call.want)
						}
					case err != nil || got.Key == before.Key && got.Token <= before.Token || got.ExpiresAt.Before(before.ExpiresAt.Add(ttl)):
						t.Errorf("%s: got %v, %v, want a new grant for %v from %v on", call.name, got, err, ttl, before.ExpiresAt)
					}
				}
			})
		}
	}
}

// A call whose context ends while it waits for the lock returns before the lock is
// free, and takes effect no more (ERR-1).
func TestContextEndsWhileLocked(t *testing.T) {
	for _, busy := range []time.Duration{0, time.Hour} {
		t.Run(fmt.Sprintf("busy_timeout %v", busy), func(t *testing.T) {
			f := sqlitetest.New(t, "wal", busy)
			svc := f.Service(t, "")
			unlock := lockFile(t, f)
			ctx, cancel := context.WithCancel(context.Background())
			waits := f.WhenSent(f.Sent() + 1)
			done := make(chan error)
			go func() {
				_, err := svc.Acquire(ctx, "job", "a", time.Hour)
				done <- err
			}()
			<-waits
			cancel()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want context.Canceled", err)
				}
			case <-time.After(30 * time.Second):
				t.Error("the call waits on, though its context has ended")
			}
			unlock()
			if _, err := svc.Get(context.Background(), "job"); !errors.Is(err, lease.ErrNotHeld) {
				t.Errorf("Get after it: got %v, want ErrNotHeld", err)
			}
		})
	}
}

// lockFile takes the write lock of the file, in another process's stead, and
// returns what gives it back, with nothing changed.
func lockFile(t testing.TB, f *sqlitetest.File) (unlock func()) {
	t.Helper()
	ctx := context.Background()
	conn, err := f.DB(t).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE; UPDATE leases SET expires = 0, token = token + 1"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}
