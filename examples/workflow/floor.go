package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// settings are what a worker process needs to know. It gets them as JSON, in the
// environment variable settingsVar, which also tells it that it is one.
type settings struct {
	Name         string
	Leases, Data string // addresses
	Namespace    string
	TTL          time.Duration
	Fencing      bool
	Runs         []string
}

const settingsVar = "WORKFLOW_WORKER"

// floor is where worker processes work and are watched, killed, paused and duplicated.
type floor struct {
	settings
	hub  *hub // of the leases, if they are in memory: its clock is moved then
	plan plan

	events chan news
	procs  []*process // that have not ended
	tally  tally
}

// plan decides what becomes of a worker.
type plan interface {
	// at is asked when a worker is in the middle of a step.
	at(f *floor, p *process, e event) fate

	// wakes says whether a paused worker is woken by what another one has done.
	wakes(p *process, e event) bool

	// note is told everything that happens.
	note(p *process, what string, e event)
}

// fate is what becomes of a worker in the middle of a step.
type fate int

const (
	goesOn     fate = iota
	isKilled        // by SIGKILL; another process of its name takes its place
	isPaused        // by SIGSTOP, until the plan wakes it
	isDoubled       // another process is started with the same name
	mostEvents = 10_000
)

// What is noted beside the events of workers.
const (
	started  = "started"
	killed   = "killed"
	paused   = "paused"
	awakened = "awakened"
	ended    = "ended"
)

// process is a worker process.
type process struct {
	name   string
	number int
	cmd    *exec.Cmd
	stdin  io.WriteCloser

	at      event // where it is paused, or works
	stopped bool
	doomed  bool // it was killed
	late    bool // a newer attempt had claimed the run when it went on
}

// news is an event of a process, or its end.
type news struct {
	from *process
	event
	ended bool
	err   error
}

// openFloor makes an empty floor whose stores are ready.
func openFloor(ctx context.Context, s settings, p plan) (*floor, error) {
	f := &floor{settings: s, plan: p, events: make(chan news)}
	if s.Leases == "memory" || s.Data == "memory" {
		h, err := startHub()
		if err != nil {
			return nil, err
		}
		if s.Leases == "memory" {
			f.hub, f.Leases = h, h.addr
		}
		if s.Data == "memory" {
			f.Data = h.addr
		}
	}
	if _, err := openLeases(ctx, f.Leases, f.Namespace); err != nil {
		return nil, fmt.Errorf("open the store of leases: %w", err)
	}
	_, err := openData(ctx, f.Data, f.Namespace)
	if err != nil {
		return nil, fmt.Errorf("open the store of data: %w", err)
	}
	return f, nil
}

// start starts a worker.
func (f *floor) start(name string, runs []string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	s := f.settings
	s.Name, s.Runs = name, runs
	env, err := json.Marshal(s)
	if err != nil {
		return err
	}
	p := &process{name: name, cmd: exec.Command(exe)}
	p.cmd.Env = append(os.Environ(), settingsVar+"="+string(env))
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start worker %s: %w", name, err)
	}
	p.number = p.cmd.Process.Pid
	f.procs = append(f.procs, p)
	f.plan.note(p, started, event{})
	go func() {
		for d := json.NewDecoder(stdout); ; {
			var e event
			if d.Decode(&e) != nil {
				break
			}
			f.events <- news{from: p, event: e}
		}
		f.events <- news{from: p, ended: true, err: p.cmd.Wait()}
	}()
	return nil
}

