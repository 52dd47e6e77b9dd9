//go:build !race

package integration

// raceDetector says whether the tests were built with -race.
const raceDetector = false
