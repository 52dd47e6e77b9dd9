package sqllease

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// mostTries bounds how often a statement is sent for one call. With the waits
// between them it makes 5 s of conflicts on end, on average. It is a number and
// not a time, since a worker's clock may be anything.
const mostTries = 100

// try runs a statement until it is not in conflict with another session
// (ERR-7), the context ends or it has been in conflict too often. Each of the
// conflicts has changed nothing.
func (s *Service) try(ctx context.Context, key string, statement func() error) error {
	return s.schema().try(ctx, func(err error) error { return s.explain(ctx, key, err) }, statement)
}

// try is the same for any table; explain says more about an error that comes from
// the table or the row, if it is not nil.
func (s schema) try(ctx context.Context, explain func(error) error, statement func() error) error {
	const longest = 100 * time.Millisecond
	wait := time.Millisecond
	for tries := 1; ; tries++ {
		err := statement()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		switch kind := s.kind(err); {
		case kind == conflict:
			if tries == mostTries {
				return fmt.Errorf("in conflict with other sessions %d times: %w", tries, err)
			}
		case kind == doubtful && explain != nil:
			return explain(err)
		default:
			return s.advise(err)
		}
		// The first time at once: the other session is done, as a rule.
		if tries > 1 {
			select {
			case <-time.After(rand.N(wait) + 1):
			case <-ctx.Done():
				return err
			}
			wait = min(2*wait, longest)
		}
	}
}

// advise adds to an error what can be done about it.
func (s schema) advise(err error) error {
	if advice := s.advice(err); advice != "" {
		return fmt.Errorf("%w: %s", err, advice)
	}
	return err
}

// explain says what is wrong with a table or a row that made a statement fail.
func (s *Service) explain(ctx context.Context, key string, err error) error {
	if wrong := s.schema().check(ctx); wrong != nil {
		return fmt.Errorf("%w (%w)", wrong, err)
	}
	r, found, getErr := s.store.get(ctx, key)
	if getErr != nil || !found {
		return err
	}
	if _, unreadable := r.lease(key); unreadable != nil {
		return fmt.Errorf("%w (%w)", unreadable, err)
	}
	if r.token == math.MaxInt64 {
		return fmt.Errorf("the counter is at its maximum, no further grant is possible (%w)", err)
	}
	return err
}