// run watches the workers until all have ended.
func (f *floor) run(ctx context.Context) error {
	defer f.clear()
	for n := 0; len(f.procs) > 0; n++ {
		if n == mostEvents {
			return fmt.Errorf("%d events, and no end: the workers keep each other from their work", n)
		}
		// A worker that is paused in the middle of a renewal may keep the others from
		// their work: in SQLite it keeps the file locked.
		var stuck <-chan time.Time
		if f.hub == nil {
			stuck = time.After(4 * f.TTL)
		}
		var err error
		select {
		case e := <-f.events:
			err = f.take(e)
		case <-stuck:
			err = f.wakeAll()
		case <-ctx.Done():
			err = fmt.Errorf("%d workers have not ended: %w", len(f.procs), context.Cause(ctx))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take reacts to what a worker has done.
func (f *floor) take(n news) error {
	p := n.from
	if n.ended {
		return f.end(p, n.err)
	}
	p.at = n.event
	f.tally.add(p, n.event)
	f.plan.note(p, n.What, n.event)
	for _, q := range f.procs {
		if q.stopped && q != p && f.plan.wakes(q, n.event) {
			if err := f.wake(q); err != nil {
				return err
			}
		}
	}
	if n.What != working {
		return nil
	}
	switch f.plan.at(f, p, n.event) {
	case isKilled:
		f.plan.note(p, killed, n.event)
		p.doomed = true
		f.signal(p, syscall.SIGKILL)
		f.expire()
		return f.start(p.name, f.Runs)
	case isPaused:
		f.plan.note(p, paused, n.event)
		p.stopped = true
		f.signal(p, syscall.SIGSTOP)
		f.expire()
		return nil
	case isDoubled:
		if err := f.start(p.name, f.Runs); err != nil {
			return err
		}
	}
	return f.goOn(p)
}

// expire brings about the end of the leases of whoever was killed or paused. Where the
// server clock can't be moved, it comes by itself.
func (f *floor) expire() {
	if f.hub != nil {
		f.hub.advance(f.TTL)
	}
}

// goOn lets a worker finish the step that it works on.
func (f *floor) goOn(p *process) error {
	p.late = f.tally.claims[p.at.Run] > p.at.Token
	if _, err := io.WriteString(p.stdin, "go\n"); err != nil && !p.doomed {
		return fmt.Errorf("worker %s: %w", p.name, err)
	}
	return nil
}

func (f *floor) wake(p *process) error {
	f.plan.note(p, awakened, p.at)
	p.stopped = false
	f.signal(p, syscall.SIGCONT)
	return f.goOn(p)
}

func (f *floor) signal(p *process, s syscall.Signal) {
	// A process that has ended gets none, and its end is news.
	_ = p.cmd.Process.Signal(s)
}

// end takes a process that has ended off the floor.
func (f *floor) end(p *process, err error) error {
	f.procs = slices.DeleteFunc(f.procs, func(q *process) bool { return q == p })
	if err != nil && !p.doomed {
		return fmt.Errorf("worker %s: %w", p.name, err)
	}
	f.plan.note(p, ended, event{})
	// Nobody is left who could do what the paused ones are to wake up to: without
	// fencing a stale result may have finished their run.
	if f.awake() > 0 {
		return nil
	}
	return f.wakeAll()
}

func (f *floor) wakeAll() error {
	for _, q := range f.procs {
		if q.stopped {
			if err := f.wake(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// awake is how many workers are not paused.
func (f *floor) awake() (n int) {
	for _, p := range f.procs {
		if !p.stopped && !p.doomed {
			n++
		}
	}
	return n
}

// clear kills all that is left.
func (f *floor) clear() {
	for _, p := range f.procs {
		p.doomed = true
		f.signal(p, syscall.SIGKILL)
	}
	for len(f.procs) > 0 {
		if n := <-f.events; n.ended {
			f.procs = slices.DeleteFunc(f.procs, func(p *process) bool { return p == n.from })
		}
	}
}

// workerMain is the whole of a worker process. It returns false in any other process.
func workerMain() bool {
	text := os.Getenv(settingsVar)
	if text == "" {
		return false
	}
	if err := runWorker(text); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	return true
}

func runWorker(text string) error {
	var s settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return fmt.Errorf("%s: %w", settingsVar, err)
	}
	ctx := context.Background()
	leases, leasesErr := openLeases(ctx, s.Leases, s.Namespace)
	data, dataErr := openData(ctx, s.Data, s.Namespace)
	if err := errors.Join(leasesErr, dataErr); err != nil {
		return err
	}
	if !s.Fencing {
		data = unfenced{data}
	}
	w := &worker{name: s.Name, leases: leases, data: data, ttl: s.TTL, floor: newPipes(os.Stdin, os.Stdout)}
	return w.finishAll(ctx, s.Runs)
}
