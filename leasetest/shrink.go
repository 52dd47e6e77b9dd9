package leasetest

import "time"

// shrinkLimits bound the search for a shorter program.
const (
	shrinkRuns = 600
	shrinkTime = 3 * time.Second
)

// shrink looks for a shorter and simpler program for which fails still holds:
// it leaves out runs of steps, long ones first, and then makes what is left
// plainer, by what simpler does to a step. The program is returned as it is if
// nothing shorter fails.
func shrink[S comparable](p []S, simpler []func(*S), fails func([]S) bool) []S {
	try := whileTime(fails)
	for {
		before := len(p)
		p = leaveOut(p, try)
		p = plainer(p, simpler, try)
		if len(p) == before {
			return p
		}
	}
}

// whileTime is fails while there is time to look further; after that nothing
// fails any more.
func whileTime[T any](fails func(T) bool) func(T) bool {
	deadline := time.Now().Add(shrinkTime)
	runs := 0
	return func(x T) bool {
		runs++
		return runs <= shrinkRuns && time.Now().Before(deadline) && fails(x)
	}
}

func leaveOut[S ~[]E, E any](p S, try func(S) bool) S {
	for size := max(1, len(p)/2); size > 0; size /= 2 {
		for at := len(p) - size; at >= 0; {
			q := append(append(S(nil), p[:at]...), p[at+size:]...)
			if try(q) {
				p = q
			}
			at = min(at-size, len(p)-size)
			if at < 0 && at > -size && len(p) >= size {
				at = 0
			}
		}
	}
	return p
}

// plainer replaces what is unusual in each step by what is usual.
func plainer[S comparable](p []S, simpler []func(*S), try func([]S) bool) []S {
	for i := range p {
		for _, simplify := range simpler {
			q := append([]S(nil), p...)
			simplify(&q[i])
			if q[i] != p[i] && try(q) {
				p = q
			}
		}
	}
	return p
}

// plainerSteps make a step of a random program plainer, one way each.
var plainerSteps = []func(*step){
	func(s *step) { s.worker = 0 },
	func(s *step) { s.key = "%" },
	func(s *step) { s.holder = "alice" },
	func(s *step) { s.ttl = min(s.ttl, 10*time.Minute) },
	func(s *step) { s.ref.alter = intact },
	func(s *step) { s.ref.back = 0 },
	func(s *step) { s.move.units = 0 },
}
