package chaos

import "context"

// reset is a host that has forgotten its connections.
type reset struct{ onLink }

// Reset ends each connection of a link with a RST when a request comes. The
// request does not arrive.
func Reset(l *Link) Fault { return &reset{onLink{link: l}} }

func (f *reset) Name() string                { return "link/reset" }
func (f *reset) Start(context.Context) error { return f.link.put(f) }
func (f *reset) Heal(context.Context) error  { f.link.lift(f); return nil }

func (f *reset) request(p *pipe, piece []byte, _ <-chan struct{}) bool {
	if len(piece) > 0 {
		f.hit()
		p.reset()
	}
	return len(piece) == 0
}
