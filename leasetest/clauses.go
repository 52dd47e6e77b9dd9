package leasetest

import "slices"

//go:generate go run ../internal/conformance ../CONFORMANCE.md

// clauses is the contract, clause by clause, in the order of CONFORMANCE.md.
// The ids never change their meaning: a clause that is dropped leaves a gap,
// and a new one goes to the end of its group.
var clauses = slices.Concat(
	exclusionClauses,
	tokenClauses,
	expiryClauses,
	renewClauses,
	releaseClauses,
	getClauses,
	keyClauses,
	argumentClauses,
	failureClauses,
	holdClauses,
	fenceClauses,
)
