package memlease

// SeedToken raises the counter of a key that nobody holds.
func (s *Service) SeedToken(key string, token int64) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.records[key] = &record{token: token}
}
