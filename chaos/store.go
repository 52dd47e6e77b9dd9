package chaos

import "context"

// Store is a fault of a store, made of what is done to it in its own language.
type Store struct {
	Title string                          // its name: "store/script-flush"
	Can   func() error                    // whether it is available; nil: it is
	Begin func(ctx context.Context) error // starts it
	End   func(ctx context.Context) error // heals it; nil: there is nothing to do
	Count func() int                      // how often it met live traffic, as the store says
}

// Name implements [Fault].
func (f *Store) Name() string { return f.Title }

// Available implements [Fault].
func (f *Store) Available() error {
	if f.Can == nil {
		return nil
	}
	return f.Can()
}

// Start implements [Fault].
func (f *Store) Start(ctx context.Context) error { return f.Begin(ctx) }

// Heal implements [Fault].
func (f *Store) Heal(ctx context.Context) error {
	if f.End == nil {
		return nil
	}
	return f.End(ctx)
}

// Hits implements [Fault].
func (f *Store) Hits() int { return f.Count() }
