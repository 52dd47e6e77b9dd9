package leasetest

import (
	"context"
	"sync"
	"sync/atomic"
)

// countdown is a context that ends when it is looked at for the n-th time: a
// way to end a call's context in the middle of the call, without a clock and
// the same each time.
type countdown struct {
	context.Context
	left   atomic.Int32
	once   sync.Once
	cancel context.CancelFunc
}

// endingContext returns a context that ends at the look-th look at it. Looks
// are calls of Done and Err.
func endingContext(parent context.Context, look int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	c := &countdown{Context: ctx, cancel: cancel}
	c.left.Store(int32(look))
	return c, cancel
}

func (c *countdown) look() {
	if c.left.Add(-1) < 0 {
		c.once.Do(c.cancel)
	}
}

func (c *countdown) Done() <-chan struct{} { c.look(); return c.Context.Done() }
func (c *countdown) Err() error            { c.look(); return c.Context.Err() }
