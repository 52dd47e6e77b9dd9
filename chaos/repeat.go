package chaos

import "context"

// repeat is a request that arrives twice.
type repeat struct {
	onLink
	aimed
	orphans
	later bool
}

// Repeat delivers a request, ends its client's connection in place of the
// answer, and delivers the request once more: at once.
func Repeat(l *Link, a Aim) Fault {
	return &repeat{onLink: onLink{link: l}, aimed: aimed{Aim: a}}
}

// Replay is Repeat with the second delivery when the fault is healed. Heal
// returns when the server has answered it, or hung up.
func Replay(l *Link, a Aim) Fault {
	return &repeat{onLink: onLink{link: l}, aimed: aimed{Aim: a}, later: true}
}

func (f *repeat) Name() string {
	if f.later {
		return "link/replay"
	}
	return "link/repeat"
}

func (f *repeat) Start(context.Context) error { return f.link.put(f) }

func (f *repeat) Heal(ctx context.Context) error {
	f.link.lift(f)
	return f.settle(ctx, f.later)
}

func (f *repeat) reply(p *pipe, _ []byte, first bool, _ <-chan struct{}) bool {
	if !first || !f.takes(p.sent()) {
		return true
	}
	o := f.adopt(p, p.sent(), func() {
		f.hit()
		p.link.count(func(c *Counts) { c.Doubled++ })
	})
	if o == nil {
		return true
	}
	if !f.later && o.send() != nil {
		p.end()
	}
	return false
}
