package main

import (
	"context"
	"errors"
	"net"
	"sync"
)

// lateDial lets a client be made on connections like any other's, and takes those away
// before it is used: all later ones are dialled as the suite wants. A client asks its
// server when it is made, and would not come to be on the suite's connections, which
// may lead to a store that hangs.
type lateDial struct {
	then func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex
	made  bool // the client
	early []net.Conn
}

func (d *lateDial) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	made := d.made
	d.mu.Unlock()
	if made {
		return d.then(ctx, network, addr)
	}
	var direct net.Dialer
	c, err := direct.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.early = append(d.early, c)
	return c, nil
}

// ready ends the connections on which the client was made.
func (d *lateDial) ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made = true
	var failed error
	for _, c := range d.early {
		// One that the client has closed itself is closed as well.
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			failed = err
		}
	}
	return failed
}
