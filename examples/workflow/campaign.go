package main

import "math/rand/v2"

// campaign kills, pauses and doubles workers at random, a number of times.
type campaign struct {
	random *rand.Rand
	left   int // so many faults to come
	counts map[string]int

	// Of a paused worker, what has to happen to its run before it wakes.
	until map[*process]string
}

func newCampaign(seed uint64, faults int) *campaign {
	return &campaign{random: rand.New(rand.NewPCG(seed, 0)), left: faults, counts: map[string]int{}, until: map[*process]string{}}
}

func (c *campaign) at(f *floor, p *process, _ event) fate {
	if c.left == 0 || c.random.IntN(2) == 0 {
		return goesOn
	}
	c.left--
	switch c.random.IntN(5) {
	case 0:
		return isDoubled
	case 1:
		return isKilled
	}
	if f.awake() == 1 {
		return isKilled // somebody has to be there to take over
	}
	c.until[p] = claimed
	if c.random.IntN(2) == 0 {
		c.until[p] = finished
	}
	return isPaused
}

func (c *campaign) wakes(p *process, e event) bool {
	return e.What == c.until[p] && e.supersedes(p.at)
}

func (c *campaign) note(_ *process, what string, _ event) { c.counts[what]++ }
