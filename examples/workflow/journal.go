package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/leasekit/lease/fence"
)

// steps are what each run consists of. Each needs the results of those before it.
var steps = []string{"reserve", "charge", "pack", "ship"}

// journal is all that is known of a run. It is the value of one key of the data store,
// so that one write moves the run from one state to the next.
type journal struct {
	Attempts []attempt // those that have claimed the run
	Results  []result  // of the first so many steps
}

// attempt is one grant of the lease of a run.
type attempt struct {
	Worker string
	Token  int64
}

type result struct {
	Step string
	By   attempt
}

func (j journal) finished() bool { return len(j.Results) == len(steps) }

// load returns the journal of a run; that of a new one is empty.
func load(ctx context.Context, data fence.Resource, run string) (j journal, err error) {
	text, _, err := data.Read(ctx, runKey(run))
	if err != nil || text == "" {
		return j, err
	}
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return j, fmt.Errorf("the journal of %s is unreadable: %w", run, err)
	}
	return j, nil
}

// save writes the journal of a run under the token of the run's lease.
func save(ctx context.Context, data fence.Resource, run string, token int64, j journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return data.Write(ctx, runKey(run), token, string(text))
}

// runKey is the key of a run: of its lease, and of its journal.
func runKey(run string) string { return "run/" + run }

// stationKey is the key of the lease of a step, at which one run is worked on at a time.
func stationKey(step string) string { return "station/" + step }
