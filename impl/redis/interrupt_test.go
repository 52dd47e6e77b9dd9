package redislease

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
)

// link connects a client to a Redis in the same synctest bubble, and can fail.
// In the bubble time passes only when everything waits, so tests of timeouts
// are exact, and a goroutine that is left behind fails them.
type link struct {
	redis *miniredis.Miniredis

	mu    sync.Mutex
	stuck chan struct{} // not nil: replies wait until it is closed
	lose  bool          // the next command is delivered, its reply lost
	sent  int           // scripts that were sent
}

func newLink(t *testing.T) *link {
	l := &link{redis: miniredis.NewMiniRedis()}
	l.redis.SetTime(noon)
	t.Cleanup(l.redis.Close)
	return l
}

func (l *link) client(t *testing.T, o redis.Options) *redis.Client {
	t.Helper()
	if o.Dialer == nil {
		o.Dialer = l.dial
	}
	return newClient(t, &o)
}

func (l *link) dial(context.Context, string, string) (net.Conn, error) {
	c, err := l.redis.Dial()
	return &linkConn{Conn: c, link: l}, err
}

// hang makes replies wait from now on, until the function it returns is called.
func (l *link) hang() (release func()) {
	stuck := make(chan struct{})
	l.mu.Lock()
	l.stuck = stuck
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.stuck = nil
		l.mu.Unlock()
		close(stuck)
	}
}

func (l *link) loseNext() {
	l.mu.Lock()
	l.lose = true
	l.mu.Unlock()
}

func (l *link) scripts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

type linkConn struct {
	net.Conn
	link *link
	lost bool
}

func (c *linkConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.Contains(bytes.ToLower(b), []byte("\r\neval")) {
		l.sent++
		c.lost, l.lose = l.lose, false
	}
	return n, err
}

func (c *linkConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.link.mu.Lock()
	stuck, lost := c.link.stuck, c.lost
	c.link.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	if lost {
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// each is every call, on a service and with a context.
var each = map[string]func(context.Context, *Service) (lease.Lease, error){
	"Acquire": func(ctx context.Context, s *Service) (lease.Lease, error) {
		return s.Acquire(ctx, "job", "a", time.Hour)
	},
	"Renew": func(ctx context.Context, s *Service) (lease.Lease, error) {
		return s.Renew(ctx, lease.Lease{Key: "job", Holder: "a", Token: 1}, time.Hour)
	},
	"Release": func(ctx context.Context, s *Service) (lease.Lease, error) {
		return lease.Lease{}, s.Release(ctx, lease.Lease{Key: "job", Holder: "a", Token: 1})
	},
	"Get": func(ctx context.Context, s *Service) (lease.Lease, error) { return s.Get(ctx, "job") },
}

// ERR-1: with a context that is done nothing is sent.
func TestDoneContext(t *testing.T) {
	client := newStore(t).client(t)
	var sent commands
	client.AddHook(&sent)
	s := New(client, nil)
	canceled, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("no more need"))
	expired, cancelExpired := context.WithTimeout(context.Background(), 0)
	defer cancelExpired()
	for _, ctx := range []context.Context{canceled, expired} {
		for name, call := range each {
			if l, err := call(ctx, s); !errors.Is(err, ctx.Err()) || l != (lease.Lease{}) {
				t.Errorf("%s: got %v, %v, want no lease and %v", name, l, err, ctx.Err())
			}
		}
	}
	if n := sent.n.Load(); n != 0 {
		t.Errorf("%d commands were sent, want none", n)
	}
}

// ERR-1, ERR-6: a call ends with its context although Redis hangs, and leaves
// nothing behind once the client has timed out – or the bubble would not end.
func TestContextEndsWhileRedisHangs(t *testing.T) {
	for _, deadlines := range []bool{false, true} {
		for name, call := range each {
			synctest.Test(t, func(t *testing.T) {
				l := newLink(t)
				s := New(l.client(t, redis.Options{ContextTimeoutEnabled: deadlines}), nil)
				acquire(t, s, "job", "a", time.Hour)
				release := l.hang()
				defer func() {
					release()
					synctest.Wait()
				}()

				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				start := time.Now()
				got, err := call(ctx, s)
				if took := time.Since(start); took != time.Second {
					t.Errorf("%s: returned after %v, want 1s", name, took)
				}
				if !errors.Is(err, context.DeadlineExceeded) || isSentinel(err) || got != (lease.Lease{}) {
					t.Errorf("%s: got %v, %v, want no lease and context.DeadlineExceeded", name, got, err)
				}

				ctx, cancel = context.WithCancel(context.Background())
				defer cancel()
				start = time.Now()
				time.AfterFunc(2*time.Second, cancel)
				_, err = call(ctx, s)
				if took := time.Since(start); took != 2*time.Second {
					t.Errorf("%s: returned after %v, want 2s", name, took)
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: got %v, want context.Canceled", name, err)
				}
			})
		}
	}
}

// late is a context whose deadline has passed before it has noticed.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }

// ERR-1: whatever the client's error is, it is the context's too, if that has
// ended, and only then.
func TestErrorOfEndedContext(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	client := errors.New("i/o timeout")
	for _, tt := range []struct {
		name string
		ctx  context.Context
		want error // nil: neither
	}{
		{"canceled", canceled, context.Canceled},
		{"deadline passed", late{context.Background()}, context.DeadlineExceeded},
		{"live", context.Background(), nil},
	} {
		err := fail(tt.ctx, "get lease", "job", client)
		if !errors.Is(err, client) {
			t.Errorf("%s: got %v, want the client's error in it", tt.name, err)
		}
		for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
			if got := errors.Is(err, ended); got != (ended == tt.want) {
				t.Errorf("%s: errors.Is(%v, %v) is %v", tt.name, err, ended, got)
			}
		}
	}
}

