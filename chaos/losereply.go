package chaos

import "context"

// loseReply is a connection that breaks at the worst moment.
type loseReply struct {
	onLink
	aimed
}

// LoseReply ends a connection when the server has executed a request and begins
// to answer. Nothing of the answer arrives.
func LoseReply(l *Link, a Aim) Fault {
	return &loseReply{onLink{link: l}, aimed{Aim: a}}
}

func (f *loseReply) Name() string                { return "link/lose-reply" }
func (f *loseReply) Start(context.Context) error { return f.link.put(f) }
func (f *loseReply) Heal(context.Context) error  { f.link.lift(f); return nil }

func (f *loseReply) reply(p *pipe, _ []byte, first bool, _ <-chan struct{}) bool {
	if !first || !f.takes(p.sent()) {
		return true
	}
	f.hit()
	p.end()
	return false
}
