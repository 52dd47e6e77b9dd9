package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// worker makes calls over a link of its own.
type worker struct {
	run     *run
	n       int
	link    *Link
	rnd     *rand.Rand
	service lease.Service
	closing func() error

	events  []Event // of its link, in order
	fault   *active // that is on
	after   string  // the last one, until a call has succeeded since
	failing int     // calls in a row without a definite reply
	recent  []*made // the last ones, latest first
	doubled int     // requests that a fault delivered twice so far
}

// work makes the worker's share of the calls.
func (w *worker) work(ctx context.Context) {
	defer w.calm()
	var again *made // a call to repeat, since its reply was lost
	var on *key
	for i := range w.run.c.Calls / w.run.c.Workers {
		if ctx.Err() != nil {
			return
		}
		w.nemesis(i)
		w.run.count.step()
		c, k := again, on
		if c == nil {
			k = w.run.keys.pick(w.rnd)
			c = w.draw(k)
		}
		again = nil
		w.call(ctx, k, c)
		if c.known() {
			w.failing = 0
			continue
		}
		// A client repeats what has failed: with the lease in hand, or under the
		// same name (ERR-3, RENEW-7, RELEASE-3).
		if w.rnd.IntN(2) == 0 {
			again, on = &made{kind: c.kind, key: c.key, holder: c.holder, ttl: c.ttl, given: c.given}, k
		}
		w.backOff(ctx)
	}
}

// backOff stands back after calls in a row that have failed, so that a store
// that is down for a moment does not use up the campaign.
func (w *worker) backOff(ctx context.Context) {
	const longest = 5 // 32 ms
	pause := time.NewTimer(time.Millisecond << min(w.failing, longest))
	w.failing++
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

// nemesis heals and starts the faults of the link that are due before call i.
func (w *worker) nemesis(i int) {
	if w.fault != nil && i >= w.fault.e.At+w.fault.e.For {
		w.calm()
	}
	if w.fault == nil && len(w.events) > 0 && i >= w.events[0].At {
		w.fault = w.run.nemesis.start(w.events[0], w.link)
		w.events = w.events[1:]
	}
}

func (w *worker) calm() {
	if w.fault != nil {
		w.run.nemesis.heal(w.fault)
		w.after, w.fault = w.fault.e.Fault, nil
	}
}

// draw makes up a call on a key.
func (w *worker) draw(k *key) *made {
	ttl := w.run.ttls[w.rnd.IntN(len(w.run.ttls))]
	roll := w.rnd.IntN(10)
	l := w.run.keys.known(k, w.rnd)
	switch {
	case l == (lease.Lease{}) && roll < 8, roll < 4:
		return w.acquire(k, fmt.Sprint("holder-", w.n), ttl)
	case l == (lease.Lease{}), roll < 6:
		return w.get(k)
	case roll < 8:
		return &made{kind: model.Renew, key: k.name, given: l, ttl: ttl}
	}
	return &made{kind: model.Release, key: k.name, given: l}
}

func (w *worker) acquire(k *key, holder string, ttl time.Duration) *made {
	return &made{kind: model.Acquire, key: k.name, holder: holder, ttl: ttl}
}

func (w *worker) get(k *key) *made { return &made{kind: model.Get, key: k.name} }

// call makes a call and records it.
func (w *worker) call(ctx context.Context, k *key, c *made) *made {
	r := w.run
	timeout := r.c.Timeout
	if r.calm.Load() {
		timeout = r.c.Recovery
	}
	// The campaign's end must not end calls: their outcome would be unknown.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	c.worker = w.n
	switch {
	case w.fault != nil:
		c.during = w.fault.e.Fault
	case w.after != "":
		c.during = after + w.after
	}
	// The readings lie within the call, for a step of the clock may come at any
	// moment.
	c.called = time.Since(r.began)
	c.from = r.clock.from()
	c.on(ctx, w.service)
	c.to = r.clock.to()
	c.returned = time.Since(r.began)
	r.keys.add(k, c)
	if w.fault == nil && c.err == nil {
		w.after = ""
	}
	w.recent = append([]*made{c}, w.recent...)
	w.recent = w.recent[:min(len(w.recent), 3)]
	w.blameDoubled()
	return c
}

// blameDoubled notes which calls a fault may have delivered twice: the present
// one, or one before that has ended without a reply and was still being sent.
func (w *worker) blameDoubled() {
	doubled := w.link.Counts().Doubled
	more := doubled - w.doubled
	w.doubled = doubled
	if more == 0 {
		return
	}
	for _, c := range w.recent {
		if !c.known() {
			c.doubled += more
		}
	}
}

// recovers makes each call until its outcome is known, on a key of its own.
func (w *worker) recovers(ctx context.Context) bool {
	probe := &key{name: fmt.Sprint("probe-", w.n)}
	foreign := lease.Lease{Key: probe.name, Holder: "nobody", Token: 1}
	for _, next := range []func() *made{
		func() *made { return w.get(probe) },
		func() *made { return w.acquire(probe, fmt.Sprint("holder-", w.n), w.run.ttls[0]) },
		func() *made { return &made{kind: model.Renew, key: probe.name, given: foreign, ttl: w.run.ttls[0]} },
		func() *made { return &made{kind: model.Release, key: probe.name, given: foreign} },
	} {
		if last := w.insist(ctx, func() *made { return w.call(ctx, probe, next()) }); !last.known() {
			w.run.violated("ERR-5", "", "the service of worker %d has no definite reply to %s within %v of healing; the last one: %s",
				w.n, last.kind, w.run.c.Recovery, last.answer())
			return false
		}
	}
	return true
}

// insist makes calls until the outcome of one is known or ctx ends. It returns
// the last one.
func (w *worker) insist(ctx context.Context, call func() *made) *made {
	for {
		c := call()
		if c.known() || ctx.Err() != nil {
			w.failing = 0
			return c
		}
		w.backOff(ctx)
	}
}
