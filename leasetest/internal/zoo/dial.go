package zoo

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// errUnreachable marks the errors of a store that was not reached, or did not
// answer.
var errUnreachable = errors.New("store unreachable")

// reach makes the way to the store and back, where the worker was given one:
// it sends one byte and waits for one byte. That the store is in this process
// must not keep the suite from breaking the link.
func reach(ctx context.Context, w *worker) error {
	if w.dial == nil {
		return nil
	}
	err := roundTrip(ctx, w)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("ask the store: %w", ctx.Err())
	}
	return err
}

func roundTrip(ctx context.Context, w *worker) error {
	conn, err := w.dial(ctx, "tcp", "127.0.0.1:1")
	if err != nil {
		return fmt.Errorf("dial the store: %w: %w", errUnreachable, err)
	}
	defer conn.Close()
	// Closing ends the write or the read that is under way. A second close
	// does no harm.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := conn.Write([]byte{1}); err != nil {
		return fmt.Errorf("ask the store: %w: %w", errUnreachable, err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for the store's answer: %w: %w", errUnreachable, err)
	}
	return nil
}
