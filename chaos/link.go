package chaos

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Link is the network between one worker and the store: a TCP proxy that carries
// everything both ways until a fault is put on it. Give a client its Dial; for
// a client that takes an address only, there is Listen.
//
// A link knows nothing of the protocol. It takes for a request what a client
// sends until the server answers, and for the reply what the server sends
// until the client goes on. That fits every protocol in which a connection
// has one request under way at a time.
type Link struct {
	name     string
	listener net.Listener // for Dial: each connection is two of TCP

	dialing sync.Mutex // makes one pair at a time

	mu     sync.Mutex
	closed bool
	others []net.Listener // of Listen
	pipes  map[*pipe]struct{}
	faults []*put // that are on, in the order in which they are asked
	counts Counts

	running sync.WaitGroup
}

// put is a fault that is on a link.
type put struct {
	tamper
	healed chan struct{} // closed when it ends
}

// Counts is what a link has carried.
type Counts struct {
	Dials    int // connections that a client has opened, or tried to
	Refused  int // of them, those that the server or a fault refused
	Requests int // requests that a client has begun to send
	Replies  int // requests that the server has begun to answer
	Lost     int // requests that the server has not answered: it ended the connection
	Doubled  int // requests that a fault delivered twice
	Open     int // connections that are open now
}

// NewLink makes a link. The name is for error texts.
func NewLink(name string) (*Link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("make link %s: %w", name, err)
	}
	return &Link{name: name, listener: l, pipes: map[*pipe]struct{}{}}, nil
}

// Dial opens a connection through the link. It is a TCP connection whatever the
// network is, so that it can break as one.
func (l *Link) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := l.admit(ctx); err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	server, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		l.count(func(c *Counts) { c.Refused++ })
		return nil, err
	}
	client, far, err := l.pair(ctx)
	if err != nil {
		server.Close()
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if err := l.open(far, server); err != nil {
		client.Close()
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	return client, nil
}

// pair makes the connection between the client and the link.
func (l *Link) pair(ctx context.Context) (client, far net.Conn, err error) {
	l.dialing.Lock()
	defer l.dialing.Unlock()
	client, err = (&net.Dialer{}).DialContext(ctx, "tcp", l.listener.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	for {
		far, err = l.listener.Accept()
		if err != nil {
			client.Close()
			return nil, nil, err
		}
		if far.RemoteAddr().String() == client.LocalAddr().String() {
			return client, far, nil
		}
		far.Close() // a stranger's
	}
}

// Listen makes the link reachable for a client that takes an address only, in
// place of the server at addr. It returns its own address.
func (l *Link) Listen(network, addr string) (string, error) {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on link %s: %w", l.name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		in.Close()
		return "", errClosed
	}
	l.others = append(l.others, in)
	l.running.Go(func() {
		for {
			client, err := in.Accept()
			if err != nil {
				return
			}
			l.running.Go(func() { l.connect(client, network, addr) })
		}
	})
	return in.Addr().String(), nil
}

// connect goes on with a connection that a client has made to Listen's address.
// A refused one is closed: too late to refuse it as such.
func (l *Link) connect(client net.Conn, network, addr string) {
	if err := l.admit(context.Background()); err != nil {
		client.Close()
		return
	}
	server, err := net.Dial(network, addr)
	if err != nil {
		l.count(func(c *Counts) { c.Refused++ })
		client.Close()
		return
	}
	if err := l.open(client, server); err != nil {
		client.Close()
	}
}

// admit lets a fault refuse a new connection, or hold it up.
func (l *Link) admit(ctx context.Context) error {
	l.mu.Lock()
	l.counts.Dials++
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return errClosed
	}
	for _, f := range l.present() {
		if err := f.dial(ctx, f.healed); err != nil {
			l.count(func(c *Counts) { c.Refused++ })
			return err
		}
	}
	return nil
}

// open starts to carry what comes over two connections.
func (l *Link) open(client, server net.Conn) error {
	p := &pipe{link: l, client: client, server: server, done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		server.Close()
		return errClosed
	}
	l.pipes[p] = struct{}{}
	l.counts.Open++
	var both sync.WaitGroup
	both.Go(p.carryRequests)
	both.Go(p.carryReplies)
	l.running.Go(func() {
		both.Wait()
		p.end()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.pipes, p)
		l.counts.Open--
	})
	return nil
}

// Counts returns what the link has carried so far.
func (l *Link) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

func (l *Link) count(f func(*Counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.counts)
}

// put puts a fault on the link. What it lets pass goes on to those that were put
// before it.
func (l *Link) put(f tamper) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	l.faults = append([]*put{{f, make(chan struct{})}}, l.faults...)
	return nil
}

// lift takes the fault from the link, if it is on it.
func (l *Link) lift(f tamper) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, on := range l.faults {
		if on.tamper == f {
			l.faults = append(append([]*put(nil), l.faults[:i]...), l.faults[i+1:]...)
			close(on.healed)
			return
		}
	}
}

// present returns the faults that are on.
func (l *Link) present() []*put {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faults
}

// all returns the connections that are open.
func (l *Link) all() []*pipe {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*pipe
	for p := range l.pipes {
		all = append(all, p)
	}
	return all
}

// Close ends all connections and returns when nothing of the link is left.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	for _, f := range l.faults {
		close(f.healed)
	}
	l.faults = nil
	err := l.listener.Close()
	for _, in := range l.others {
		in.Close()
	}
	l.mu.Unlock()
	for _, p := range l.all() {
		p.end()
	}
	l.running.Wait()
	return err
}
