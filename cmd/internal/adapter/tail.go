package adapter

import (
	"strings"
	"sync"
)

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// The tail is so long at most, in bytes and in lines.
const (
	tailBytes = 4 << 10
	tailLines = 8
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-tailBytes):]...)
	t.kept = t.kept[max(0, len(t.kept)-tailBytes):]
	return len(p), nil
}

// String is the last lines, indented.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "?"))
	if text == "" {
		return "its stderr is empty"
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "its stderr ends with:\n    " + strings.Join(lines, "\n    ")
}
