package leasetest

// Level says how binding a clause is.
type Level string

// The levels of CONFORMANCE.md. A failed Should is a warning: it is reported
// and does not fail the run.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// Clause is one promise of the contract. The table of all clauses stands in
// clauses.go, and CONFORMANCE.md is made from it.
type Clause struct {
	ID       string // such as "TOKEN-4"; it never changes its meaning
	Level    Level
	Sentence string // the promise
	Why      string // what goes wrong without it, in one line
	Source   string // address of a public report of that fault; empty if none is known
	How      string // how the suite checks it, in one or two lines
	Needs    string // what a harness must offer for it beyond Connect; empty for nothing
}

// Clauses returns the clauses of the contract in the order of CONFORMANCE.md.
func Clauses() []Clause {
	return append([]Clause(nil), clauses...)
}

func clauseByID(id string) (Clause, bool) {
	for _, c := range clauses {
		if c.ID == id {
			return c, true
		}
	}
	return Clause{}, false
}
