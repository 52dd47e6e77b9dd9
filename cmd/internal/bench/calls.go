package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
)

// plain makes a call of a function whose time is the call's.
func plain(do func(ctx context.Context) error) call {
	return func(ctx context.Context) (time.Duration, error) { return 0, do(ctx) }
}

// bareCall makes the round trips of a workload's floor, in turn.
func bareCall(e *env, w *Workload, f floor) call {
	if w.bare != nil {
		return w.bare(e, f)
	}
	key := e.key()
	return plain(func(ctx context.Context) error {
		for _, kind := range w.floor {
			if err := f(ctx, kind, key); err != nil {
				return err
			}
		}
		return nil
	})
}

func acquireRelease(e *env) (call, error) {
	l, key, ttl := e.lock(""), e.key(), e.c.TTL
	return plain(func(ctx context.Context) error {
		if err := l.acquire(ctx, key, ttl); err != nil {
			return err
		}
		return l.release(ctx)
	}), nil
}

func renew(e *env) (call, error) {
	l, ttl := e.lock(""), e.c.TTL
	if err := l.acquire(e.ctx, e.key(), ttl); err != nil {
		return nil, err
	}
	return plain(func(ctx context.Context) error { return l.renew(ctx, ttl) }), nil
}

func get(e *env) (call, error) {
	l := e.lock("")
	if err := l.acquire(e.ctx, e.key(), heldThroughout); err != nil {
		return nil, err
	}
	return plain(func(ctx context.Context) error { return l.get(ctx) }), nil
}

// heldThroughout is the ttl of leases that nobody renews while a row is measured.
const heldThroughout = 24 * time.Hour

func refused(e *env) (call, error) {
	holder, other, key, ttl := e.lock("-holder"), e.lock(""), e.key(), e.c.TTL
	if err := holder.acquire(e.ctx, key, heldThroughout); err != nil {
		return nil, err
	}
	return plain(func(ctx context.Context) error {
		err := other.acquire(ctx, key, ttl)
		switch {
		case held(err):
			return nil
		case err == nil:
			return errors.New("granted although another holds the key")
		}
		return err
	}), nil
}

func manyKeysCall(e *env) (call, error) {
	l, next, ttl := e.lock(""), e.round(), e.c.TTL
	return plain(func(ctx context.Context) error {
		if err := l.acquire(ctx, next(), ttl); err != nil {
			return err
		}
		return l.release(ctx)
	}), nil
}

func manyKeysBare(e *env, f floor) call {
	next := e.round()
	return plain(func(ctx context.Context) error {
		key := next()
		if err := f(ctx, write, key); err != nil {
			return err
		}
		return f(ctx, write, key)
	})
}

// round returns the keys of many-keys that are this worker's, one after the other.
func (e *env) round() func() string {
	i, step := e.worker, e.workers
	return func() string {
		if i >= len(e.shared.keys) {
			i = e.worker
		}
		key := e.shared.keys[i]
		i += step
		return key
	}
}

func hotKeyBare(e *env, f floor) call {
	key := e.key()
	return plain(func(ctx context.Context) error {
		select {
		case e.shared.won <- struct{}{}:
			defer func() { <-e.shared.won }()
			if err := f(ctx, write, key); err != nil {
				return err
			}
			return f(ctx, write, key)
		default:
			if err := f(ctx, write, key); err != nil {
				return err
			}
			return lease.ErrHeld
		}
	})
}

func handOver(e *env) (call, error) {
	from, to, key, poll := e.lock("-a"), e.lock("-b"), e.key(), e.c.Poll
	if err := from.acquire(e.ctx, key, heldThroughout); err != nil {
		return nil, err
	}
	type grant struct {
		at  time.Time
		err error
	}
	return func(ctx context.Context) (time.Duration, error) {
		asking, giveUp := context.WithCancel(ctx)
		defer giveUp()
		waiting, granted := make(chan struct{}), make(chan grant, 1)
		go func() {
			err := to.acquire(asking, key, heldThroughout)
			close(waiting) // it has been refused, as a rule
			if held(err) {
				err = ask(asking, to, key, heldThroughout, poll, heldThroughout)
			}
			granted <- grant{time.Now(), err}
		}()
		<-waiting
		began := time.Now()
		released := from.release(ctx)
		if released != nil {
			giveUp()
		}
		g := <-granted
		if err := errors.Join(released, g.err); err != nil {
			return 0, err
		}
		from, to = to, from
		return g.at.Sub(began), nil
	}, nil
}

// ask acquires the key until it is granted, or gives up.
func ask(ctx context.Context, l lock, key string, ttl, poll, patience time.Duration) error {
	began := time.Now()
	for {
		err := l.acquire(ctx, key, ttl)
		if !held(err) {
			return err
		}
		if waited := time.Since(began); waited > patience {
			return fmt.Errorf("not granted after %v, and still refused", waited)
		}
		if err := pause(ctx, poll); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takeover counts from ttl after the request was sent: the lease can't be over before
// that. It begins to ask a little earlier.
func takeover(e *env) (call, error) {
	from, to, key := e.lock("-a"), e.lock("-b"), e.key()
	ttl, poll, keep := e.c.TakeoverTTL, e.c.Poll, e.c.TTL
	return func(ctx context.Context) (time.Duration, error) {
		over := time.Now().Add(ttl)
		if err := from.acquire(ctx, key, ttl); err != nil {
			return 0, err
		}
		if err := pause(ctx, time.Until(over)-ttl/10); err != nil {
			return 0, err
		}
		if err := ask(ctx, to, key, keep, poll, 10*ttl+5*time.Second); err != nil {
			return 0, err
		}
		late := time.Since(over)
		if late <= 0 {
			return 0, fmt.Errorf("granted %v before the lease of another was over", -late)
		}
		return late, to.release(ctx)
	}, nil
}

func hold(e *env, s lease.Service, _ fence.Resource) (call, error) {
	o, key := &lease.HoldOptions{TTL: e.c.TTL}, e.key()
	body := func(context.Context, lease.Lease) error { return nil }
	return plain(func(ctx context.Context) error { return lease.Hold(ctx, s, key, o, body) }), nil
}

func fencedWrite(e *env, _ lease.Service, f fence.Resource) (call, error) {
	key, token := e.key(), int64(0)
	return plain(func(ctx context.Context) error {
		token++
		return f.Write(ctx, key, token, "sixteen bytes...")
	}), nil
}
