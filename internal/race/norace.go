//go:build !race

// Package race says whether the race detector watches. It makes everything some eight
// times as slow, so a test may leave to a run without it what tells the detector
// nothing new; make test has both runs.
package race

// Enabled says whether the race detector watches.
const Enabled = false
