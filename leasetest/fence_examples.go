package leasetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// fenceExample is a program written by hand for a clause.
type fenceExample struct {
	name  string
	steps []fenceStep
}

// put and look make steps on the key "%".
func put(tokens ...int64) (steps []fenceStep) {
	for _, n := range tokens {
		steps = append(steps, fenceStep{key: "%", token: n})
	}
	return steps
}

func look() fenceStep { return fenceStep{do: fenceRead, key: "%"} }

// by lets a step be taken by another client, and on another key.
func (s fenceStep) by(client int) fenceStep { s.client = client; return s }
func (s fenceStep) on(key string) fenceStep { s.key = key; return s }

// of lets a step write something else.
func (s fenceStep) of(what content) fenceStep { s.what = what; return s }

func sequence(parts ...any) (steps []fenceStep) {
	for _, p := range parts {
		switch p := p.(type) {
		case fenceStep:
			steps = append(steps, p)
		case []fenceStep:
			steps = append(steps, p...)
		}
	}
	return steps
}

// fenceExamples are the plain situations first, and then the boundaries.
func fenceExamples() []fenceExample {
	anew := fenceStep{do: fenceRestart, key: "%"}
	list := []fenceExample{
		{"a first write", sequence(put(1), look())},
		{"a higher token", sequence(put(1), look(), put(2), look(), put(7), look())},
		{"the same token", sequence(put(5), look(), put(5), look())},
		{"the same write once more", sequence(put(5), look(), put(5)[0].of(sameValue), look(), put(5)[0].of(sameValue).by(1), look())},
		{"an empty value", sequence(put(5), put(5)[0].of(noValue), look(), put(6)[0].of(noValue), look())},
		{"a lower token", sequence(put(2), look(), put(1), look())},
		{"a lower token, shown by another client", sequence(put(5), look().by(1), put(4)[0].by(1), look(), look().by(1))},
		{"a lower token than one written before the last", sequence(put(1, 9, 5), look())},
		{"the holder goes on after a stale write", sequence(put(5, 3), look(), put(5), look(), put(4), look(), put(5, 6), look())},
		{"token 0", sequence(put(0), look(), put(3, 0), look(), put(2, 3), look())},
		{"a negative token", sequence(put(-1), look(), put(3, -1), look(), put(2, 3), look())},
		{"the lowest token", sequence(put(math.MinInt64), look(), put(3, math.MinInt64), look(), put(2, 3), look())},
	}
	for _, pair := range [][2]int64{
		{9, 10}, {99, 100}, {2, 11}, {math.MaxInt32, math.MaxInt32 + 1}, {7, math.MaxUint32 + 2},
		{1 << 53, 1<<53 + 1}, {1<<62 - 1, 1 << 62}, {math.MaxInt64 - 1, math.MaxInt64},
	} {
		list = append(list, fenceExample{fmt.Sprintf("%d after %d", pair[0], pair[1]), sequence(put(pair[1]), look(), put(pair[0]), look())})
		list = append(list, fenceExample{fmt.Sprintf("%d before %d", pair[0], pair[1]), sequence(put(pair[0]), look(), put(pair[1]), look(), put(pair[0]), look(), put(pair[1]), look())})
	}
	for _, keys := range families[1:] {
		// Each has a mark of its own, a lower one than the key before it.
		var steps []fenceStep
		for round := range 2 {
			for i, key := range keys {
				token := int64(20 - 2*i + round)
				steps = append(steps, put(token)[0].on(key), put(token - 1)[0].on(key))
			}
			for _, key := range keys {
				steps = append(steps, look().on(key).by(1))
			}
		}
		list = append(list, fenceExample{fmt.Sprintf("look-alike keys such as %.20q", keys[0]), steps})
	}
	return append(list,
		fenceExample{"a restart", sequence(put(5), anew, look(), put(4), look(), put(5, 6), look())},
		fenceExample{"a stale write right after a restart", sequence(put(5), anew, put(4), look(), anew, put(1), look())},
		fenceExample{"a restart with several keys and a large token", sequence(
			put(1<<53+1), put(3)[0].on("%b"), anew, put(1<<53), put(2)[0].on("%b"), look(), look().on("%b"), put(1<<53+1), put(3)[0].on("%b"))},
	)
}

// checkFenceExamples runs the programs that were written by hand.
func (s *fenceSuite) checkFenceExamples() {
	s.withFence("examples", func(st *fenceStore) error {
		for _, e := range fenceExamples() {
			if err := s.attempt(st, e.steps, fmt.Sprintf("example %q", e.name), s.seed); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkFencePrograms runs random programs.
func (s *fenceSuite) checkFencePrograms() {
	s.withFence("random programs", func(st *fenceStore) error {
		gen := fencePrograms(st.h.Restart != nil)
		for i := range s.knobs.cases {
			if s.ctx.Err() != nil {
				s.cutShort()
				return nil
			}
			seed := caseSeed(s.seed, i)
			p := gen.Example(int(seed))
			if n := restarts(p); n <= s.restarts {
				s.restarts -= n
			} else {
				p = slices.DeleteFunc(p, func(step fenceStep) bool { return step.do == fenceRestart })
			}
			err := s.attempt(st, p, "random programs", seed)
			if err != nil && !errors.Is(err, errExhausted) {
				err = fmt.Errorf("seed %d: %w", seed, err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// restarts counts the restarts in a program.
func restarts(p []fenceStep) (n int) {
	for _, step := range p {
		if step.do == fenceRestart {
			n++
		}
	}
	return n
}
