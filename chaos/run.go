package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasekit/lease/internal/history"
)

// run is a campaign under way.
type run struct {
	c       Campaign
	target  Target
	leash   *leash
	began   time.Time
	clock   *watched
	keys    *keys
	ttls    []time.Duration
	workers []*worker
	links   []*Link
	nemesis *nemesis
	events  []Event
	count   *progress
	missing map[string]string // kinds that are not available, and why
	calm    atomic.Bool       // everything is healed: a call may take its time

	mu         sync.Mutex
	violations []Violation
}

// slots is how many keys are in use at once.
const slots = 2

func newRun(target Target, c Campaign, l *leash) (*run, error) {
	r := &run{
		c: c, target: target, leash: l, began: time.Now(),
		keys: newKeys(slots), count: newProgress(), missing: map[string]string{},
	}
	r.clock = watch(target, r.began)
	// Short enough for leases to end during the campaign, long enough for others
	// to see them live.
	for _, ttl := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 5 * time.Second} {
		if target.Clock != nil || ttl < time.Second {
			r.ttls = append(r.ttls, max(ttl, 2*target.MinTTL))
		}
	}
	for n := range c.Workers {
		link, err := NewLink(fmt.Sprint("of worker ", n))
		if err != nil {
			return nil, errors.Join(err, r.closeLinks())
		}
		r.links = append(r.links, link)
	}
	scene := Scene{Links: r.links, Match: target.Match}
	if target.Clock != nil {
		scene.Clock = r.clock
	}
	kinds, err := r.choose(scene)
	if err != nil {
		return nil, errors.Join(err, r.closeLinks())
	}
	r.nemesis = &nemesis{kinds: map[string]Kind{}, scene: scene, began: r.began}
	for _, k := range kinds {
		r.nemesis.kinds[k.Name] = k
	}
	r.events = schedule(c, kinds)
	for n, link := range r.links {
		w := &worker{run: r, n: n, link: link, rnd: rand.New(rand.NewPCG(c.Seed, 1<<32+uint64(n)))}
		for _, e := range r.events {
			if e.On == OnLink && e.Worker == n {
				w.events = append(w.events, e)
			}
		}
		var err error
		l.on(context.Background(), func(context.Context) { w.service, w.closing, err = target.Connect(link.Dial) })
		if err != nil {
			r.close()
			return nil, fmt.Errorf("connect worker %d: %w", n, err)
		}
		r.workers = append(r.workers, w)
	}
	return r, nil
}

// choose returns the kinds that are asked for and available.
func (r *run) choose(scene Scene) ([]Kind, error) {
	all := append(append(LinkKinds(), PartitionKind()), ClockKinds()...)
	all = append(all, r.target.Faults...)
	wanted := map[string]bool{}
	for _, name := range r.c.Only {
		wanted[name] = true
	}
	var chosen []Kind
	for _, k := range all {
		if len(r.c.Only) > 0 && !wanted[k.Name] {
			continue
		}
		delete(wanted, k.Name)
		s := scene
		if k.On == OnLink {
			s.Link = r.links[0]
		}
		if err := k.available(s); err != nil {
			r.missing[k.Name] = err.Error()
			continue
		}
		chosen = append(chosen, k)
	}
	for name := range wanted {
		return nil, fmt.Errorf("there is no fault %s for this target", name)
	}
	if len(chosen) == 0 {
		return nil, errors.New("no fault is available")
	}
	return chosen, nil
}

// do runs the campaign: workers and nemesis, then healing, then the last calls.
func (r *run) do(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.c.Limit, errOver)
	defer cancel()
	var lines, working sync.WaitGroup
	for _, place := range []Place{OnClock, OnStore} {
		var line []Event
		for _, e := range r.events {
			if e.On == place {
				line = append(line, e)
			}
		}
		lines.Go(func() { r.nemesis.follow(line, r.count) })
	}
	for _, w := range r.workers {
		working.Go(func() { r.leash.on(ctx, w.work) })
	}
	working.Wait()
	r.count.end()
	lines.Wait()
	if r.nemesis.failed != nil {
		return r.nemesis.failed
	}
	r.calm.Store(true)
	if r.recovered() {
		r.leash.on(context.Background(), r.lastCalls)
	}
	return r.nemesis.failed
}

func (r *run) violated(clause, key, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violations = append(r.violations, Violation{Clause: clause, Key: key, Problem: fmt.Sprintf(format, args...)})
}

// recovered waits until every worker has a definite reply to every call again,
// from the service that it has had all along (ERR-5), and says whether all have.
func (r *run) recovered() bool {
	ctx, cancel := context.WithTimeout(context.Background(), r.c.Recovery)
	defer cancel()
	var working sync.WaitGroup
	ok := make([]bool, len(r.workers))
	for n, w := range r.workers {
		working.Go(func() { r.leash.on(ctx, func(ctx context.Context) { ok[n] = w.recovers(ctx) }) })
	}
	working.Wait()
	return !slices.Contains(ok, false)
}

