package chaos

import (
	"context"
	"errors"
)

// partition is several black holes at once.
type partition struct {
	holes []Fault
}

// Partition separates the workers of these links from the store, while the
// others still reach it. It is a BlackHole on each.
func Partition(links ...*Link) Fault {
	f := &partition{}
	for _, l := range links {
		f.holes = append(f.holes, BlackHole(l))
	}
	return f
}

func (f *partition) Name() string     { return "link/partition" }
func (f *partition) Available() error { return nil }

func (f *partition) Start(ctx context.Context) error {
	for _, hole := range f.holes {
		if err := hole.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *partition) Heal(ctx context.Context) error {
	var err error
	for _, hole := range f.holes {
		err = errors.Join(err, hole.Heal(ctx))
	}
	return err
}

func (f *partition) Hits() (n int) {
	for _, hole := range f.holes {
		n += hole.Hits()
	}
	return n
}
