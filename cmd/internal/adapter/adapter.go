package adapter

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/leasekit/lease/chaos/clock"
)

// DefaultLimit is how long a worker may take for one reply.
const DefaultLimit = 10 * time.Second

// Adapter is a program that speaks the protocol, with the workers that run it.
// Workers are used again: a suite opens some hundred stores.
type Adapter struct {
	command string
	limit   time.Duration
	broken  func(error)
	hello   hello
	figures figures

	mu     sync.Mutex
	count  int
	all    []*worker
	idle   map[time.Duration][]*worker // by how wrong their clocks are
	clocks map[time.Duration]*clock.Clock
	dir    string // of the clocks
	err    error
}

// figures are what the hello says of the store, as durations.
type figures struct{ resolution, minTTL, maxTTL, expiryLag time.Duration }

// Start runs the command as the first worker, and learns from it what the adapter
// can do. On unix the command is one for the shell. A limit of 0 is DefaultLimit.
// The function broken is called at most once, when a worker breaks the protocol; no
// verdict is worth anything then.
func Start(command string, limit time.Duration, broken func(error)) (*Adapter, error) {
	if limit == 0 {
		limit = DefaultLimit
	}
	a := &Adapter{
		command: command, limit: limit, broken: broken,
		idle: map[time.Duration][]*worker{}, clocks: map[time.Duration]*clock.Clock{},
	}
	w, err := a.start(0)
	if err == nil {
		a.hello = w.hello.hello
		err = a.readFigures()
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.idle[0] = append(a.idle[0], w)
	return a, nil
}

func (a *Adapter) readFigures() error {
	for _, f := range []struct {
		name, text string
		to         *time.Duration
	}{
		{"resolution", a.hello.Resolution, &a.figures.resolution},
		{"minTTL", a.hello.MinTTL, &a.figures.minTTL},
		{"maxTTL", a.hello.MaxTTL, &a.figures.maxTTL},
		{"expiryLag", a.hello.ExpiryLag, &a.figures.expiryLag},
	} {
		var err error
		if *f.to, err = figure(f.name, f.text); err != nil {
			return err
		}
	}
	return nil
}

// Name is what the adapter calls itself, or its command.
func (a *Adapter) Name() string {
	if a.hello.Name != "" {
		return a.hello.Name
	}
	return a.command
}

// Err is how a worker broke the protocol, or nil.
func (a *Adapter) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *Adapter) has(feature string) bool { return slices.Contains(a.hello.Features, feature) }

// worker returns an idle worker whose clock is wrong by off, or a new one.
func (a *Adapter) worker(off time.Duration) (*worker, error) {
	a.mu.Lock()
	if a.err != nil {
		defer a.mu.Unlock()
		return nil, a.err
	}
	if n := len(a.idle[off]); n > 0 {
		defer a.mu.Unlock()
		w := a.idle[off][n-1]
		a.idle[off] = a.idle[off][:n-1]
		return w, nil
	}
	a.mu.Unlock()
	return a.start(off)
}

func (a *Adapter) start(off time.Duration) (*worker, error) {
	var env []string
	if off != 0 {
		c, err := a.clock(off)
		if err != nil {
			return nil, err
		}
		// Far away, too: an expiry must not depend on the zone.
		env = append(c.Env(), "TZ=Asia/Kathmandu")
	}
	a.mu.Lock()
	a.count++
	name := fmt.Sprintf("worker %d", a.count)
	a.mu.Unlock()
	w, err := startWorker(name, a.command, env, a.limit, a.brokenBy)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, w)
	return w, nil
}

// clock returns the clock of all workers that are wrong by off.
func (a *Adapter) clock(off time.Duration) (*clock.Clock, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.clocks[off]; ok {
		return c, nil
	}
	if a.dir == "" {
		dir, err := os.MkdirTemp("", "leasecheck-*")
		if err != nil {
			return nil, err
		}
		a.dir = dir
	}
	c, err := clock.New(a.dir)
	if err != nil {
		return nil, err
	}
	c.Move(off)
	a.clocks[off] = c
	return c, nil
}

// brokenBy notes the first breach of the protocol.
func (a *Adapter) brokenBy(err error) {
	a.mu.Lock()
	first := a.err == nil
	if first {
		a.err = err
	}
	a.mu.Unlock()
	if first {
		a.broken(err)
	}
}

// release gives a worker back. One that broke the protocol ends with the run.
func (a *Adapter) release(off time.Duration, w *worker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle[off] = append(a.idle[off], w)
}

// Close ends all workers.
func (a *Adapter) Close() error {
	a.mu.Lock()
	all, dir := a.all, a.dir
	a.mu.Unlock()
	var ends sync.WaitGroup
	for _, w := range all {
		ends.Go(w.end)
	}
	ends.Wait()
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}
