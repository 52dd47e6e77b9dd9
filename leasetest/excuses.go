package leasetest

// excuses are the clauses that are known to fail, or declared as deviations:
// the model is relaxed for them, so that the clauses after them are examined.
type excuses struct {
	failed   map[string]bool
	declared map[string]bool
	shown    map[string]*finding // the first evidence of each declared one

	// obscured are the clauses that a reply may have broken which was put down
	// to another one, known to fail: nobody can tell, so they don't pass.
	obscured map[string]string
}

func newExcuses(h *Harness) *excuses {
	x := &excuses{failed: map[string]bool{}, declared: map[string]bool{}, shown: map[string]*finding{}, obscured: map[string]string{}}
	for id := range h.Deviations {
		x.declared[id] = true
	}
	return x
}

func (x *excuses) has(id string) bool { return x.failed[id] || x.declared[id] }

func (x *excuses) any() []string {
	var ids []string
	for _, c := range clauses {
		if x.has(c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (x *excuses) used(f *finding) {
	if x.declared[f.clause] && x.shown[f.clause] == nil {
		x.shown[f.clause] = f
	}
}

// finding is a broken clause with its evidence.
type finding struct {
	clause  string
	problem string
	events  []Event
	prog    program
	files   []string
	foundBy string
}

// upsetting are the clauses by whose breach a key may get into a state that the
// reply does not tell: one that only misreports leaves the model right.
var upsetting = map[string]bool{
	"EXCL-1": true, "EXCL-2": true, "EXCL-4": true, "EXCL-6": true,
	"RENEW-2": true, "RENEW-3": true, "RENEW-4": true, "RENEW-5": true,
	"RELEASE-1": true, "RELEASE-2": true, "EXPIRY-7": true,
	"GET-3": true, "KEY-1": true, "KEY-2": true, "ARG-4": true,
}
