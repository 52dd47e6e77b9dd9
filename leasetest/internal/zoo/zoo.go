// Package zoo holds the backends that the suite is tried on: broken ones,
// which it has to fail by the clauses they break, and odd but correct ones,
// which it has to pass.
//
// All are the same small backend in one process (store.go, worker.go), whose
// every decision is a field of rules. A fault is one decision made wrongly, as
// the real ones were that it is modelled on. Switch the fault off and the
// backend is Base, which keeps the contract.
//
// Hold helpers are in the zoo too, all of them one small helper (helper.go) whose
// decisions are the fields of helperRules; BaseHelper is the one without a fault.
package zoo

import (
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// Animal is one backend or hold helper of the zoo.
type Animal struct {
	Name   string // short, unique, kebab-case
	Clause string // the clause it breaks; "" for the odd but correct
	Fault  string // one sentence: what is wrong (or odd)

	// Along are up to two more clauses that the fault breaks by its nature, and
	// Nature says why. The suite has to fail these too, and no others.
	Along  []string
	Nature string

	Kinds  []string // ids of the kinds of faults that it stands for (kinds.go)
	Source string   // address of a public report of such a fault; "" if none is known
	Unseen []string // clauses that its harness can't have checked
	Open   func(t testing.TB) *leasetest.Harness

	// Hold is the hold helper, of an animal that is one; Open is nil then.
	Hold leasetest.HoldFunc
}

// Clauses returns all clauses that the animal breaks.
func (a Animal) Clauses() []string { return append([]string{a.Clause}, a.Along...) }

// Base returns the backend without a fault.
func Base() Animal {
	return Animal{
		Name:  "base",
		Fault: "Nothing is wrong or odd: a map under a mutex, a clock that stands until it is moved.",
		Open:  bred(func(*rules) {}),
	}
}

// Broken returns the backends with a fault, in the order of their clauses.
func Broken() []Animal {
	var all []Animal
	for _, group := range [][]Animal{
		exclFaults(), raceFaults(), holderFaults(), tokenFaults(), counterFaults(),
		expiryFaults(), endFaults(), clockFaults(), renewFaults(), staleRenewFaults(),
		releaseFaults(), getFaults(), keyFaults(), namespaceFaults(), nameFaults(), ttlFaults(),
		contextFaults(), replyFaults(), outageFaults(), damageFaults(), waitFaults(), restartFaults(),
	} {
		all = append(all, group...)
	}
	return all
}

// BaseHelper returns the hold helper without a fault.
func BaseHelper() Animal {
	return Animal{
		Name:  "base-helper",
		Fault: "Nothing is wrong or odd: a goroutine that renews, and one that watches.",
		Hold:  helper(func(*helperRules) {}),
	}
}

// BrokenHelpers returns the hold helpers with a fault, in the order of their
// clauses.
func BrokenHelpers() []Animal {
	var all []Animal
	for _, group := range [][]Animal{
		grantFaults(), keepFaults(), lossFaults(), deadlineFaults(), patienceFaults(),
		confirmFaults(), returnFaults(), errorFaults(), holdWaitFaults(), restFaults(),
	} {
		all = append(all, group...)
	}
	return all
}

// bred returns an opener of the base with some of its decisions changed.
// change runs once per store, so what it keeps in variables belongs to that
// store; the decisions themselves run under the store's mutex, unless rules
// says otherwise.
func bred(change func(r *rules)) func(t testing.TB) *leasetest.Harness {
	return func(testing.TB) *leasetest.Harness {
		r := baseRules()
		change(r)
		return newStore(r).harness()
	}
}

// declaring returns open with figures of the harness set by declare.
func declaring(open func(t testing.TB) *leasetest.Harness, declare func(h *leasetest.Harness)) func(t testing.TB) *leasetest.Harness {
	return func(t testing.TB) *leasetest.Harness {
		h := open(t)
		declare(h)
		return h
	}
}
