//go:build race

package leasetest_test

const raceEnabled = true
