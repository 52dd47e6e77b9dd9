package integration

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	"github.com/leasekit/lease/fence"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// confirming is a service that remembers the last grant or renewal that was
// answered, and how many there were.
type confirming struct {
	lease.Service
	mu    sync.Mutex
	last  lease.Lease
	count int
	more  chan struct{} // gets a value, if there is room, with each
}

func (c *confirming) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	return c.note(c.Service.Acquire(ctx, key, holder, ttl))
}

func (c *confirming) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	return c.note(c.Service.Renew(ctx, l, ttl))
}

func (c *confirming) note(l lease.Lease, err error) (lease.Lease, error) {
	if err == nil {
		c.mu.Lock()
		c.last, c.count = l, c.count+1
		c.mu.Unlock()
		select {
		case c.more <- struct{}{}:
		default:
		}
	}
	return l, err
}

func (c *confirming) seen() (lease.Lease, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.count
}

// holdBed is a Redis, and a holder that reaches it over a link.
type holdBed struct {
	srv  *server.RedisServer
	link *chaos.Link
	confirming
}

func newHoldBed(t *testing.T) *holdBed {
	t.Helper()
	redis.SetLogger(silence{})
	b := &holdBed{srv: server.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")}
	link, err := chaos.NewLink("of the holder")
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(chaosRedis(b.srv.Addr(), link.Dial, nil))
	t.Cleanup(func() { client.Close(); link.Close() })
	b.link, b.confirming = link, confirming{Service: redislease.New(client, nil), more: make(chan struct{}, 1)}
	return b
}

// awaitMore waits until a renewal is answered that was not when it was called.
func (b *holdBed) awaitMore(t *testing.T) {
	t.Helper()
	_, before := b.seen()
	for over := time.After(10 * time.Second); ; {
		if _, n := b.seen(); n > before {
			return
		}
		select {
		case <-b.more:
		case <-over:
			t.Fatal("the lease is not renewed")
		}
	}
}

var holdFaults = map[string]func(b *holdBed) chaos.Fault{
	"black hole": func(b *holdBed) chaos.Fault { return chaos.BlackHole(b.link) },
	"deaf":       func(b *holdBed) chaos.Fault { return chaos.Deaf(b.link) },
	"cut":        func(b *holdBed) chaos.Fault { return chaos.Cut(b.link) },
	"reset":      func(b *holdBed) chaos.Fault { return chaos.Reset(b.link) },
	"lost reply": func(b *holdBed) chaos.Fault { return chaos.LoseReply(b.link, chaos.Aim{}) },
	"pause":      func(b *holdBed) chaos.Fault { return chaos.Pause(b.srv.Process(), b.link) },
	"kill":       func(b *holdBed) chaos.Fault { return chaos.Kill(b.srv.Process(), b.link) },
}

// HOLD-4 on real faults: whatever keeps renewals from being confirmed, the body is
// cancelled before the lease may have ended, by the server's clock, which is this
// machine's.
func TestHoldIsCancelledInTime(t *testing.T) {
	for name, fault := range holdFaults {
		t.Run(name, func(t *testing.T) {
			b := newHoldBed(t)
			f := fault(b)
			var cancelled time.Time
			// The margin is what this test may take to notice.
			o := &lease.HoldOptions{TTL: 2 * time.Second, Margin: 600 * time.Millisecond}
			err := lease.Hold(patient(t), b, "job", o, func(ctx context.Context, _ lease.Lease) error {
				b.awaitMore(t) // the lease has been renewed once
				if err := f.Start(patient(t)); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				cancelled = time.Now()
				if err := f.Heal(patient(t)); err != nil {
					t.Error(err)
				}
				return context.Cause(ctx)
			})
			if !errors.Is(err, lease.ErrLost) {
				t.Errorf("Hold: got %v, want ErrLost", err)
			}
			if f.Hits() == 0 {
				t.Error("the fault hit nothing")
			}
			if last, _ := b.seen(); !cancelled.Before(last.ExpiresAt) {
				t.Errorf("the body was cancelled at %v, and the lease ended at %v", cancelled, last.ExpiresAt)
			}
		})
	}
}

// HOLD-5 on real faults: one that is over before the lease may have ended does not
// end the body, and the lease is renewed again.
func TestHoldOutlivesShortFaults(t *testing.T) {
	for name, fault := range holdFaults {
		t.Run(name, func(t *testing.T) {
			b := newHoldBed(t)
			f := fault(b)
			o := &lease.HoldOptions{TTL: 10 * time.Second, RenewEvery: 100 * time.Millisecond}
			err := lease.Hold(patient(t), b, "job", o, func(ctx context.Context, _ lease.Lease) error {
				b.awaitMore(t)
				if err := f.Start(patient(t)); err != nil {
					t.Error(err)
				}
				insist(t, "until the fault hits", func() bool { return f.Hits() > 0 })
				if err := f.Heal(patient(t)); err != nil {
					t.Error(err)
				}
				b.awaitMore(t)
				return ctx.Err()
			})
			if err != nil {
				t.Errorf("Hold: %v", err)
			}
		})
	}
}

// A holder that does not heed its context goes on writing after the partition has
// cost it the lease. The resource refuses it (FENCE-1).
func TestFenceRefusesThePartitionedHolder(t *testing.T) {
	b := newHoldBed(t)
	client := redisClient(t, b.srv, nil)
	resource, others := redislease.NewFence(client, nil), redislease.New(client, nil)
	ctx := patient(t)
	f := chaos.Partition(b.link)
	err := lease.Hold(ctx, b, "job", &lease.HoldOptions{TTL: 500 * time.Millisecond}, func(_ context.Context, l lease.Lease) error {
		if err := resource.Write(ctx, "disk", l.Token, "first"); err != nil {
			t.Errorf("write with the lease: %v", err)
		}
		if err := f.Start(ctx); err != nil {
			t.Error(err)
		}
		var next lease.Lease
		insist(t, "another gets the lease", func() (ok bool) {
			var err error
			next, err = others.Acquire(ctx, "job", "next", time.Minute)
			return err == nil
		})
		if err := resource.Write(ctx, "disk", next.Token, "next"); err != nil {
			t.Errorf("write by the next holder: %v", err)
		}
		if err := resource.Write(ctx, "disk", l.Token, "late"); !errors.Is(err, fence.ErrStale) {
			t.Errorf("write after the partition: got %v, want ErrStale", err)
		}
		return f.Heal(ctx)
	})
	if !errors.Is(err, lease.ErrLost) {
		t.Errorf("Hold: got %v, want ErrLost", err)
	}
	if value, _, err := resource.Read(ctx, "disk"); err != nil || value != "next" {
		t.Errorf("the disk has %q, %v, want what the next holder wrote", value, err)
	}
}