// A reply that comes after its call has ended is not taken for another call's.
func TestLateReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(t)
		client := l.client(t, redis.Options{PoolSize: 1, MaxActiveConns: 1})
		s := New(client, nil)
		acquire(t, s, "other", "b", time.Hour)
		release := l.hang()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := s.Acquire(ctx, "job", "a", time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire: got %v, want context.DeadlineExceeded", err)
		}
		release()
		synctest.Wait()
		if got, err := s.Get(context.Background(), "other"); err != nil || got.Holder != "b" {
			t.Errorf("Get of the other lease: got %v, %v, want holder b", got, err)
		}
		if got, err := s.Get(context.Background(), "job"); err != nil || got.Holder != "a" {
			t.Errorf("Get: got %v, %v, want the grant of the call that ended", got, err)
		}
		if n := client.PoolStats().TotalConns; n != 1 {
			t.Errorf("%d connections, want the one", n)
		}
	})
}

// ERR-1: also while a connection is being made, and while waiting for one.
// go-redis ends the dial at DialTimeout, as the comment of New says, and no
// sooner.
func TestContextEndsWithoutConnection(t *testing.T) {
	const dialTimeout = 30 * time.Second
	synctest.Test(t, func(t *testing.T) {
		l := newLink(t)
		s := New(l.client(t, redis.Options{
			PoolSize:           4,
			MaxConcurrentDials: 1,
			DialTimeout:        dialTimeout,
			Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}), nil)
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				start := time.Now()
				_, err := s.Get(ctx, "job")
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
					t.Errorf("Get: got %v after %v, want context.DeadlineExceeded after 1s", err, time.Since(start))
				}
			})
		}
		calls.Wait()
		<-time.After(dialTimeout)
	})
}

// ERR-2, ERR-3: a call whose reply was lost is not sent again, even by a client
// that repeats commands, and can be repeated by the caller.
func TestLostReply(t *testing.T) {
	for name, call := range each {
		synctest.Test(t, func(t *testing.T) {
			l := newLink(t)
			s := New(l.client(t, redis.Options{MaxRetries: 3}), nil)
			want := acquire(t, s, "job", "a", time.Hour)
			if _, err := call(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name == "Release" {
				acquire(t, s, "job", "a", time.Hour)
			}
			l.loseNext()
			before := l.scripts()
			if _, err := call(t.Context(), s); err == nil || isSentinel(err) {
				t.Errorf("%s: got %v, want an error that is no sentinel", name, err)
			}
			if n := l.scripts() - before; n != 1 {
				t.Errorf("%s: sent %d times, want once", name, n)
			}
			got, err := call(t.Context(), s)
			if err != nil || name != "Release" && got != want {
				t.Errorf("%s, repeated: got %v, %v, want %v", name, got, err, want)
			}
		})
	}
}
