package sqllease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errNoTable = errors.New("the table is missing")

// Migrate makes sure that the table is there and has the shape that this package
// needs, and creates it if there is none. It changes no table that exists. Call
// it whenever a program starts: it may be called again, and by several processes
// at once. A role that may not create tables can call it too, if the table is
// there.
func (s *Service) Migrate(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return fmt.Errorf("migrate lease table %s: %w", s.table, s.advise(err))
	}
	return nil
}

func (s *Service) migrate(ctx context.Context) error {
	if err := s.store.sane(ctx); err != nil {
		return err
	}
	err := s.check(ctx)
	if !errors.Is(err, errNoTable) {
		return err
	}
	var createErr error
	tryErr := s.try(ctx, "", func() error {
		createErr = s.store.create(ctx)
		if createErr != nil && s.store.kind(createErr) == conflict {
			return createErr
		}
		return nil
	})
	if tryErr != nil {
		return fmt.Errorf("create it: %w", tryErr)
	}
	// Another process may have been faster, which is seen as an error or not.
	err = s.check(ctx)
	if createErr != nil && errors.Is(err, errNoTable) {
		return fmt.Errorf("create it: %w", createErr)
	}
	return err
}

// check compares the table with what is wanted.
func (s *Service) check(ctx context.Context) error {
	got, want, err := s.store.shape(ctx)
	if err != nil {
		return fmt.Errorf("look at the table %s: %w", s.table, err)
	}
	if len(got) == 0 {
		return fmt.Errorf("%w: there is no table %s that this user can see; call Service.Migrate once, with a user that may create it", errNoTable, s.table)
	}
	if slices.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("the table %s is another one: it has the columns (%s), want (%s); set Options.Table to a name that is free, or move the other table away and call Service.Migrate",
		s.table, strings.Join(got, ", "), strings.Join(want, ", "))
}
