package chaos

import "sync"

// progress counts the calls of all workers, and wakes who waits for a number.
type progress struct {
	mu   sync.Mutex
	more *sync.Cond
	n    int
	over bool
}

func newProgress() *progress {
	p := &progress{}
	p.more = sync.NewCond(&p.mu)
	return p
}

func (p *progress) step() {
	p.mu.Lock()
	p.n++
	p.mu.Unlock()
	p.more.Broadcast()
}

// end wakes everybody: there will be no more calls.
func (p *progress) end() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.more.Broadcast()
}

// reached waits until so many calls have begun. It returns false if that will
// never be.
func (p *progress) reached(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n < n && !p.over {
		p.more.Wait()
	}
	return p.n >= n
}

// pass waits for so many more calls.
func (p *progress) pass(calls int) {
	p.mu.Lock()
	n := p.n
	p.mu.Unlock()
	p.reached(n + calls)
}
