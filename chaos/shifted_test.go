package chaos_test

import (
	"sync"
	"time"
)

// shifted is a time that is off by something, and may stand still.
type shifted struct {
	mu     sync.Mutex
	off    time.Duration
	frozen bool
	at     time.Time
}

func (s *shifted) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

func (s *shifted) read() time.Time {
	if s.frozen {
		return s.at
	}
	return time.Now().Round(0).Add(s.off)
}

func (s *shifted) move(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off += d
	s.at = s.at.Add(d)
}

func (s *shifted) freeze(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.read()
	if !on && s.frozen {
		s.off = now.Sub(time.Now().Round(0))
	}
	s.frozen, s.at = on, now
}
