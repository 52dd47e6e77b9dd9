package chaos

import (
	"context"
	"net"
	"time"
)

// drip is a network that delivers in drops.
type drip struct {
	onLink
	size  int
	every time.Duration
}

// Drip sends what a link carries in pieces of so many bytes, with a pause
// between one and the next.
func Drip(l *Link, size int, every time.Duration) Fault {
	return &drip{onLink{link: l}, max(size, 1), every}
}

func (f *drip) Name() string                { return "link/drip" }
func (f *drip) Start(context.Context) error { return f.link.put(f) }
func (f *drip) Heal(context.Context) error  { f.link.lift(f); return nil }

func (f *drip) request(p *pipe, piece []byte, healed <-chan struct{}) bool {
	return f.drops(p, p.server, piece, healed)
}

func (f *drip) reply(p *pipe, piece []byte, _ bool, healed <-chan struct{}) bool {
	return f.drops(p, p.client, piece, healed)
}

// drops sends all of a piece but the last drop.
func (f *drip) drops(p *pipe, to net.Conn, piece []byte, healed <-chan struct{}) bool {
	if len(piece) == 0 {
		return true
	}
	f.hit()
	for len(piece) > 0 {
		n := min(f.size, len(piece))
		if _, err := to.Write(piece[:n]); err != nil {
			p.end()
			return false
		}
		if piece = piece[n:]; len(piece) > 0 {
			p.healedIn(f.every, healed)
		}
	}
	return false
}
