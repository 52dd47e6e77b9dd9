package redislease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// replicas are what has to confirm a grant before it is answered.
type replicas struct {
	client  redis.UniversalClient
	want    int
	timeout time.Duration
}

// confirmed makes a call and waits on the same connection: WAIT is about what was
// written on its own. It is sent only after something was, for without it would wait
// all the same.
func (w *replicas) confirmed(ctx context.Context, h host, c *call) (reply, error) {
	r, conn, err := w.exchange(ctx, c)
	if conn != nil {
		defer conn.Close()
	}
	if err != nil || !r.is("granted", 2) && !r.is("kept", 2) && !r.is("renewed", 1) {
		return r, err
	}
	if err = w.wait(ctx, conn); err == nil {
		return r, nil
	}
	if r.is("granted", 2) {
		// Nobody knows of it yet, so it may as well go. That can fail too, or be
		// as lost as the grant: then the grant ends at its expiry. The context
		// may have ended, and must not keep the other from being released.
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.timeout)
		defer cancel()
		holder, token := c.texts[2], r.words[1]
		_, undoing := h.exchange(undo, newCall(releaseScript, 2, c.texts[0], c.texts[1], holder, token))
		err = errors.Join(err, undoing)
	}
	return reply{}, fmt.Errorf("the outcome is unknown: %w", err)
}

// exchange makes a call on a connection of its own, which is returned: to the
// server, or to the node that has the keys.
func (w *replicas) exchange(ctx context.Context, c *call) (reply, *redis.Conn, error) {
	switch client := w.client.(type) {
	case *redis.Client:
		conn := client.Conn()
		r, err := host{conn}.exchange(ctx, c)
		return r, conn, err
	case *redis.ClusterClient:
		for again := 3; ; again-- {
			node, err := client.MasterForKey(ctx, c.texts[0])
			if err != nil {
				return reply{}, nil, err
			}
			conn := node.Conn()
			r, err := host{conn}.exchange(ctx, c)
			if again == 0 || !redis.HasErrorPrefix(err, "MOVED") {
				return r, conn, err
			}
			conn.Close() // the slot has moved, and nothing was executed
			client.ReloadState(ctx)
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return reply{}, nil, err
			}
		}
	}
	return reply{}, nil, fmt.Errorf("replicas can't be waited for with a %T", w.client)
}

// wait waits until enough replicas have what was written on the connection.
func (w *replicas) wait(ctx context.Context, conn *redis.Conn) error {
	// Never repeated: on another connection WAIT would answer at once.
	// Nor with a timeout of 0, which would be none.
	cmd := once{redis.NewCmd(ctx, "wait", w.want, max(w.timeout.Milliseconds(), 1))}
	if err := conn.Process(ctx, cmd); err != nil {
		return fmt.Errorf("wait for %d replicas: %w", w.want, err)
	}
	n, err := cmd.Int()
	if err != nil {
		return fmt.Errorf("wait for %d replicas: %w", w.want, err)
	}
	if n < w.want {
		return fmt.Errorf("%d of %d replicas have it after %v", n, w.want, w.timeout)
	}
	return nil
}
