package chaos

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Place says what a fault is done to. Faults of one place never overlap, those
// of different ones do.
type Place string

// The places.
const (
	OnLink  Place = "link"  // the connections of one worker
	OnClock Place = "clock" // the server clock
	OnStore Place = "store" // the server, its process, or all links
)

// Kind is what faults of one kind are made by during a campaign.
type Kind struct {
	Name string
	On   Place
	Make func(s Scene, rnd *rand.Rand) Fault

	// Often is how often the fault is drawn in relation to others of its place; 0 is 1.
	Often int

	// Slow says that calls met by it wait until they time out. It lasts for two
	// calls of a worker at most.
	Slow bool

	// Loses is the clause that forbids the loss of an answered grant by this
	// fault: TOKEN-10 for a crash, TOKEN-11 for a failover. Else it is "".
	Loses string
}

// Scene is what a fault can be done to.
type Scene struct {
	Link  *Link   // of the worker, if it is done to one; else nil
	Links []*Link // of all workers
	Clock Clock   // nil if it can't be moved
	Match func(request []byte) bool
}

// LinkKinds are the faults of links.
func LinkKinds() []Kind {
	var all []Kind
	add := func(name string, slow bool, of func(s Scene, rnd *rand.Rand) Fault) {
		all = append(all, Kind{Name: name, On: OnLink, Slow: slow, Make: of})
	}
	ms := func(rnd *rand.Rand, most int) time.Duration {
		return time.Duration(1+rnd.IntN(most)) * time.Millisecond
	}
	add("link/delay", false, func(s Scene, rnd *rand.Rand) Fault { return Delay(s.Link, ms(rnd, 10)) })
	add("link/drip", false, func(s Scene, rnd *rand.Rand) Fault { return Drip(s.Link, 8+rnd.IntN(32), time.Millisecond) })
	add("link/cut", false, func(s Scene, _ *rand.Rand) Fault { return Cut(s.Link) })
	add("link/reset", false, func(s Scene, _ *rand.Rand) Fault { return Reset(s.Link) })
	add("link/black-hole", true, func(s Scene, _ *rand.Rand) Fault { return BlackHole(s.Link) })
	add("link/deaf", true, func(s Scene, _ *rand.Rand) Fault { return Deaf(s.Link) })
	add("link/half-open", true, func(s Scene, _ *rand.Rand) Fault { return HalfOpen(s.Link) })
	add("link/cut-request", false, func(s Scene, rnd *rand.Rand) Fault { return CutRequest(s.Link, 1+rnd.IntN(200)) })
	add("link/cut-reply", false, func(s Scene, rnd *rand.Rand) Fault { return CutReply(s.Link, 1+rnd.IntN(60)) })
	add("link/lose-reply", false, func(s Scene, rnd *rand.Rand) Fault {
		a := Aim{Match: s.Match, Nth: 1 + rnd.IntN(2)}
		if rnd.IntN(4) == 0 {
			a.Match = nil
		}
		return LoseReply(s.Link, a)
	})
	add("link/late", false, func(s Scene, _ *rand.Rand) Fault { return Late(s.Link, Aim{Match: s.Match, Nth: 1}) })
	add("link/repeat", false, func(s Scene, _ *rand.Rand) Fault { return Repeat(s.Link, Aim{Match: s.Match, Nth: 1}) })
	add("link/replay", false, func(s Scene, _ *rand.Rand) Fault { return Replay(s.Link, Aim{Match: s.Match, Nth: 1}) })
	return all
}

// PartitionKind separates some of the workers from the store, never all.
func PartitionKind() Kind {
	return Kind{Name: "link/partition", On: OnStore, Often: 2, Slow: true, Make: func(s Scene, rnd *rand.Rand) Fault {
		some := append([]*Link(nil), s.Links...)
		rnd.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		return Partition(some[:1+rnd.IntN(max(len(some)-1, 1))]...)
	}}
}

// ClockKinds are the faults of a server clock.
func ClockKinds() []Kind {
	steps := []time.Duration{time.Millisecond, 50 * time.Millisecond, time.Second, time.Minute, time.Hour, 48 * time.Hour}
	by := func(rnd *rand.Rand) time.Duration { return steps[rnd.IntN(len(steps))] }
	kind := func(name string, of func(s Scene, rnd *rand.Rand) Fault) Kind {
		return Kind{Name: "clock/" + name, On: OnClock, Make: of}
	}
	return []Kind{
		kind("forward", func(s Scene, rnd *rand.Rand) Fault { return Step(s.Clock, by(rnd), s.Links...) }),
		kind("back", func(s Scene, rnd *rand.Rand) Fault { return Step(s.Clock, -by(rnd), s.Links...) }),
		kind("fast", func(s Scene, rnd *rand.Rand) Fault { return Rate(s.Clock, float64(2+rnd.IntN(500)), s.Links...) }),
		kind("slow", func(s Scene, rnd *rand.Rand) Fault { return Rate(s.Clock, rnd.Float64(), s.Links...) }),
	}
}

// ProcessKinds are the faults of a server that runs as a process. Of one that
// keeps nothing over a crash, restarts are no faults but the end: leave them
// out.
func ProcessKinds(p Process) []Kind {
	return []Kind{
		{Name: "process/kill", On: OnStore, Loses: "TOKEN-10", Make: func(s Scene, _ *rand.Rand) Fault { return Kill(p, s.Links...) }},
		{Name: "process/restart", On: OnStore, Loses: "TOKEN-10", Make: func(s Scene, _ *rand.Rand) Fault { return Restart(p, s.Links...) }},
		{Name: "process/pause", On: OnStore, Slow: true, Make: func(s Scene, _ *rand.Rand) Fault { return Pause(p, s.Links...) }},
	}
}

// available makes a fault of the kind that is never started, and asks it.
func (k Kind) available(s Scene) error {
	if k.Make == nil {
		return fmt.Errorf("kind %s makes no fault", k.Name)
	}
	return k.Make(s, rand.New(rand.NewPCG(0, 0))).Available()
}
