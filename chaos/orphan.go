package chaos

import (
	"context"
	"slices"
	"sync"
)

// orphan is a request whose client's connection a fault has ended, while that to
// the server is open still.
type orphan struct {
	p      *pipe
	text   []byte
	once   sync.Once
	answer chan struct{} // closed when the server has answered, or hung up
}

// send delivers the request.
func (o *orphan) send() error {
	o.p.mu.Lock()
	o.p.waiting = true
	o.p.mu.Unlock()
	_, err := o.p.server.Write(o.text)
	return err
}

// seen is called when the server has answered.
func (o *orphan) seen() { o.once.Do(func() { close(o.answer) }) }

// settle waits for the answer and ends the connection.
func (o *orphan) settle(ctx context.Context) {
	select {
	case <-o.answer:
	case <-o.p.done:
	case <-ctx.Done():
	}
	o.p.end()
}

// orphans are those of one fault.
type orphans struct {
	mu   sync.Mutex
	all  []*orphan
	over bool // the fault is healed: nobody would settle another one
}

// adopt ends the client's side of the pipe and keeps the request, after note. It
// returns nil if the fault was healed meanwhile: the request is not its any more.
func (s *orphans) adopt(p *pipe, text []byte, note func()) *orphan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	o := &orphan{p: p, text: slices.Clone(text), answer: make(chan struct{})}
	s.all = append(s.all, o)
	p.mu.Lock()
	p.orphan = o
	p.mu.Unlock()
	note()
	// Last: whoever sees the end may heal the fault at once.
	p.client.Close()
	return o
}

// settle delivers what is not delivered yet, and lets none of them be left.
func (s *orphans) settle(ctx context.Context, undelivered bool) error {
	s.mu.Lock()
	all := s.all
	s.all, s.over = nil, true
	s.mu.Unlock()
	for _, o := range all {
		if undelivered && o.send() != nil {
			o.p.end()
			continue
		}
		o.settle(ctx)
	}
	return ctx.Err()
}
