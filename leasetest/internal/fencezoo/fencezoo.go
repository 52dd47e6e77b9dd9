// Package fencezoo holds the protected resources that leasetest.RunFence is tried
// on: broken ones, which it has to fail by the clauses they break, and odd but
// correct ones, which it has to pass.
//
// As in package zoo all are the same small resource in one process (store.go),
// whose every decision is a field of rules. Switch a fault off and the resource is
// Base, which keeps the contract.
package fencezoo

import (
	"slices"
	"testing"

	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// Resource is one animal of this zoo. The Open of its Animal is nil.
type Resource struct {
	zoo.Animal
	OpenFence func(t testing.TB) *leasetest.FenceHarness
}

// Base returns the resource without a fault.
func Base() Resource {
	return Resource{
		zoo.Animal{Name: "fence-base", Fault: "Nothing is wrong or odd: a map under a mutex, which a restart leaves as it is."},
		bred(func(*rules) {}),
	}
}

// Broken returns the resources with a fault, in the order of their clauses.
func Broken() []Resource {
	return slices.Concat(staleFaults(), writeFaults(), raceFaults(), restartFaults(), tokenFaults())
}

// bred returns an opener of the base with some of its decisions changed. change
// runs once per store, so what it keeps in variables belongs to that store; the
// decisions themselves run under the store's mutex, unless rules says otherwise.
func bred(change func(r *rules)) func(t testing.TB) *leasetest.FenceHarness {
	return func(testing.TB) *leasetest.FenceHarness {
		r := baseRules()
		change(r)
		return newStore(r).harness()
	}
}
