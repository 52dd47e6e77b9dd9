package chaos

import (
	"bytes"
	"context"
	"net"
	"sync"
)

// pipe is one connection of a link: that of the client, and that to the server.
type pipe struct {
	link           *Link
	client, server net.Conn

	ending sync.Once
	done   chan struct{} // closed when the pipe has ended

	mu      sync.Mutex
	request []byte  // what the client has sent since the last reply
	waiting bool    // for the reply to it
	dead    bool    // the server's side is gone, and the client is not told
	orphan  *orphan // not nil: the client's side is gone, and the server is not told
}

// most is how many bytes are carried at a time, and kept of a request. A
// request of a lease is far shorter.
const most = 64 << 10

// tamper is what a fault does to a link while it is on. The methods may take
// their time, until healed or p.done is closed. They are called from several
// goroutines.
type tamper interface {
	// dial is called before a connection is opened; an error refuses it.
	dial(ctx context.Context, healed <-chan struct{}) error
	// request and reply are called with each piece that is about to be sent on;
	// an empty one is the end. They return false if they have dealt with it.
	request(p *pipe, piece []byte, healed <-chan struct{}) bool
	reply(p *pipe, piece []byte, first bool, healed <-chan struct{}) bool
}

// calm is a tamper that does nothing. Faults embed it.
type calm struct{}

func (calm) dial(context.Context, <-chan struct{}) error     { return nil }
func (calm) request(*pipe, []byte, <-chan struct{}) bool     { return true }
func (calm) reply(*pipe, []byte, bool, <-chan struct{}) bool { return true }

func (p *pipe) carryRequests() {
	buf := make([]byte, most)
	for {
		n, err := p.client.Read(buf)
		piece := buf[:n]
		if n > 0 {
			p.begun(piece)
		}
		if n > 0 || err != nil {
			if !p.passes(func(f *put) bool { return f.request(p, piece, f.healed) }) {
				if err != nil {
					return
				}
				continue
			}
		}
		if p.isOrphan() {
			return
		}
		if err != nil {
			p.end()
			return
		}
		if _, err := p.server.Write(piece); err != nil {
			p.end()
			return
		}
	}
}

func (p *pipe) carryReplies() {
	buf := make([]byte, most)
	for {
		n, err := p.server.Read(buf)
		piece := buf[:n]
		first := n > 0 && p.answered()
		if p.serverless() {
			return
		}
		if g := p.orphanOf(); g != nil {
			if first || err != nil {
				g.seen()
			}
			if err != nil {
				return
			}
			continue
		}
		if err != nil && p.busy() && !p.ended() {
			p.link.count(func(c *Counts) { c.Lost++ })
		}
		if n > 0 || err != nil {
			if !p.passes(func(f *put) bool { return f.reply(p, piece, first, f.healed) }) {
				if err != nil {
					return
				}
				continue
			}
		}
		if p.isOrphan() {
			return
		}
		if n > 0 {
			if _, werr := p.client.Write(piece); werr != nil {
				p.end()
				return
			}
		}
		if err != nil {
			p.end()
			return
		}
	}
}

// passes asks the faults that are on, until one has dealt with the matter.
func (p *pipe) passes(ask func(*put) bool) bool {
	for _, f := range p.link.present() {
		if !ask(f) {
			return false
		}
	}
	return true
}

// begun notes what the client has sent.
func (p *pipe) begun(piece []byte) {
	p.mu.Lock()
	first := !p.waiting
	if first {
		p.request = p.request[:0]
	}
	p.waiting = true
	if len(p.request)+len(piece) <= most {
		p.request = append(p.request, piece...)
	}
	p.mu.Unlock()
	if first {
		p.link.count(func(c *Counts) { c.Requests++ })
	}
}

// answered notes that the server has sent something, and says whether it is the
// beginning of a reply.
func (p *pipe) answered() bool {
	p.mu.Lock()
	first := p.waiting
	p.waiting = false
	p.mu.Unlock()
	if first {
		p.link.count(func(c *Counts) { c.Replies++ })
	}
	return first
}

// sent returns what the client has sent last.
func (p *pipe) sent() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.request)
}

// busy says whether the client waits for a reply.
func (p *pipe) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting
}

// orphanOf returns what is left of the pipe if its client was taken away.
func (p *pipe) orphanOf() *orphan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.orphan
}

func (p *pipe) isOrphan() bool { return p.orphanOf() != nil }

// dropServer ends the server's side alone.
func (p *pipe) dropServer() {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.server.Close()
}

func (p *pipe) serverless() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *pipe) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// end ends both sides in order.
func (p *pipe) end() {
	p.ending.Do(func() {
		close(p.done)
		p.client.Close()
		p.server.Close()
	})
}

// reset ends both sides as a crashed host does: what is under way is lost, and
// the peers are told by a RST.
func (p *pipe) reset() {
	for _, c := range []net.Conn{p.client, p.server} {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
	p.end()
}
