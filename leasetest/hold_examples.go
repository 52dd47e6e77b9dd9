package leasetest

import "time"

// holdExample is a story written by hand.
type holdExample struct {
	name  string
	shows []string // the clauses that it tries; a helper that keeps them passes by it
	needs string   // the option that a helper may refuse; "" for none
	story schedule
}

// holdTTL is the ttl of the examples.
const holdTTL = 30 * time.Second

// told makes a story of one call of the helper.
func told(body bodyPlan, turns ...turn) schedule {
	return schedule{options: holdOptions{ttl: holdTTL}, holds: []hold{{body: body}}, turns: turns}
}

func (p schedule) with(change func(p *schedule)) schedule {
	p.holds = append([]hold(nil), p.holds...)
	change(&p)
	return p
}

// ending lets the caller's context end.
func (p schedule) ending(at time.Duration, deadline bool) schedule {
	return p.with(func(p *schedule) { p.holds[0].ends, p.holds[0].deadline = at, deadline })
}

func works(d time.Duration) bodyPlan { return bodyPlan{runs: d} }
func heeds(d time.Duration) bodyPlan { return bodyPlan{runs: d, heeds: true} }
func (b bodyPlan) and(as bodyEnd) bodyPlan {
	b.as = as
	return b
}

// holdExamples are the stories of the examples: the plain ones first, so that a
// plain fault is met in a plain story.
func holdExamples() []holdExample {
	const s = time.Second
	ttl := holdTTL
	theft := func(at time.Duration) turn { return turn{do: taken, at: at} }
	during := func(do turnKind, ops opSet, at, until time.Duration) turn {
		return turn{do: do, ops: ops, at: at, until: until}
	}
	return []holdExample{
		{"the body succeeds", []string{"HOLD-1", "HOLD-6", "HOLD-7"}, "", told(works(5 * s))},
		{"the holder has a name", []string{"HOLD-1"}, "", told(works(5 * s)).with(func(p *schedule) { p.options.name = "worker" })},
		{"the body returns an error", []string{"HOLD-7", "HOLD-8"}, "", told(works(5 * s).and(fails))},
		{"the body panics", []string{"HOLD-7"}, "", told(works(5 * s).and(panics))},
		{"the body takes long", []string{"HOLD-2", "HOLD-6", "HOLD-10"}, "", told(works(10 * ttl))},
		{"the body takes long, and nothing is left of it", []string{"HOLD-10"}, "", told(works(ttl)).with(func(p *schedule) { p.after = true })},
		{"the body fails after long, and nothing is left of it", []string{"HOLD-10"}, "", told(works(ttl).and(fails)).with(func(p *schedule) { p.after = true })},
		{"the body panics after long, and nothing is left of it", []string{"HOLD-10"}, "", told(works(ttl).and(panics)).with(func(p *schedule) { p.after = true })},
		{"two calls at once on one key", []string{"HOLD-9"}, "", told(works(5 * s)).with(func(p *schedule) {
			p.options.name = "worker"
			p.holds = append(p.holds, hold{body: works(5 * s)})
		})},
		{"one call after another on one key", []string{"HOLD-2"}, "", told(works(s)).with(func(p *schedule) {
			p.holds = append(p.holds, hold{next: true, body: works(5 * ttl)})
		})},
		{"two leases at once, and one is given back early", []string{"HOLD-2"}, "", told(works(s)).with(func(p *schedule) {
			p.holds = append(p.holds, hold{key: 1, body: works(5 * ttl)})
		})},
		{"a short ttl", []string{"HOLD-2"}, "", told(works(5 * s)).with(func(p *schedule) { p.options.ttl = s })},
		{"Acquire fails", []string{"HOLD-1"}, "", told(works(5*s), during(refused, onAll, 0, 0))},
		{"the key is held", []string{"HOLD-9"}, "", told(works(s), turn{do: taken})},
		{"the helper waits for a key that is held, and gets it", []string{"HOLD-1"}, "Wait",
			told(works(s), turn{do: taken, until: 3 * ttl}).ending(24*time.Hour, false).with(func(p *schedule) { p.options.wait = s })},
		{"the context is cancelled while the helper waits", []string{"HOLD-9"}, "Wait",
			told(works(s), turn{do: taken}).ending(2*ttl, false).with(func(p *schedule) { p.options.wait = s })},
		{"the deadline passes while the helper waits", []string{"HOLD-9"}, "Wait",
			told(works(s), turn{do: taken}).ending(2*ttl+7, true).with(func(p *schedule) { p.options.wait = s })},
		{"two calls wait for one key", []string{"HOLD-9"}, "Wait",
			told(works(s), turn{do: taken}).ending(10*ttl, false).with(func(p *schedule) {
				p.options.wait = s
				p.holds = append(p.holds, p.holds[0])
			})},

		{"the lease is lost, and the body heeds its context", []string{"HOLD-3"}, "", told(heeds(10*ttl), theft(ttl/2))},
		{"the lease is lost, and the body does not look", []string{"HOLD-3"}, "", told(works(2*ttl), theft(ttl/2))},
		{"the lease is lost, and the body fails", []string{"HOLD-3", "HOLD-8"}, "", told(works(2*ttl).and(fails), theft(ttl/2))},
		{"the lease is lost, and the body panics", []string{"HOLD-7"}, "", told(works(s).and(panics), theft(ttl/2))},
		{"the lease is lost in the store, and nobody has the key", []string{"HOLD-3"}, "", told(heeds(10*ttl), turn{do: taken, at: ttl / 2, until: ttl/2 + 1})},
		{"the lease is lost just before the body returns", []string{"HOLD-6"}, "", told(works(5*s), theft(4*s))},
		{"the lease is lost just before the body returns, and a late Release is ErrLost", []string{"HOLD-6"}, "",
			told(works(5*s), theft(4*s)).with(func(p *schedule) { p.strict = true })},

		{"renewals hang", []string{"HOLD-4"}, "", told(heeds(10*ttl), during(hangs, onRenew|onGet, s, 0))},
		{"renewals hang, and the body does not look", []string{"HOLD-4"}, "", told(works(2*ttl), during(hangs, onRenew|onGet, s, 0))},
		{"renewals hang after some were confirmed", []string{"HOLD-4"}, "", told(heeds(10*ttl), during(hangs, onAll, 2*ttl+s, 5*ttl))},
		{"renewals hang, and the client is slow to give up", []string{"HOLD-4"}, "",
			told(heeds(10*ttl), turn{do: hangs, ops: onRenew | onGet, at: s, by: time.Hour})},
		{"all renewals fail", []string{"HOLD-4"}, "", told(heeds(10*ttl), during(refused, onRenew|onGet, s, 0))},
		{"the store fails for good", []string{"HOLD-4"}, "", told(heeds(10*ttl), during(refused, onAll, s, 0))},
		{"the replies of all renewals are lost", []string{"HOLD-4"}, "", told(heeds(10*ttl), during(unheard, onRenew, s, 0))},
		{"the reply of Acquire comes late, and renewals fail", []string{"HOLD-4"}, "",
			told(heeds(10*ttl), turn{do: slowBack, ops: onAcquire, by: ttl / 3}, during(refused, onRenew|onGet, s, 0))},
		{"the reply of a renewal comes late, and the others fail", []string{"HOLD-4"}, "",
			told(heeds(10*ttl), turn{do: slowBack, ops: onRenew, at: s, until: ttl / 2, by: ttl / 6}, during(refused, onRenew|onGet, ttl/2, 0))},
		{"the clocks drift by the margin", []string{"HOLD-4"}, "Margin",
			told(heeds(10*ttl), during(hangs, onRenew|onGet, s, 0)).with(func(p *schedule) { p.options.margin = ttl / 10 })},
		{"the worker's wall clock is behind", []string{"HOLD-4"}, "",
			told(heeds(10*ttl), during(hangs, onRenew|onGet, s, 0)).with(func(p *schedule) { p.ahead = time.Hour })},
		{"the worker's wall clock is ahead", []string{"HOLD-2", "HOLD-6"}, "",
			told(works(3 * ttl)).with(func(p *schedule) { p.ahead = -time.Hour })},
		{"the worker's wall clock steps back, and renewals hang", []string{"HOLD-4"}, "",
			told(heeds(10*ttl), turn{do: clockSet, at: 2 * s, by: time.Hour}, during(hangs, onRenew|onGet, ttl/2, 0))},
		{"the worker's wall clock steps ahead", []string{"HOLD-2", "HOLD-6"}, "",
			told(works(3*ttl), turn{do: clockSet, at: 2 * s, by: -time.Hour})},
		{"one of two leases can't be renewed", []string{"HOLD-2", "HOLD-4", "HOLD-6"}, "",
			told(heeds(2*ttl), during(hangs, onRenew|onGet, s, 0)).with(func(p *schedule) {
				p.holds = append(p.holds, hold{key: 1, body: works(4 * ttl)})
			})},

		{"one renewal fails", []string{"HOLD-5", "HOLD-6"}, "", told(works(3*ttl), during(refused, onRenew, s, ttl/2+1))},
		{"renewals fail for a while", []string{"HOLD-5"}, "", told(works(3*ttl), during(refused, onRenew, s, 17*s))},
		{"the reply of one renewal is lost", []string{"HOLD-5"}, "", told(works(3*ttl), during(unheard, onRenew, s, ttl/2+1))},
		{"renewals hang for a while", []string{"HOLD-2"}, "", told(works(3*ttl), during(hangs, onRenew, s, ttl/2+1))},

		{"the store can't confirm the lease", []string{"HOLD-6"}, "", told(works(5*s), during(refused, onRenew|onGet, 2*s, 0))},
		{"the store hangs when the body returns", []string{"HOLD-6"}, "", told(works(5*s), during(hangs, onRenew|onGet, 2*s, 0))},
		{"the lease ends before the body returns", []string{"HOLD-3", "HOLD-4"}, "", told(works(2*ttl), during(hangs, onRenew|onGet, s, 2*ttl-s))},

		{"the caller's context is cancelled", []string{"HOLD-7"}, "", told(heeds(ttl)).ending(5*s, false)},
		{"the caller's deadline passes", []string{"HOLD-7"}, "", told(heeds(ttl)).ending(5*s, true)},
		{"the caller's context is cancelled, and the body finishes its work", []string{"HOLD-2", "HOLD-6", "HOLD-7"}, "", told(works(3*ttl)).ending(5*s, false)},
		{"the caller's context is cancelled, and the lease ends before the body has finished its work", []string{"HOLD-6"}, "",
			told(works(2*ttl), during(refused, onRenew|onGet, 6*s, 0)).ending(5*s, false)},
		{"the caller's context is cancelled, and the body panics", []string{"HOLD-7"}, "", told(works(10*s).and(panics)).ending(5*s, false)},
		{"Release hangs", []string{"HOLD-7"}, "", told(works(5*s), during(hangs, onRelease, 0, 0))},
		{"Release hangs, and the body fails", []string{"HOLD-8"}, "", told(works(5*s).and(fails), during(hangs, onRelease, 0, 0))},
		{"Release takes a while", []string{"HOLD-7", "HOLD-10"}, "", told(works(ttl), turn{do: slow, ops: onRelease, by: 2 * s})},
		{"Release fails", []string{"HOLD-6"}, "", told(works(5*s), during(refused, onRelease, 0, 0))},
		{"Release fails, and the body fails", []string{"HOLD-8"}, "", told(works(5*s).and(fails), during(refused, onRelease, 0, 0))},

		{"a renewal is under way when the body returns", []string{"HOLD-6"}, "",
			told(works(15*s), turn{do: slow, ops: onRenew, at: s, until: 15 * s, by: 20 * s})},
		{"a renewal hangs when the body returns, and the client is slow to give up", []string{"HOLD-10"}, "",
			told(works(20*s), turn{do: hangs, ops: onRenew, at: s, until: 20 * s, by: 3 * s})},
	}
}
