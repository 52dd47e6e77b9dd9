package sqllease

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
)

// DefaultTable is the table of a service whose options name none.
const DefaultTable = "leases"

// Options are the settings of a [Service]. A nil *Options means the defaults.
type Options struct {
	// Table is the table that keeps the leases: a name, or schema.name. Each
	// part has 1 to 63 of the characters A-Z a-z 0-9 _ and does not begin with a
	// digit. It is quoted, so its case matters where the database's does. Default
	// [DefaultTable].
	Table string

	// Namespace separates services on one table from each other: those with
	// different namespaces share nothing, those with the same one share their
	// leases. Any text will do, of any bytes, up to 512 of them. Default "".
	Namespace string
}

// Service grants leases that are kept in a table of a SQL database. It is safe
// for concurrent use. The package documentation says what it promises and what
// it can't.
type Service struct {
	store store
	table table
}

var _ lease.Service = (*Service)(nil)

// New returns a service on db, which must be of the kind that d says. It does
// not talk to the database; [Service.Migrate] does, and should be called before
// the first lease. It fails if an option is invalid.
//
// The pool stays the caller's: there is nothing to close. Each call borrows one
// connection and leaves its settings as they are.
func New(db *sql.DB, d Dialect, o *Options) (*Service, error) {
	if db == nil {
		return nil, errors.New("new lease service: the *sql.DB is nil")
	}
	if o == nil {
		o = &Options{}
	}
	name := o.Table
	if name == "" {
		name = DefaultTable
	}
	t, err := parseTable(name)
	if err != nil {
		return nil, fmt.Errorf("new lease service: %w", err)
	}
	if len(o.Namespace) > maxNamespace {
		return nil, fmt.Errorf("new lease service: the namespace has %d bytes, want at most %d", len(o.Namespace), maxNamespace)
	}
	st, err := d.open(db, t, o.Namespace)
	if err != nil {
		return nil, fmt.Errorf("new lease service: %w", err)
	}
	return &Service{store: st, table: t}, nil
}

// Acquire implements [lease.Service].
func (s *Service) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if err := begin(ctx, "acquire lease", lease.CheckAcquire(key, holder, ttl)); err != nil {
		return lease.Lease{}, err
	}
	us := micros(ttl)
	r, granted, err := s.acquire(ctx, key, holder, us)
	if err == nil && granted && r.stale(us, s.store.slack()) {
		r, granted, err = s.date(ctx, key, holder, us, r)
	}
	if err != nil {
		return lease.Lease{}, fail(ctx, "acquire lease", key, err)
	}
	if !granted {
		return lease.Lease{}, lease.ErrHeld
	}
	r.holder = []byte(holder)
	l, err := r.lease(key)
	if err != nil {
		return lease.Lease{}, fail(ctx, "acquire lease", key, err)
	}
	return l, nil
}

// date gives a stale grant its expiry afresh. Its statement has no effect on what
// comes after the grant, should it arrive late.
func (s *Service) date(ctx context.Context, key, holder string, us int64, r record) (record, bool, error) {
	l := lease.Lease{Key: key, Holder: holder, Token: r.token}
	err := s.try(ctx, key, func() (err error) {
		r.expires, err = s.store.renew(ctx, l, us)
		return err
	})
	if err == nil && r.expires == 0 { // it was over at once
		return s.acquire(ctx, key, holder, us)
	}
	return r, err == nil, err
}

func (s *Service) acquire(ctx context.Context, key, holder string, us int64) (r record, granted bool, err error) {
	err = s.try(ctx, key, func() (err error) {
		r, granted, err = s.store.acquire(ctx, key, holder, us)
		return err
	})
	return r, granted, err
}

// Renew implements [lease.Service].
func (s *Service) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if err := begin(ctx, "renew lease", lease.CheckRenew(l, ttl)); err != nil {
		return lease.Lease{}, err
	}
	var expires int64
	err := s.try(ctx, l.Key, func() (err error) {
		expires, err = s.store.renew(ctx, l, micros(ttl))
		return err
	})
	if err != nil {
		return lease.Lease{}, fail(ctx, "renew lease", l.Key, err)
	}
	if expires == 0 {
		return lease.Lease{}, lease.ErrLost
	}
	l.ExpiresAt = time.UnixMicro(expires).UTC()
	return l, nil
}

// Release implements [lease.Service]. It returns nil for a lease that is not
// the present grant.
func (s *Service) Release(ctx context.Context, l lease.Lease) error {
	if err := begin(ctx, "release lease", lease.CheckLease(l)); err != nil {
		return err
	}
	if err := s.try(ctx, l.Key, func() error { return s.store.release(ctx, l) }); err != nil {
		return fail(ctx, "release lease", l.Key, err)
	}
	return nil
}

// Get implements [lease.Service].
func (s *Service) Get(ctx context.Context, key string) (lease.Lease, error) {
	if err := begin(ctx, "get lease", lease.CheckKey(key)); err != nil {
		return lease.Lease{}, err
	}
	var r record
	found := false
	err := s.try(ctx, key, func() (err error) {
		r, found, err = s.store.get(ctx, key)
		return err
	})
	if err != nil {
		return lease.Lease{}, fail(ctx, "get lease", key, err)
	}
	if !found {
		return lease.Lease{}, lease.ErrNotHeld
	}
	l, err := r.lease(key)
	if err != nil {
		return lease.Lease{}, fail(ctx, "get lease", key, err)
	}
	if !r.live() {
		return lease.Lease{}, lease.ErrNotHeld
	}
	return l, nil
}

// begin returns why a call must not touch the store: its context has ended, or
// an argument is invalid.
func begin(ctx context.Context, verb string, invalid error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return invalid
}

// fail says which call an error belongs to. If its context has ended, the error
// is the context's too, whatever the driver made of it: a connection that was
// closed, a statement that was interrupted, a deadline that the driver noticed
// just before the context itself.
func fail(ctx context.Context, verb, key string, err error) error {
	ended := ctx.Err()
	if deadline, ok := ctx.Deadline(); ok && ended == nil && !time.Now().Before(deadline) {
		ended = context.DeadlineExceeded
	}
	if ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%s %q: %w: %w", verb, key, ended, err)
	}
	return fmt.Errorf("%s %q: %w", verb, key, err)
}

// micros returns ttl in µs, rounded up.
func micros(ttl time.Duration) int64 {
	us := int64(ttl / time.Microsecond)
	if ttl%time.Microsecond != 0 {
		us++
	}
	return us
}
