package main

import (
	"fmt"
	"io"
	"strings"
)

// story pauses the first worker in the middle of a step until another one has finished
// its run, and tells what happens.
type story struct {
	w    io.Writer
	told bool // the pause has been
}

func (s *story) at(_ *floor, _ *process, e event) fate {
	if s.told || e.Step != "charge" {
		return goesOn
	}
	s.told = true
	return isPaused
}

func (s *story) wakes(p *process, e event) bool { return e.What == finished && e.supersedes(p.at) }

func (s *story) note(p *process, what string, e event) {
	line := ""
	switch what {
	case started:
		line = fmt.Sprintf("starts, as process %d", p.number)
	case claimed:
		line = fmt.Sprintf("has the lease of %s, token %d, and claims it", e.Run, e.Token)
	case landed:
		line = fmt.Sprintf("%s: the result of %s is written, under token %d", e.Run, e.Step, e.Token)
		if p.late {
			line += "   <- stale, and taken"
		}
	case refused:
		line = fmt.Sprintf("%s: the result of %s is REFUSED: token %d, where the data store has seen %d", e.Run, e.Step, e.Token, e.Highest)
	case superseded:
		line = fmt.Sprintf("%s: another attempt has taken over; waits for the lease", e.Run)
	case finished:
		line = fmt.Sprintf("%s: finished", e.Run)
	case paused:
		line = fmt.Sprintf("%s: is PAUSED in the middle of %s (SIGSTOP), and its leases end", e.Run, e.Step)
	case awakened:
		line = fmt.Sprintf("%s: WAKES UP (SIGCONT), and knows of nothing", e.Run)
	case ended:
		line = "finds every run finished, and ends"
	}
	if line != "" {
		fmt.Fprintf(s.w, "  %-3s %s\n", p.name, line)
	}
}

// summary is one line for each run: who has done what.
func (j journal) summary(run string) string {
	var parts []string
	for _, r := range j.Results {
		parts = append(parts, fmt.Sprintf("%s %s(%d)", r.Step, r.By.Worker, r.By.Token))
	}
	return fmt.Sprintf("%s: %s", run, strings.Join(parts, ", "))
}
