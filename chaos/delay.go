package chaos

import (
	"context"
	"time"
)

// delay is a slow network.
type delay struct {
	onLink
	by time.Duration
}

// Delay holds up each piece that a link carries, either way, by a time.
func Delay(l *Link, by time.Duration) Fault { return &delay{onLink{link: l}, by} }

func (f *delay) Name() string                { return "link/delay" }
func (f *delay) Start(context.Context) error { return f.link.put(f) }
func (f *delay) Heal(context.Context) error  { f.link.lift(f); return nil }

func (f *delay) request(p *pipe, piece []byte, healed <-chan struct{}) bool {
	if len(piece) > 0 {
		f.hit()
		p.healedIn(f.by, healed)
	}
	return true
}

func (f *delay) reply(p *pipe, piece []byte, _ bool, healed <-chan struct{}) bool {
	return f.request(p, piece, healed)
}
