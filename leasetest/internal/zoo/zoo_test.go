package zoo_test

import (
	"context"
	"errors"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

func everyone() []zoo.Animal {
	return append(append([]zoo.Animal{zoo.Base()}, zoo.Broken()...), zoo.Odd()...)
}

// helpers are the hold helpers.
func helpers() []zoo.Animal {
	return append(append([]zoo.Animal{zoo.BaseHelper()}, zoo.BrokenHelpers()...), zoo.OddHelpers()...)
}

func broken() []zoo.Animal { return append(zoo.Broken(), zoo.BrokenHelpers()...) }

func TestAnimals(t *testing.T) {
	clauses := map[string]bool{}
	for _, c := range leasetest.Clauses() {
		clauses[c.ID] = true
	}
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, a := range append(everyone(), helpers()...) {
		if (a.Open == nil) == (a.Hold == nil) {
			t.Errorf("%s: want it to be either a backend or a hold helper", a.Name)
		}
		if !name.MatchString(a.Name) || seen[a.Name] {
			t.Errorf("name %q: want a unique one in kebab-case", a.Name)
		}
		seen[a.Name] = true
		if a.Fault == "" || a.Fault[len(a.Fault)-1] != '.' {
			t.Errorf("%s: fault %q, want a sentence", a.Name, a.Fault)
		}
		if u, err := url.Parse(a.Source); a.Source != "" && (err != nil || u.Scheme != "https" || len(u.Path) < 2) {
			t.Errorf("%s: source %q, want the address of a report", a.Name, a.Source)
		}
	}
	for _, a := range broken() {
		for _, id := range a.Clauses() {
			if !clauses[id] {
				t.Errorf("%s breaks %q, which is no clause", a.Name, id)
			}
			if strings.HasPrefix(id, "HOLD-") != (a.Hold != nil) {
				t.Errorf("%s breaks %s, which is not about what it is", a.Name, id)
			}
		}
		if len(a.Along) > 2 || (len(a.Along) == 0) != (a.Nature == "") {
			t.Errorf("%s breaks %v along, because %q; want at most two clauses and a reason, or neither", a.Name, a.Along, a.Nature)
		}
	}
	for _, a := range append(append(zoo.Odd(), zoo.Base(), zoo.BaseHelper()), zoo.OddHelpers()...) {
		if a.Clause != "" {
			t.Errorf("%s breaks %s, want a backend that keeps the contract", a.Name, a.Clause)
		}
	}
}

// TestKinds sees that every kind of fault has an animal that stands for it, or a
// home elsewhere.
func TestKinds(t *testing.T) {
	stood := map[string]bool{}
	for _, a := range broken() {
		for _, id := range a.Kinds {
			stood[id] = true
		}
	}
	for _, kind := range zoo.Kinds() {
		if stood[kind.ID] != (kind.Home == "") {
			t.Errorf("%s (%s): stood for here: %v, home elsewhere: %q; want one of the two", kind.ID, kind.Name, stood[kind.ID], kind.Home)
		}
		delete(stood, kind.ID)
	}
	for id := range stood {
		t.Errorf("%s: no such kind", id)
	}
}

// TestOpen sees that every animal is a working backend: it grants, to a worker
// of either namespace, on a clock that moves only when it is told to.
func TestOpen(t *testing.T) {
	for _, a := range everyone() {
		t.Run(a.Name, func(t *testing.T) {
			h := a.Open(t)
			if h.Connect == nil || (h.SeedToken == nil) != slices.Contains(a.Unseen, "TOKEN-8") || len(h.Damage) == 0 {
				t.Fatal("the harness lacks Connect, SeedToken or Damage")
			}
			before := h.Clock.Now()
			if h.Clock.Move == nil {
				return // one that runs on has nothing more to show here
			}
			h.Clock.Freeze(true)
			h.Clock.Move(-time.Second)
			h.Clock.Move(2 * time.Second)
			if got := h.Clock.Now().Sub(before); got != time.Second {
				t.Errorf("the clock moved by %v, want 1s", got)
			}
			for _, space := range []string{"", "n"} {
				key := "key of " + space
				s := h.Connect(t, leasetest.Worker{Namespace: space})
				l, err := s.Acquire(t.Context(), key, "holder", time.Minute)
				whole := l.Key == key && l.Holder == "holder" && l.ExpiresAt.After(before)
				if err != nil || a.Clause == "" && !whole {
					t.Errorf("Acquire in namespace %q: got %+v, %v, want a lease", space, l, err)
				}
			}
		})
	}
}

func TestBase(t *testing.T) {
	ctx := t.Context()
	h := zoo.Base().Open(t)
	a, b := h.Connect(t, leasetest.Worker{}), h.Connect(t, leasetest.Worker{})
	until := func(ttl time.Duration) time.Time {
		end := h.Clock.Now().Add(ttl)
		if cut := end.Truncate(time.Millisecond); !cut.Equal(end) {
			end = cut.Add(time.Millisecond)
		}
		return end
	}
	granted := func(what string, l lease.Lease, err error, holder string, token int64, end time.Time) lease.Lease {
		t.Helper()
		if want := (lease.Lease{Key: "k", Holder: holder, Token: token, ExpiresAt: end}); err != nil || l != want {
			t.Fatalf("%s: got %+v, %v, want %+v", what, l, err, want)
		}
		return l
	}
	refused := func(what string, l lease.Lease, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || l != (lease.Lease{}) {
			t.Fatalf("%s: got %+v, %v, want %v alone", what, l, err, want)
		}
	}

	_, err := a.Get(ctx, "k")
	refused("Get of a new key", lease.Lease{}, err, lease.ErrNotHeld)
	first, err := a.Acquire(ctx, "k", "x", 1500*time.Microsecond)
	granted("Acquire", first, err, "x", 1, until(1500*time.Microsecond))
	l, err := b.Acquire(ctx, "k", "y", time.Hour)
	refused("Acquire by another", l, err, lease.ErrHeld)

	h.Clock.Move(first.ExpiresAt.Sub(h.Clock.Now()) - time.Microsecond)
	l, err = b.Get(ctx, "k")
	granted("Get just before the expiry", l, err, "x", 1, first.ExpiresAt)
	h.Clock.Move(time.Microsecond)
	l, err = b.Get(ctx, "k")
	refused("Get at the expiry", l, err, lease.ErrNotHeld)
	l, err = a.Renew(ctx, first, time.Second)
	refused("Renew at the expiry", l, err, lease.ErrLost)

	second, err := b.Acquire(ctx, "k", "y", math.MaxInt64)
	granted("Acquire for the largest ttl", second, err, "y", 2, until(math.MaxInt64))
	l, err = a.Renew(ctx, second, time.Second)
	granted("Renew by another worker", l, err, "y", 2, until(time.Second))
	h.Clock.Move(10 * time.Millisecond)
	l, err = b.Acquire(ctx, "k", "y", time.Nanosecond)
	granted("Acquire again, shorter", l, err, "y", 2, until(time.Nanosecond))
	if err := a.Release(ctx, first); err != nil {
		t.Fatalf("Release of a superseded lease: %v", err)
	}
	l, err = a.Get(ctx, "k")
	granted("Get after it", l, err, "y", 2, until(time.Nanosecond))
	if err := a.Release(ctx, second); err != nil {
		t.Fatalf("Release: %v", err)
	}
	l, err = a.Acquire(ctx, "k", "x", time.Second)
	granted("Acquire after the release", l, err, "x", 3, until(time.Second))

	l, err = a.Acquire(ctx, "k", "", time.Second)
	refused("Acquire with an empty holder", l, err, lease.ErrInvalid)
	h.SeedToken(t, "seeded", math.MaxInt64-1)
	last, err := a.Acquire(ctx, "seeded", "x", time.Second)
	if err != nil || last.Token != math.MaxInt64 {
		t.Fatalf("Acquire of the last token: got %+v, %v", last, err)
	}
	if err := a.Release(ctx, last); err != nil {
		t.Fatalf("Release: %v", err)
	}
	if l, err = b.Acquire(ctx, "seeded", "y", time.Second); !plain(err) {
		t.Errorf("Acquire beyond the last token: got %+v, %v, want an error that is no sentinel", l, err)
	}
}

func TestBaseDamage(t *testing.T) {
	h := zoo.Base().Open(t)
	s := h.Connect(t, leasetest.Worker{})
	for how, damage := range h.Damage {
		l, err := s.Acquire(t.Context(), how, "x", time.Second)
		if err != nil {
			t.Fatalf("Acquire: %v", err)
		}
		damage(t, how)
		if _, err := s.Acquire(t.Context(), how, "y", time.Second); !plain(err) {
			t.Errorf("%s: Acquire: got %v, want an error that is no sentinel", how, err)
		}
		if _, err := s.Get(t.Context(), how); !plain(err) {
			t.Errorf("%s: Get: got %v, want an error that is no sentinel", how, err)
		}
		if err := s.Release(t.Context(), l); !plain(err) {
			t.Errorf("%s: Release: got %v, want an error that is no sentinel", how, err)
		}
	}
}

// TestBaseDial sees that a worker with a Dial goes through it, and gives up
// with its context.
func TestBaseDial(t *testing.T) {
	refusal := errors.New("connection refused")
	dials := map[string]func(server net.Conn){
		"answers":       func(server net.Conn) { server.Read(make([]byte, 1)); server.Write([]byte{1}) },
		"hangs up":      func(server net.Conn) { server.Close() },
		"never reads":   func(net.Conn) {},
		"never answers": func(server net.Conn) { server.Read(make([]byte, 1)) },
	}
	for name, serve := range dials {
		synctest.Test(t, func(t *testing.T) {
			h := zoo.Base().Open(t)
			s := h.Connect(t, leasetest.Worker{Dial: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				t.Cleanup(func() { server.Close() })
				go serve(server)
				return client, nil
			}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := s.Acquire(ctx, "k", "x", time.Second)
			switch name {
			case "answers":
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case "hangs up":
				if !plain(err) || ctx.Err() != nil {
					t.Errorf("%s: got %v, want an error that is no sentinel, at once", name, err)
				}
			default:
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: got %v, want that of the context", name, err)
				}
			}
		})
	}
	h := zoo.Base().Open(t)
	s := h.Connect(t, leasetest.Worker{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refusal }})
	if _, err := s.Get(t.Context(), "k"); !errors.Is(err, refusal) || !plain(err) {
		t.Errorf("refused: got %v, want that of the dial", err)
	}
}

// plain reports whether err is an error of unknown outcome.
func plain(err error) bool {
	for _, s := range []error{nil, lease.ErrHeld, lease.ErrLost, lease.ErrNotHeld, lease.ErrInvalid} {
		if errors.Is(err, s) {
			return false
		}
	}
	return true
}
