package fencezoo

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// Hostile returns resources that do not play by any rule. The suite has to give
// them a verdict, and go on; Clause is one that must not pass.
func Hostile() []Resource {
	hanging := func(hangs func(r fence.Resource, end <-chan struct{}) fence.Resource) func(testing.TB) *leasetest.FenceHarness {
		return func(t testing.TB) *leasetest.FenceHarness {
			end := make(chan struct{})
			t.Cleanup(func() { close(end) })
			return wrapped(func(r fence.Resource) fence.Resource { return hangs(r, end) })(t)
		}
	}
	return []Resource{
		{zoo.Animal{Name: "panics-in-write", Clause: "FENCE-2", Fault: "Write panics."},
			wrapped(func(r fence.Resource) fence.Resource {
				return acting{r, func() { panic("hostile") }, func() {}}
			})},
		{zoo.Animal{Name: "panics-in-read", Clause: "FENCE-2", Fault: "Read panics."},
			wrapped(func(r fence.Resource) fence.Resource {
				return acting{r, func() {}, func() { panic("hostile") }}
			})},
		{zoo.Animal{Name: "hangs-in-write", Clause: "FENCE-1", Fault: "Write never returns."},
			hanging(func(r fence.Resource, end <-chan struct{}) fence.Resource {
				return acting{r, func() { <-end }, func() {}}
			})},
		{zoo.Animal{Name: "hangs-in-read", Clause: "FENCE-1", Fault: "Read never returns."},
			hanging(func(r fence.Resource, end <-chan struct{}) fence.Resource {
				return acting{r, func() {}, func() { <-end }}
			})},
		{zoo.Animal{Name: "answers-at-random", Clause: "FENCE-2", Fault: "Every reply is drawn by lot."},
			wrapped(func(r fence.Resource) fence.Resource { return random{r} })},
		{zoo.Animal{Name: "always-down", Clause: "FENCE-2", Fault: "Every write fails."},
			wrapped(func(r fence.Resource) fence.Resource { return down{r} })},
		{zoo.Animal{Name: "both-at-once", Clause: "FENCE-5", Fault: "Every refusal is stale and invalid."},
			wrapped(func(r fence.Resource) fence.Resource { return both{r} })},
		{zoo.Animal{Name: "not-empty", Clause: "FENCE-1", Fault: "A key that was never written has a token."},
			wrapped(func(r fence.Resource) fence.Resource { return haunted{r} })},
		{zoo.Animal{Name: "restart-fails", Clause: "FENCE-4", Fault: "The resource does not come back."},
			declaring(func(h *leasetest.FenceHarness) {
				h.Restart = func(t testing.TB) { t.Fatal("the port is taken") }
			})},
		{zoo.Animal{Name: "no-client", Clause: "FENCE-1", Fault: "Connect returns nothing."},
			declaring(func(h *leasetest.FenceHarness) {
				h.Connect = func(testing.TB) fence.Resource { return nil }
			})},
	}
}

// acting does something else first in its calls.
type acting struct {
	fence.Resource
	write, read func()
}

func (a acting) Write(ctx context.Context, key string, token int64, value string) error {
	a.write()
	return a.Resource.Write(ctx, key, token, value)
}

func (a acting) Read(ctx context.Context, key string) (string, int64, error) {
	a.read()
	return a.Resource.Read(ctx, key)
}

type random struct{ fence.Resource }

func (r random) Write(ctx context.Context, key string, token int64, value string) error {
	return []error{nil, fence.ErrStale, lease.ErrInvalid, errors.New("no luck"), r.Resource.Write(ctx, key, token, value)}[rand.IntN(5)]
}

type down struct{ fence.Resource }

func (down) Write(context.Context, string, int64, string) error {
	return errors.New("connection refused")
}

type both struct{ fence.Resource }

func (b both) Write(ctx context.Context, key string, token int64, value string) error {
	if err := b.Resource.Write(ctx, key, token, value); err != nil {
		return errors.Join(fence.ErrStale, lease.ErrInvalid)
	}
	return nil
}

type haunted struct{ fence.Resource }

func (h haunted) Read(ctx context.Context, key string) (string, int64, error) {
	value, token, err := h.Resource.Read(ctx, key)
	return value, token + 1, err
}
