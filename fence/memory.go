package fence

import (
	"context"
	"sync"

	"github.com/leasekit/lease"
)

// Memory is a Resource in the memory of one process. The zero Memory is empty and
// ready for use.
//
// Its marks end with the process, and so do its values. That is enough for data
// that ends with them; a file or a table that outlives the process needs its
// marks kept with it (FENCE-4).
type Memory struct {
	mu      sync.Mutex
	records map[string]record
}

// record is a key: its value and the token of the write that set it, which is
// the highest one seen.
type record struct {
	value string
	token int64
}

var _ Resource = (*Memory)(nil)

// Write implements Resource. Besides ErrStale and lease.ErrInvalid it fails with
// the context's error, if the context is done when it is called.
func (m *Memory) Write(ctx context.Context, key string, token int64, value string) error {
	if err := CheckWrite(key, token); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if highest := m.records[key].token; token < highest {
		return &StaleError{Key: key, Token: token, Highest: highest}
	}
	if m.records == nil {
		m.records = map[string]record{}
	}
	m.records[key] = record{value, token}
	return nil
}

// Read implements Resource.
func (m *Memory) Read(ctx context.Context, key string) (value string, token int64, err error) {
	if err := lease.CheckKey(key); err != nil {
		return "", 0, err
	}
	if err := ctx.Err(); err != nil {
		return "", 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	return r.value, r.token, nil
}
