package chaos

import "context"

// late is a request that is on its way for longer than its client lives.
type late struct {
	onLink
	aimed
	orphans
}

// Late holds a request back and ends its client's connection. It arrives when
// the fault is healed: Heal returns when the server has answered it, or hung up.
func Late(l *Link, a Aim) Fault { return &late{onLink: onLink{link: l}, aimed: aimed{Aim: a}} }

func (f *late) Name() string                { return "link/late" }
func (f *late) Start(context.Context) error { return f.link.put(f) }

func (f *late) Heal(ctx context.Context) error {
	f.link.lift(f)
	return f.settle(ctx, true)
}

func (f *late) request(p *pipe, piece []byte, _ <-chan struct{}) bool {
	if p.isOrphan() {
		return false
	}
	if len(piece) == 0 || !f.takes(piece) {
		return true
	}
	return f.adopt(p, piece, f.hit) == nil
}
