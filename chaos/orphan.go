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
	mu  sync.Mutex
	all []*orphan
}

// adopt ends the client's side of the pipe and keeps the request.
func (s *orphans) adopt(p *pipe, text []byte) *orphan {
	o := &orphan{p: p, text: slices.Clone(text), answer: make(chan struct{})}
	s.mu.Lock()
	s.all = append(s.all, o)
	s.mu.Unlock()
	p.mu.Lock()
	p.orphan = o
	p.mu.Unlock()
	// Last: whoever sees the end may heal the fault at once.
	p.client.Close()
	return o
}

// settle delivers what is not delivered yet, and lets none of them be left.
func (s *orphans) settle(ctx context.Context, undelivered bool) error {
	s.mu.Lock()
	all := s.all
	s.all = nil
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
