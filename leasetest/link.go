package leasetest

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// blackHole is a network whose connections open at once, take every byte and
// never answer.
type blackHole struct {
	reached chan struct{} // gets a value, if there is room, when a client waits for an answer
	dials   atomic.Int32

	mu    sync.Mutex
	conns []net.Conn
}

func newBlackHole() *blackHole { return &blackHole{reached: make(chan struct{}, 1)} }

func (b *blackHole) dial(context.Context, string, string) (net.Conn, error) {
	b.dials.Add(1)
	client, server := net.Pipe()
	b.mu.Lock()
	b.conns = append(b.conns, server)
	b.mu.Unlock()
	go func() {
		io.Copy(io.Discard, server)
		server.Close()
	}()
	return waiting{client, b.reached}, nil
}

// close ends what is left of the connections.
func (b *blackHole) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.conns {
		c.Close()
	}
}

// waiting is the client's end of a connection into the hole; it tells when the
// client begins to wait for an answer, be it to a request or the greeting with
// which some servers begin.
type waiting struct {
	net.Conn
	reached chan<- struct{}
}

func (w waiting) Read(p []byte) (int, error) {
	w.tell()
	return w.Conn.Read(p)
}

// Write tells it too: a client with a reader of its own waits from then on.
func (w waiting) Write(p []byte) (int, error) {
	defer w.tell()
	return w.Conn.Write(p)
}

func (w waiting) tell() {
	select {
	case w.reached <- struct{}{}:
	default:
	}
}

// refuse is a network on which nobody listens.
func refuse(dials *atomic.Int32) func(context.Context, string, string) (net.Conn, error) {
	return func(_ context.Context, network, _ string) (net.Conn, error) {
		dials.Add(1)
		return nil, &net.OpError{Op: "dial", Net: network, Err: errRefused}
	}
}
