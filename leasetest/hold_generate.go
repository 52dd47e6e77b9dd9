package leasetest

import (
	"time"

	"pgregory.net/rapid"
)

// drawSchedule draws a random story. Its instants favour the parts of a ttl at
// which helpers renew and leases end.
func drawSchedule(t *rapid.T) schedule {
	ttl := rapid.SampledFrom([]time.Duration{30 * time.Second, 3 * time.Second, 10 * time.Minute}).Draw(t, "ttl")
	instant := func(label string, most int) time.Duration {
		return ttl*time.Duration(rapid.IntRange(0, 12*most).Draw(t, label))/12 +
			rapid.SampledFrom([]time.Duration{0, 0, 1, -1, 7 * time.Millisecond}).Draw(t, label+", moved by")
	}
	some := func(label string, most int) time.Duration { return max(1, instant(label, most)) }
	one := func(label string, of int) bool { return rapid.IntRange(1, of).Draw(t, label) == 1 }

	p := schedule{
		options: holdOptions{
			ttl:    ttl,
			every:  rapid.SampledFrom([]time.Duration{0, 0, 0, ttl / 2, ttl / 5}).Draw(t, "every"),
			margin: rapid.SampledFrom([]time.Duration{0, 0, ttl / 10}).Draw(t, "margin"),
			name:   rapid.SampledFrom([]string{"", "worker", "wörker 1/2"}).Draw(t, "name"),
		},
		ahead:  rapid.SampledFrom([]time.Duration{0, 0, time.Hour, -time.Hour, 50 * day}).Draw(t, "ahead"),
		strict: rapid.Bool().Draw(t, "strict"),
		after:  rapid.Bool().Draw(t, "after"),
	}
	if one("waits", 5) {
		p.options.wait = ttl / 10
	}
	for i := range rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "holds") {
		h := hold{body: bodyPlan{
			runs:  some("runs", 4),
			heeds: rapid.Bool().Draw(t, "heeds"),
			as:    rapid.SampledFrom([]bodyEnd{succeeds, succeeds, fails, panics}).Draw(t, "as"),
		}}
		if i > 0 {
			h.next, h.key = rapid.Bool().Draw(t, "next"), rapid.IntRange(0, 1).Draw(t, "key")
		}
		if one("ends", 4) {
			h.ends, h.deadline = some("ends at", 3), rapid.Bool().Draw(t, "deadline")
		}
		p.holds = append(p.holds, h)
	}
	for range rapid.IntRange(0, 4).Draw(t, "turns") {
		x := turn{
			do: rapid.SampledFrom([]turnKind{taken, refused, unheard, slow, slowBack, hangs, clockSet}).Draw(t, "turn"),
			at: max(0, instant("from", 3)),
		}
		switch x.do {
		case clockSet:
			x.by = rapid.SampledFrom([]time.Duration{-time.Hour, -ttl, ttl, time.Hour}).Draw(t, "step")
		case slow, slowBack:
			x.by = some("by", 1)
		case hangs:
			x.by = rapid.SampledFrom([]time.Duration{0, 0, ttl / 3, 2 * ttl}).Draw(t, "notice")
		}
		if x.do != clockSet && x.do != taken {
			x.ops = opSet(rapid.SampledFrom([]int{int(onRenew), int(onRenew | onGet), int(onAll), int(onRelease), int(onAcquire)}).Draw(t, "ops"))
		}
		if rapid.Bool().Draw(t, "ends again") {
			x.until = x.at + some("lasts", 2)
		}
		p.turns = append(p.turns, x)
	}
	return p
}

// shrinkStory looks for a shorter and plainer story for which fails still holds.
func shrinkStory(p schedule, fails func(schedule) bool) schedule {
	try := whileTime(fails)
	p.turns = leaveOut(p.turns, func(turns []turn) bool { q := p; q.turns = turns; return try(q) })
	p.holds = leaveOut(p.holds, func(holds []hold) bool { q := p; q.holds = holds; return len(holds) > 0 && try(q) })
	for _, plainer := range []func(*schedule){
		func(q *schedule) { q.after = false },
		func(q *schedule) { q.strict = false },
		func(q *schedule) { q.ahead = 0 },
		func(q *schedule) { q.options.name = "" },
		func(q *schedule) { q.options.margin = 0 },
		func(q *schedule) { q.options.every = 0 },
		func(q *schedule) { q.options.wait = 0 },
	} {
		q := p
		plainer(&q)
		if try(q) {
			p = q
		}
	}
	ttl := p.options.ttl
	p.holds = plainerEach(p.holds, func(holds []hold) bool { q := p; q.holds = holds; return try(q) },
		func(h *hold) { h.ends, h.deadline = 0, false },
		func(h *hold) { h.deadline = false },
		func(h *hold) { h.ends = min(h.ends, 2*ttl) },
		func(h *hold) { h.ends = min(h.ends, ttl/6) },
		func(h *hold) { h.body.as = succeeds },
		func(h *hold) { h.body.heeds = false },
		func(h *hold) { h.body.runs = min(h.body.runs, 2*ttl) },
		func(h *hold) { h.body.runs = min(h.body.runs, ttl) },
		func(h *hold) { h.body.runs = min(h.body.runs, ttl/2) },
		func(h *hold) { h.body.runs = min(h.body.runs, ttl/6) },
	)
	p.turns = plainerEach(p.turns, func(turns []turn) bool { q := p; q.turns = turns; return try(q) },
		func(x *turn) { x.by = 0 },
		func(x *turn) { x.until = 0 },
		func(x *turn) { x.at = min(x.at, ttl/2) },
		func(x *turn) { x.at = 0 },
	)
	return p
}

// plainerEach tries to make every element of a list plainer, each in every way.
func plainerEach[E comparable](list []E, try func([]E) bool, ways ...func(*E)) []E {
	for i := range list {
		for _, plainer := range ways {
			q := append([]E(nil), list...)
			plainer(&q[i])
			if q[i] != list[i] && try(q) {
				list = q
			}
		}
	}
	return list
}
