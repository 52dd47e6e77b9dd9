package adapter

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// Notes says of clauses that pass what of them no adapter can be asked for.
var Notes = map[string]string{
	"ARG-1": "in part: names that are not UTF-8 can't be said in the adapter protocol",
	"ERR-2": "in part: an adapter can't be told to give up; its replies were thrown away",
}

// Open makes one empty store: a name that the adapter has not been given before.
func (a *Adapter) Open(t testing.TB) *leasetest.Harness {
	s := &store{a: a, name: "leasecheck-" + rand.Text()}
	h := &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			return service{s.connect(t, w, 0)}
		},
		ConnectSkewed: func(t testing.TB, w leasetest.Worker, off time.Duration) lease.Service {
			return service{s.connectSkewed(t, w, off)}
		},
		Resolution: a.figures.resolution,
		MinTTL:     a.figures.minTTL,
		MaxTTL:     a.figures.maxTTL,
		ExpiryLag:  a.figures.expiryLag,
		Unchecked:  unchecked(),
	}
	if a.has(featureNow) || a.has(featureSeed) {
		s.control = s.connect(t, leasetest.Worker{}, 0)
	}
	if a.has(featureNow) {
		h.Clock = &leasetest.Clock{Now: func() time.Time {
			now, err := s.control.now()
			if err != nil {
				t.Errorf("read the server clock: %v", err)
			}
			return now
		}}
	}
	if a.has(featureSeed) {
		h.SeedToken = func(t testing.TB, key string, token int64) {
			if err := s.control.order("seed", map[string]any{"key": key, "token": strconv.FormatInt(token, 10)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return h
}

// unchecked are the clauses that the protocol has nothing for.
func unchecked() map[string]string {
	all := map[string]string{}
	for why, ids := range map[string][]string{
		"the adapter protocol can't move the server clock":    {"TOKEN-5", "EXPIRY-2", "EXPIRY-6", "EXPIRY-7"},
		"the adapter protocol can't crash a store":            {"TOKEN-10", "EXPIRY-9", "ERR-5"},
		"the adapter protocol can't block or damage a record": {"EXPIRY-8", "ERR-9"},
		"the adapter protocol can't reach connections":        {"ERR-1", "ERR-4"},
	} {
		for _, id := range ids {
			all[id] = why
		}
	}
	return all
}

// store is one empty store.
type store struct {
	a       *Adapter
	name    string
	control *worker // reads the server clock and seeds counters
}

// connect lets a worker open the store, until t is done with it.
func (s *store) connect(t testing.TB, like leasetest.Worker, off time.Duration) *worker {
	if like.Namespace != "" && !s.a.has(featureNamespace) {
		t.Skip("the adapter has no namespaces")
	}
	w, err := s.a.worker(off)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.order("open", map[string]any{"store": s.name, "namespace": like.Namespace}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.order("close", nil); err != nil {
			t.Error(err)
			return
		}
		s.a.release(off, w)
	})
	return w
}

// connectSkewed is connect for a worker with a wrong clock. It makes sure that the
// clock is wrong, and that it is not that of the store as well.
func (s *store) connectSkewed(t testing.TB, like leasetest.Worker, off time.Duration) *worker {
	if _, err := s.a.clock(off); err != nil {
		t.Skip(err)
	}
	w := s.connect(t, like, off)
	const close = 10 * time.Minute
	own, err := parseTime(w.hello.Time)
	if err != nil {
		t.Skip("the adapter's hello has no time, so nobody knows whether the worker's clock is wrong")
	}
	if got := own.Sub(w.started); (got - off).Abs() > close {
		t.Skipf("the worker's clock could not be made wrong: it is off by %v, where it should be by %v; a program that is linked statically can't be reached", got.Round(time.Second), off)
	}
	if !s.a.has(featureNow) {
		return w
	}
	right, err := s.control.now()
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := w.now()
	if err != nil {
		t.Fatal(err)
	}
	if wrong.Sub(right).Abs() > close {
		t.Skipf("the server clock, as the adapter reads it, is %v off where the worker's is: it is the worker's own", wrong.Sub(right).Round(time.Second))
	}
	return w
}

// order is a request that has no reply but ok.
func (w *worker) order(op string, fields map[string]any) error {
	r, err := w.ask(request{op, fields})
	if err != nil {
		return err
	}
	if r.Result != "ok" {
		return fmt.Errorf("%s answered %s with %.40q: %.500s", w.name, op, r.Result, r.Text)
	}
	return nil
}

// now reads the server clock.
func (w *worker) now() (time.Time, error) {
	r, err := w.ask(request{"now", nil})
	if err != nil {
		return time.Time{}, err
	}
	if r.Result != "ok" {
		return time.Time{}, fmt.Errorf("%s answered now with %.40q: %.500s", w.name, r.Result, r.Text)
	}
	now, err := parseTime(r.Time)
	if err != nil {
		return time.Time{}, w.fail(fmt.Errorf("answered now with nonsense: %w", err))
	}
	return now, nil
}