// lastCalls looks at every key once more, lets all leases expire, and takes
// each key once more: an expired key must be granted.
func (r *run) lastCalls(ctx context.Context) {
	r.each(func(w *worker, k *key) {
		ctx, cancel := context.WithTimeout(ctx, r.c.Recovery)
		defer cancel()
		w.insist(ctx, func() *made { return w.call(ctx, k, w.get(k)) })
	})
	r.expireAll()
	r.each(func(w *worker, k *key) {
		ctx, cancel := context.WithTimeout(ctx, r.c.Recovery)
		defer cancel()
		holder := fmt.Sprint("last-", w.n)
		last := w.insist(ctx, func() *made { return w.call(ctx, k, w.acquire(k, holder, r.ttls[0])) })
		for last.refused() && ctx.Err() == nil {
			// A call of unknown outcome may have taken it only now.
			r.expireAll()
			last = w.insist(ctx, func() *made { return w.call(ctx, k, w.acquire(k, holder, r.ttls[0])) })
		}
		switch {
		case !last.known():
			r.violated("ERR-5", k.name, "an expired key is not granted within %v of healing: %s", r.c.Recovery, last.answer())
		case last.refused():
			r.violated("EXPIRY-3", k.name, "an expired key is not granted within %v of healing: %s", r.c.Recovery, last.answer())
		}
	})
}

// each lets the workers share the keys.
func (r *run) each(f func(*worker, *key)) {
	var working sync.WaitGroup
	for n, w := range r.workers {
		working.Go(func() {
			for i := n; i < len(r.keys.all); i += len(r.workers) {
				f(w, r.keys.all[i])
			}
		})
	}
	working.Wait()
}

// expireAll lets the server clock pass the end of every lease: it moves the
// clock, or waits.
func (r *run) expireAll() {
	longest := time.Duration(0)
	for _, ttl := range r.ttls {
		longest = max(longest, ttl)
	}
	longest += r.target.ExpiryLag + 2*max(r.target.Resolution, time.Millisecond)
	if r.target.Clock == nil {
		<-time.After(longest)
		return
	}
	r.clock.Move(r.clock.behind() + longest)
}

// close ends everything and returns what was left behind (ERR-6).
func (r *run) close() []Violation {
	var found []Violation
	for _, w := range r.workers {
		if w.closing == nil {
			continue
		}
		if err := w.closing(); err != nil {
			found = append(found, Violation{Clause: "ERR-6", Problem: fmt.Sprintf("close the service of worker %d: %v", w.n, err)})
		}
	}
	open := eventually(r.c.Recovery, func() (open []string) {
		for n, l := range r.links {
			if c := l.Counts().Open; c > 0 {
				open = append(open, fmt.Sprintf("worker %d has %d connections", n, c))
			}
		}
		return open
	})
	for _, text := range open {
		found = append(found, Violation{Clause: "ERR-6", Problem: "after Close " + text})
	}
	if err := r.closeLinks(); err != nil {
		found = append(found, Violation{Clause: "ERR-6", Problem: err.Error()})
	}
	if left := r.leash.gone(r.c.Recovery); len(left) > 0 {
		found = append(found, Violation{Clause: "ERR-6", Problem: fmt.Sprintf("%d kinds of goroutines are left after Close:\n%s", len(left), left[0])})
	}
	return found
}

func (r *run) closeLinks() (err error) {
	for _, l := range r.links {
		err = errors.Join(err, l.Close())
	}
	return err
}

// saved is what the judge needs.
func (r *run) saved() *Saved {
	s := &Saved{
		Target: r.target.Name, Seed: r.c.Seed, Declared: slices.Sorted(maps.Keys(r.target.Deviations)),
		Schedule: r.events, Events: r.nemesis.events,
	}
	during := r.faultsOf()
	for _, k := range r.keys.all {
		h := history.History{Key: k.name, Rules: r.target.rules()}
		var first, last time.Duration
		for n, c := range k.calls {
			if n == 0 || c.called < first {
				first = c.called
			}
			last = max(last, c.returned)
			entry := history.Call{
				Worker: c.worker, Text: c.text(), ReplyTxt: c.answer(), Op: c.op(), Reply: c.reply(),
				Window: r.clock.window(c), Called: c.called, Returned: c.returned, During: during[c],
			}
			h.Calls = append(h.Calls, entry)
			if wrong := c.wrong(); wrong != "" {
				r.violated("ERR-8", k.name, "%s returns no whole answer: %s", c.text(), wrong)
			}
			s.Calls.count(entry.Reply.Outcome)
			h.Calls = append(h.Calls, copies(entry, c.doubled)...)
		}
		if r.target.Redates {
			h.Calls = append(h.Calls, redated(h)...)
		}
		if r.target.TakesBack {
			h.Calls = append(h.Calls, takenBack(h)...)
		}
		if r.target.Unflushed {
			h = doubtUnflushed(h, s.Events)
		}
		h.Calls = append(h.Calls, r.clock.between(first, last)...)
		byStart(h)
		s.Histories = append(s.Histories, h)
	}
	return s
}
