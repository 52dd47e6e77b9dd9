package chaos

import "sync"

// traffic proves that a fault of the store met calls: it counts something on
// the links between the fault's start and its end.
type traffic struct {
	links []*Link
	what  func(Counts) int

	mu          sync.Mutex
	from, until int
	on          bool
}

func (s *traffic) now() (n int) {
	for _, l := range s.links {
		n += s.what(l.Counts())
	}
	return n
}

func (s *traffic) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from, s.on = s.now(), true
}

func (s *traffic) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		s.until, s.on = s.now(), false
	}
}

// Hits implements [Fault].
func (s *traffic) Hits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		return s.now() - s.from
	}
	return s.until - s.from
}

// Traffic proves that a fault met calls: it counts something on links between
// Begin and End.
type Traffic struct{ traffic }

// Waiting counts the requests that come meanwhile, for a fault that lets them
// wait.
func Waiting(links []*Link) *Traffic { return &Traffic{traffic{links: links, what: begun}} }

// Answered counts the requests that are answered meanwhile, for a fault that
// makes answers wrong.
func Answered(links []*Link) *Traffic { return &Traffic{traffic{links: links, what: answered}} }

// Begin is called when the fault starts.
func (s *Traffic) Begin() { s.begin() }

// End is called when it is healed.
func (s *Traffic) End() { s.end() }

// broken are the calls that a server's end is noticed by.
func broken(c Counts) int { return c.Refused + c.Lost }

func begun(c Counts) int    { return c.Requests }
func answered(c Counts) int { return c.Replies }
