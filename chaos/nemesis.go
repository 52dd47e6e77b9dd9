package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// nemesis makes faults as a schedule says.
type nemesis struct {
	kinds map[string]Kind
	scene Scene
	began time.Time

	// starting is held while a clock is wrong, and while the store is healed: a
	// server that starts may wait until a time of day, which never comes if its
	// clock steps back meanwhile, or stands.
	starting sync.Mutex

	mu     sync.Mutex
	events []Happened
	failed error
}

// Happened is an event and what became of it.
type Happened struct {
	Event
	Started time.Duration `json:"started"` // since the campaign began
	Healed  time.Duration `json:"healed"`
	Hits    int           `json:"hits"`
	Loses   string        `json:"loses,omitempty"`
}

// active is a fault that is on.
type active struct {
	e     Event
	fault Fault
	at    time.Duration
}

// healLimit bounds starting and healing a fault.
const healLimit = time.Minute

// linkHeal bounds how long a late request may wait for its answer. What has not
// been answered then may arrive later still.
const linkHeal = time.Second

// start makes the fault of an event and starts it.
func (n *nemesis) start(e Event, link *Link) *active {
	scene := n.scene
	scene.Link = link
	f := n.kinds[e.Fault].Make(scene, rand.New(rand.NewPCG(e.Seed, 0)))
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	at := time.Since(n.began)
	if err := f.Start(ctx); err != nil {
		n.fail(fmt.Errorf("start %s: %w", e.Fault, err))
	}
	return &active{e, f, at}
}

// heal ends a fault and notes what it did.
func (n *nemesis) heal(a *active) {
	limit := healLimit
	if a.e.On == OnLink {
		limit = linkHeal
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := a.fault.Heal(ctx)
	if err != nil && !(a.e.On == OnLink && errors.Is(err, context.DeadlineExceeded)) {
		n.fail(fmt.Errorf("heal %s: %w", a.e.Fault, err))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, Happened{
		Event: a.e, Started: a.at, Healed: time.Since(n.began), Hits: a.fault.Hits(), Loses: n.kinds[a.e.Fault].Loses,
	})
}

func (n *nemesis) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = errors.Join(n.failed, err)
}

// follow makes the faults of one line that is counted in all calls.
func (n *nemesis) follow(line []Event, p *progress) {
	for _, e := range line {
		if !p.reached(e.At) {
			return
		}
		if e.On == OnClock {
			n.starting.Lock()
		}
		a := n.start(e, nil)
		p.pass(e.For)
		if e.On == OnStore {
			n.starting.Lock()
		}
		n.heal(a)
		n.starting.Unlock()
	}
}
