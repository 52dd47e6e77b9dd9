package chaos

import "context"

// blackHole is a network that loses all packets.
type blackHole struct {
	onLink
	name        string
	repliesOnly bool
}

// BlackHole lets nothing through a link, and tells nobody. What was sent
// meanwhile arrives once it is healed, as TCP sees to it, also if the client has
// gone by then.
func BlackHole(l *Link) Fault {
	return &blackHole{onLink: onLink{link: l}, name: "link/black-hole"}
}

// Deaf is a BlackHole for replies alone: requests are executed at once.
func Deaf(l *Link) Fault {
	return &blackHole{onLink: onLink{link: l}, name: "link/deaf", repliesOnly: true}
}

func (f *blackHole) Name() string                { return f.name }
func (f *blackHole) Start(context.Context) error { return f.link.put(f) }
func (f *blackHole) Heal(context.Context) error  { f.link.lift(f); return nil }

func (f *blackHole) dial(ctx context.Context, healed <-chan struct{}) error {
	f.hit()
	return outlast(ctx, healed)
}

func (f *blackHole) request(p *pipe, piece []byte, healed <-chan struct{}) bool {
	if f.repliesOnly {
		return true
	}
	return f.reply(p, piece, false, healed)
}

func (f *blackHole) reply(p *pipe, piece []byte, _ bool, healed <-chan struct{}) bool {
	if len(piece) > 0 {
		f.hit()
	}
	select {
	case <-healed:
	case <-p.done:
	}
	return true
}
