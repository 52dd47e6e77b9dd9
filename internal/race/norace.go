//go:build !race

// Package race says whether the race detector watches. It makes everything some eight
// times as slow, so a zoo may try a part with it; make test runs the whole without it.
package race

// Enabled says whether the race detector watches.
const Enabled = false
