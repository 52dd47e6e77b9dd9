package leasetest

import "time"

// shrinkLimits bound the search for a shorter program.
const (
	shrinkRuns = 600
	shrinkTime = 3 * time.Second
)

// shrink looks for a shorter and simpler program for which fails still holds:
// it leaves out runs of steps, long ones first, and then makes what is left
// plainer. The program is returned as it is if nothing shorter fails.
func shrink(p program, fails func(program) bool) program {
	deadline := time.Now().Add(shrinkTime)
	runs := 0
	try := func(q program) bool {
		runs++
		return runs <= shrinkRuns && time.Now().Before(deadline) && fails(q)
	}
	for {
		before := len(p)
		p = leaveOut(p, try)
		p = plainer(p, try)
		if len(p) == before {
			return p
		}
	}
}

func leaveOut(p program, try func(program) bool) program {
	for size := len(p) / 2; size > 0; size /= 2 {
		for at := len(p) - size; at >= 0; {
			q := append(append(program(nil), p[:at]...), p[at+size:]...)
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
func plainer(p program, try func(program) bool) program {
	for i := range p {
		for _, simpler := range []func(*step){
			func(s *step) { s.worker = 0 },
			func(s *step) { s.key = "%" },
			func(s *step) { s.holder = "alice" },
			func(s *step) { s.ttl = min(s.ttl, 10*time.Minute) },
			func(s *step) { s.ref.alter = intact },
			func(s *step) { s.ref.back = 0 },
			func(s *step) { s.move.units = 0 },
		} {
			q := append(program(nil), p...)
			simpler(&q[i])
			if q[i] != p[i] && try(q) {
				p = q
			}
		}
	}
	return p
}
