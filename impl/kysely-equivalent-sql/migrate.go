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
	if err := s.schema().migrate(ctx); err != nil {
		return fmt.Errorf("migrate lease table %s: %w", s.table, s.schema().advise(err))
	}
	return nil
}

// schema is a table in a database, of leases or of fenced values.
type schema struct {
	tabled
	table table
	owner string // the type whose Migrate makes it
	named string // the option that names it
}

// tabled is the part of a store that knows the database and the table.
type tabled interface {
	// kind says what an error of a statement means.
	kind(err error) kind

	// advice says what can be done about an error, or "".
	advice(err error) string

	// create makes the table.
	create(ctx context.Context) error

	// shape returns the table's columns, in order, as "name type" with "key" for
	// each that belongs to the primary key; none if there is no such table.
	shape(ctx context.Context) (got, want []string, err error)

	// sane returns what is wrong with the server, or nil.
	sane(ctx context.Context) error
}

func (s *Service) schema() schema { return schema{s.store, s.table, "Service", "Options.Table"} }

func (s schema) migrate(ctx context.Context) error {
	if err := s.sane(ctx); err != nil {
		return err
	}
	err := s.check(ctx)
	if !errors.Is(err, errNoTable) {
		return err
	}
	var createErr error
	tryErr := s.try(ctx, nil, func() error {
		createErr = s.create(ctx)
		if createErr != nil && s.kind(createErr) == conflict {
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
func (s schema) check(ctx context.Context) error {
	got, want, err := s.shape(ctx)
	if err != nil {
		return fmt.Errorf("look at the table %s: %w", s.table, err)
	}
	if len(got) == 0 {
		return fmt.Errorf("%w: there is no table %s that this user can see; call %s.Migrate once, with a user that may create it", errNoTable, s.table, s.owner)
	}
	if slices.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("the table %s is another one: it has the columns (%s), want (%s); set %s to a name that is free, or move the other table away and call %s.Migrate",
		s.table, strings.Join(got, ", "), strings.Join(want, ", "), s.named, s.owner)
}
