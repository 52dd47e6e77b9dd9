package chaos

import (
	"context"
	"sync"
)

// halfOpen is a server's host that went without a farewell.
type halfOpen struct {
	onLink
	mu    sync.Mutex
	pipes map[*pipe]bool
}

// HalfOpen ends the server's side of each connection that is open, and does not
// tell the client: what it sends goes nowhere, and no answer comes. New
// connections work. Once it is healed, the dead ones are reset.
func HalfOpen(l *Link) Fault { return &halfOpen{onLink: onLink{link: l}, pipes: map[*pipe]bool{}} }

func (f *halfOpen) Name() string { return "link/half-open" }

func (f *halfOpen) Start(context.Context) error {
	if err := f.link.put(f); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.link.all() {
		if p.busy() {
			f.hit()
		}
		p.dropServer()
		f.pipes[p] = true
	}
	return nil
}

func (f *halfOpen) Heal(context.Context) error {
	f.link.lift(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.pipes {
		p.reset()
	}
	return nil
}

func (f *halfOpen) request(p *pipe, piece []byte, _ <-chan struct{}) bool {
	if !p.serverless() {
		return true
	}
	if len(piece) > 0 {
		f.hit()
	}
	return false
}
