package chaos

import (
	"context"
	"net"
	"sync"
)

// cutAfter is a connection that breaks in the middle of a message.
type cutAfter struct {
	onLink
	name    string
	replies bool

	mu   sync.Mutex
	left int // bytes until then; less than 0: it has Happened
}

// CutRequest ends a connection after so many bytes of requests from the start
// on: the last of them arrive at the server, and no more.
func CutRequest(l *Link, bytes int) Fault {
	return &cutAfter{onLink: onLink{link: l}, name: "link/cut-request", left: bytes}
}

// CutReply ends a connection after so many bytes of replies from the start on.
func CutReply(l *Link, bytes int) Fault {
	return &cutAfter{onLink: onLink{link: l}, name: "link/cut-reply", left: bytes, replies: true}
}

func (f *cutAfter) Name() string                { return f.name }
func (f *cutAfter) Start(context.Context) error { return f.link.put(f) }
func (f *cutAfter) Heal(context.Context) error  { f.link.lift(f); return nil }

func (f *cutAfter) request(p *pipe, piece []byte, _ <-chan struct{}) bool {
	return f.replies || f.passes(p, p.server, piece)
}

func (f *cutAfter) reply(p *pipe, piece []byte, _ bool, _ <-chan struct{}) bool {
	return !f.replies || f.passes(p, p.client, piece)
}

func (f *cutAfter) passes(p *pipe, to net.Conn, piece []byte) bool {
	f.mu.Lock()
	before := f.left
	if before >= 0 {
		f.left -= len(piece)
	}
	f.mu.Unlock()
	if before < 0 || before >= len(piece) {
		return true
	}
	to.Write(piece[:before]) // whether it fails or not, the connection ends
	f.hit()
	p.end()
	return false
}
