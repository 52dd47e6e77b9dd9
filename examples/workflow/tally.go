package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leasekit/lease/fence"
)

// tally is what the workers have said that they did.
type tally struct {
	claims  map[string]int64 // the highest token of a run that was claimed
	results map[work][]int64 // the tokens under which a result was taken
	stale   []event          // results that were taken from an attempt that another had superseded
	refused []event
	begun   int // attempts
}

// work is a step of a run.
type work struct{ run, step string }

func (t *tally) add(p *process, e event) {
	if t.claims == nil {
		t.claims, t.results = map[string]int64{}, map[work][]int64{}
	}
	switch e.What {
	case claimed:
		t.begun++
		t.claims[e.Run] = max(t.claims[e.Run], e.Token)
	case landed:
		w := work{e.Run, e.Step}
		t.results[w] = append(t.results[w], e.Token)
		if p.late {
			t.stale = append(t.stale, e)
		}
	case refused:
		t.refused = append(t.refused, e)
	}
}

// redone is how many steps have results of several attempts.
func (t *tally) redone() (n int) {
	for _, tokens := range t.results {
		if len(tokens) > 1 {
			n++
		}
	}
	return n
}

// audit compares what the workers have said with what the data store has. All that is
// wrong is in the error.
func (f *floor) audit(ctx context.Context) error {
	data, err := openData(ctx, f.Data, f.Namespace)
	if err != nil {
		return err
	}
	var wrong []error
	for _, e := range f.tally.stale {
		wrong = append(wrong, fmt.Errorf("%s: the result of %s under token %d landed, after a newer attempt had begun", e.Run, e.Step, e.Token))
	}
	for _, run := range f.Runs {
		wrong = append(wrong, f.auditRun(ctx, data, run)...)
	}
	return errors.Join(wrong...)
}

func (f *floor) auditRun(ctx context.Context, data fence.Resource, run string) (wrong []error) {
	j, err := load(ctx, data, run)
	if err != nil {
		return []error{fmt.Errorf("%s: %w", run, err)}
	}
	if len(j.Results) != len(steps) {
		wrong = append(wrong, fmt.Errorf("%s: has %d results, want %d", run, len(j.Results), len(steps)))
	}
	token := int64(0)
	for i, r := range j.Results {
		tokens := f.tally.results[work{run, r.Step}]
		switch sorted := slices.Sorted(slices.Values(tokens)); {
		case i >= len(steps) || r.Step != steps[i]:
			wrong = append(wrong, fmt.Errorf("%s: result %d is of the step %q", run, i, r.Step))
		case len(slices.Compact(sorted)) != len(tokens):
			wrong = append(wrong, fmt.Errorf("%s: one attempt has written its result of %s more than once: tokens %v", run, r.Step, tokens))
		case !slices.Contains(tokens, r.By.Token):
			wrong = append(wrong, fmt.Errorf("%s: the result of %s under token %d is nobody's", run, r.Step, r.By.Token))
		case slices.Max(tokens) != r.By.Token:
			wrong = append(wrong, fmt.Errorf("%s: the result of %s under token %d has replaced that of a newer attempt: tokens %v", run, r.Step, r.By.Token, tokens))
		case r.By.Token < token:
			wrong = append(wrong, fmt.Errorf("%s: the result of %s is of an older attempt than that of the step before: token %d after %d", run, r.Step, r.By.Token, token))
		}
		token = max(token, r.By.Token)
	}
	return wrong
}
