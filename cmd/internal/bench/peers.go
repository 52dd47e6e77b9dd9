package bench

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
)

// The other lock libraries, on the same client of the same Redis. None of them has
// fencing tokens, and each judges by the expiry of the Redis key.

// peer is another library.
type peer struct {
	name   string
	locker locker
	works  []string          // its commands on a Redis, the outermost ones
	cannot map[string]string // why it can't make the calls of a workload
}

func peers(client redis.UniversalClient, prefix string) []peer {
	return []peer{
		{"redislock", redislockLocker(redislock.New(client), prefix+"redislock:"), []string{"evalsha", "eval"}, nil},
		{"redsync", redsyncLocker(redsync.New(goredis.NewPool(client)), prefix+"redsync:"), []string{"set", "evalsha", "eval"}, map[string]string{
			"get": "redsync goes by its own clock, and does not ask the store",
		}},
	}
}

// redislockLock is a lock of github.com/bsm/redislock.
type redislockLock struct {
	client *redislock.Client
	prefix string
	held   *redislock.Lock
}

func redislockLocker(client *redislock.Client, prefix string) locker {
	return func(string) lock { return &redislockLock{client: client, prefix: prefix} }
}

func (l *redislockLock) acquire(ctx context.Context, key string, ttl time.Duration) error {
	got, err := l.client.Obtain(ctx, l.prefix+key, ttl, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return lease.ErrHeld
	}
	if err == nil {
		l.held = got
	}
	return err
}

func (l *redislockLock) renew(ctx context.Context, ttl time.Duration) error {
	return l.held.Refresh(ctx, ttl, nil)
}

func (l *redislockLock) get(ctx context.Context) error {
	left, err := l.held.TTL(ctx)
	if err == nil && left <= 0 {
		return lease.ErrNotHeld
	}
	return err
}

func (l *redislockLock) release(ctx context.Context) error { return l.held.Release(ctx) }

// redsyncLock is a lock of github.com/go-redsync/redsync.
type redsyncLock struct {
	sync   *redsync.Redsync
	prefix string
	held   *redsync.Mutex
}

func redsyncLocker(sync *redsync.Redsync, prefix string) locker {
	return func(string) lock { return &redsyncLock{sync: sync, prefix: prefix} }
}

func (l *redsyncLock) acquire(ctx context.Context, key string, ttl time.Duration) error {
	m := l.sync.NewMutex(l.prefix+key, redsync.WithExpiry(ttl), redsync.WithTries(1))
	err := m.TryLockContext(ctx)
	if taken := (*redsync.ErrTaken)(nil); errors.As(err, &taken) {
		return lease.ErrHeld
	}
	if err == nil {
		l.held = m
	}
	return err
}

// renew has no ttl of its own: that of acquire is used again.
func (l *redsyncLock) renew(ctx context.Context, _ time.Duration) error {
	return lost(l.held.ExtendContext(ctx))
}

func (l *redsyncLock) get(context.Context) error { return errors.ErrUnsupported }

func (l *redsyncLock) release(ctx context.Context) error { return lost(l.held.UnlockContext(ctx)) }

func lost(ok bool, err error) error {
	if err == nil && !ok {
		return lease.ErrLost
	}
	return err
}
