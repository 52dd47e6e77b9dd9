package report

import "github.com/leasekit/lease/leasetest"

// Outcome is what a report comes to.
type Outcome string

// The outcomes.
const (
	Conformant    Outcome = "conformant"
	NotConformant Outcome = "not conformant"
	Inconclusive  Outcome = "inconclusive"
	Nothing       Outcome = "nothing was checked"
)

// OutcomeOf says whether the contract is kept. What is surely broken goes first: a MUST,
// a declaration that is stale, and in a strict run what was not checked.
func OutcomeOf(r *leasetest.Report) Outcome {
	outcome := Conformant
	for _, c := range r.Clauses {
		switch {
		case !c.Failed(r.Strict):
		case c.Stale || c.Verdict == leasetest.Fail || c.Verdict == leasetest.NotChecked:
			return NotConformant
		default:
			outcome = Inconclusive
		}
	}
	if r.Totals[leasetest.Pass]+r.Totals[leasetest.Deviation] == 0 {
		return Nothing
	}
	return outcome
}
