package benchreport

import (
	"errors"
	"fmt"
	"slices"
)

// Merge makes one report of runs that were made at the same time, such as by several
// machines on one server: their latencies are one distribution, their rates add up.
// It fails if they don't belong together: with another run id, or with rows that
// were made in another way.
func Merge(reports []*Report) (*Report, error) {
	if len(reports) == 0 {
		return nil, errors.New("there is nothing to merge")
	}
	first := reports[0]
	whole := *first
	whole.Rows, whole.Skipped, whole.Merged = nil, nil, 0
	rows := map[rowName]*Row{}
	for _, r := range reports {
		if r.RunID != first.RunID {
			return nil, fmt.Errorf("the run ids are %q and %q: merge the logs of one run; start its parts with one -run-id", first.RunID, r.RunID)
		}
		if r.Setup != first.Setup {
			return nil, fmt.Errorf("the runs differ in their flags: %+v and %+v", first.Setup, r.Setup)
		}
		if r.Started.Before(whole.Started) {
			whole.Started = r.Started
		}
		if r.Incomplete != "" {
			whole.Incomplete = "a part of it: " + r.Incomplete
		}
		whole.Merged += max(r.Merged, 1)
		for _, skipped := range r.Skipped {
			if !slices.Contains(whole.Skipped, skipped) {
				whole.Skipped = append(whole.Skipped, skipped)
			}
		}
		for _, row := range r.Rows {
			name := rowName{row.Target, row.Workload, row.By}
			into := rows[name]
			if into == nil {
				into = &Row{Target: row.Target, Workload: row.Workload, By: row.By, Sampled: row.Sampled, Hist: NewHistogram()}
				rows[name] = into
				whole.Rows = append(whole.Rows, into)
			}
			into.add(row)
		}
	}
	for _, row := range whole.Rows {
		perSec := row.PerSec
		row.Finish()
		row.PerSec = perSec
	}
	return &whole, nil
}

type rowName struct{ target, workload, by string }

func (r *Row) add(o *Row) {
	r.Allocs = r.Allocs.merge(r.Calls, o.Allocs, o.Calls)
	r.Bytes = r.Bytes.merge(r.Calls, o.Bytes, o.Calls)
	r.Server = r.Server.merge(r.Calls, o.Server, o.Calls)
	r.Workers += o.Workers
	r.Calls += o.Calls
	r.Refused += o.Refused
	r.Unserved += o.Unserved
	r.Elapsed = max(r.Elapsed, o.Elapsed)
	r.PerSec += o.PerSec
	r.Sampled = max(r.Sampled, o.Sampled)
	for kind, n := range o.Errors {
		if r.Errors == nil {
			r.Errors = map[string]int64{}
		}
		r.Errors[kind] += n
	}
	r.Rounds = append(r.Rounds, o.Rounds...)
	r.Hist.Merge(o.Hist)
}

// merge is the cost of a call over both rows' calls.
func (c Cost) merge(calls int64, o Cost, more int64) Cost {
	switch {
	case calls == 0:
		return o
	case more == 0:
		return c
	case !c.Known || !o.Known:
		return Cost{}
	}
	return Cost{Known: true, Value: (c.Value*float64(calls) + o.Value*float64(more)) / float64(calls+more)}
}
