package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Event is one fault of a schedule. It is counted in calls, not in time, so
// that a seed means the same on every machine.
type Event struct {
	Fault  string `json:"fault"`
	On     Place  `json:"on"`
	Worker int    `json:"worker"` // whose link; -1 if it is not done to one
	At     int    `json:"at"`     // starts before this call: of the worker, or of all
	For    int    `json:"for"`    // is healed so many calls after it has started
	Seed   uint64 `json:"seed"`   // of its figures
}

// String shows the event as a schedule does.
func (e Event) String() string {
	whose := "the store's"
	if e.Worker >= 0 {
		whose = fmt.Sprintf("worker %d's", e.Worker)
	}
	return fmt.Sprintf("%s at %s call %d, for %d calls", e.Fault, whose, e.At, e.For)
}

// schedule draws what goes wrong, and when: a line of events for each worker's
// link, one for the clock, one for the store. Events of a line do not overlap.
func schedule(c Campaign, kinds []Kind) []Event {
	of := map[Place][]Kind{}
	for _, k := range kinds {
		of[k.On] = append(of[k.On], k)
	}
	var all []Event
	for w := range c.Workers {
		all = append(all, line(c.Seed, w, of[OnLink], c.Calls/c.Workers, pace{every: 5, most: 5, slow: 2})...)
	}
	all = append(all, line(c.Seed, clockLine, of[OnClock], c.Calls, pace{every: 20, most: 10, slow: 10})...)
	return append(all, line(c.Seed, storeLine, of[OnStore], c.Calls, pace{every: c.StoreEvery, most: 4 * c.Workers, slow: 2 * c.Workers})...)
}

// The lines that belong to no worker.
const (
	clockLine = -1 - iota
	storeLine
)

// pace is how densely a line is filled: a fault every so many calls, for at most
// so many.
type pace struct{ every, most, slow int }

func line(seed uint64, n int, kinds []Kind, calls int, p pace) []Event {
	if len(kinds) == 0 {
		return nil
	}
	rnd := rand.New(rand.NewPCG(seed, uint64(int64(n))))
	var hat []Kind // to draw from
	for _, k := range kinds {
		hat = append(hat, slices.Repeat([]Kind{k}, max(k.Often, 1))...)
	}
	var all []Event
	for at := 1 + rnd.IntN(p.every); at < calls; {
		k := hat[rnd.IntN(len(hat))]
		most := p.most
		if k.Slow {
			most = p.slow
		}
		e := Event{Fault: k.Name, On: k.On, Worker: max(n, -1), At: at, For: 1 + rnd.IntN(most), Seed: rnd.Uint64()}
		all = append(all, e)
		at += e.For + 1 + rnd.IntN(2*p.every)
	}
	return all
}
