package chaos

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/leasekit/lease/internal/history"
)

// Saved is what a campaign has recorded: enough to judge it again.
type Saved struct {
	Target    string            `json:"target"`
	Seed      uint64            `json:"seed"`
	Declared  []string          `json:"declared,omitempty"` // clauses that the target does not keep
	Calls     Calls             `json:"calls"`
	Schedule  []Event           `json:"schedule"`
	Events    []Happened        `json:"events"`
	Histories []history.History `json:"histories"`
}

// Load reads what [Saved.Save] has written.
func Load(file string) (*Saved, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("load campaign: %w", err)
	}
	s := &Saved{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("load campaign from %s: %w", file, err)
	}
	return s, nil
}

// Save writes the campaign into a file.
func (s *Saved) Save(file string) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return fmt.Errorf("save campaign: %w", err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("save campaign: %w", err)
	}
	return nil
}

// Judge says again what the campaign showed about its keys. What was seen
// outside of calls – leaks, a service that never came back – is not in it.
// Files for bad keys are written into dir.
func (s *Saved) Judge(dir string) *Report {
	r := s.judge(dir)
	r.finish()
	return r
}
