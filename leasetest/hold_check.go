package leasetest

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// checkHold puts a helper through the stories of the examples, and then through
// random ones.
func (s *suite) checkHold(hold HoldFunc) {
	told := s.holdExamples(hold) && s.randomStories(hold)
	if !told {
		s.cutShort()
	}
}

// holdExamples says whether the run came to their end.
func (s *suite) holdExamples(hold HoldFunc) bool {
	for _, e := range holdExamples() {
		if s.ctx.Err() != nil {
			return false
		}
		name := fmt.Sprintf("example %q", e.name)
		r := hold.tell(s.guard, e.story)
		u := judgeStory(e.story, r)
		s.breaches(hold, e.story, r, u, name, s.seed)
		for _, id := range e.shows {
			switch _, broken := u.broken[id]; {
			case broken:
			case u.stuck != "":
				s.inconclusive(id, fmt.Sprintf("%s: %s", name, u.stuck))
			case u.refused && e.needs != "":
				s.lacks(id, "needs HoldOptions."+e.needs+", which the helper refuses")
			case u.refused:
				s.inconclusive(id, fmt.Sprintf("%s: the helper refuses its options: %v", name, r.holds[0].err))
			case u.kept[id]:
				s.examined(id)
			default:
				s.offPlan(id, name, "its end, where the helper "+r.holds[len(r.holds)-1].outcome())
			}
		}
	}
	return true
}

// randomStories says whether the run came to their end.
func (s *suite) randomStories(hold HoldFunc) bool {
	gen := rapid.Custom(drawSchedule)
	for i := range s.knobs.cases {
		if s.ctx.Err() != nil {
			return false
		}
		seed := caseSeed(s.seed, i)
		story := gen.Example(int(seed))
		name := fmt.Sprintf("random schedules, case %d", i+1)
		r := hold.tell(s.guard, story)
		u := judgeStory(story, r)
		if u.stuck != "" {
			for _, c := range s.clauses {
				s.inconclusive(c.ID, fmt.Sprintf("%s (seed %d): %s", name, seed, u.stuck))
			}
		}
		s.breaches(hold, story, r, u, name, seed)
	}
	return true
}

// breaches records the clauses that a story broke, each with the shortest story
// found.
func (s *suite) breaches(hold HoldFunc, story schedule, r *record, u ruling, found string, seed uint64) {
	for _, id := range slices.Sorted(maps.Keys(u.broken)) {
		if s.tally(id).failure != nil {
			continue
		}
		b := u.broken[id]
		if i := slices.IndexFunc(b.or, s.excuses.has); i >= 0 {
			s.excuses.obscured[id] = b.or[i]
			continue
		}
		f := &finding{clause: id, problem: b.problem, events: timeline(story, r, b)}
		s.fail(s.shortestStory(hold, story, id, f), found, seed)
	}
}

// leftLimit is after how many stories that left something behind the search for a
// shorter one ends: what they left stays in memory.
const leftLimit = 30

// shortestStory shrinks a story that breaks a clause. A breach that does not repeat
// is a breach all the same, unshrunk.
func (s *suite) shortestStory(hold HoldFunc, story schedule, id string, best *finding) *finding {
	left := 0
	broken := func(p schedule) (*finding, bool) {
		if left == leftLimit {
			return nil, false
		}
		r := hold.tell(s.guard, p)
		if r.left {
			left++
		}
		b, ok := judgeStory(p, r).broken[id]
		if !ok || slices.ContainsFunc(b.or, s.excuses.has) {
			return nil, false
		}
		return &finding{clause: id, problem: b.problem, events: timeline(p, r, b)}, true
	}
	shrinkStory(story, func(p schedule) bool {
		f, ok := broken(p)
		if ok {
			best = f
		}
		return ok
	})
	return best
}
