package fencezoo_test

import (
	"errors"
	"math"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/fencezoo"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

func TestResources(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range slices.Concat(zoo.Broken(), zoo.Odd()) {
		seen[a.Name] = true // the kill matrix has all of them
	}
	kinds := map[string]bool{}
	for _, k := range zoo.Kinds() {
		kinds[k.ID] = true
	}
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	broken := fencezoo.Broken()
	for i, r := range slices.Concat(broken, fencezoo.Odd(), []fencezoo.Resource{fencezoo.Base()}) {
		if !name.MatchString(r.Name) || seen[r.Name] {
			t.Errorf("name %q: want a unique one in kebab-case", r.Name)
		}
		seen[r.Name] = true
		if r.Fault == "" || r.Fault[len(r.Fault)-1] != '.' {
			t.Errorf("%s: fault %q, want a sentence", r.Name, r.Fault)
		}
		if u, err := url.Parse(r.Source); r.Source != "" && (err != nil || u.Scheme != "https" || len(u.Path) < 2) {
			t.Errorf("%s: source %q, want the address of a report", r.Name, r.Source)
		}
		if (r.Clause == "") != (i >= len(broken)) {
			t.Errorf("%s breaks %q; want a clause of the broken, and none of the others", r.Name, r.Clause)
		}
		if len(r.Along) > 2 || (len(r.Along) == 0) != (r.Nature == "") {
			t.Errorf("%s breaks %v along, because %q; want at most two clauses and a reason, or neither", r.Name, r.Along, r.Nature)
		}
		for _, id := range r.Kinds {
			if !kinds[id] {
				t.Errorf("%s stands for %s, which is no kind", r.Name, id)
			}
		}
		if _, ok := clause(r.Clause); r.Clause != "" && !ok {
			t.Errorf("%s breaks %q, which is no clause", r.Name, r.Clause)
		}
	}
}

func clause(id string) (leasetest.Clause, bool) {
	for _, c := range leasetest.Clauses() {
		if c.ID == id {
			return c, true
		}
	}
	return leasetest.Clause{}, false
}

func TestBase(t *testing.T) {
	ctx := t.Context()
	h := fencezoo.Base().OpenFence(t)
	a, b := h.Connect(t), h.Connect(t)
	shows := func(key, value string, token int64) {
		t.Helper()
		for _, r := range []fence.Resource{a, b} {
			if v, n, err := r.Read(ctx, key); v != value || n != token || err != nil {
				t.Errorf("Read(%q): got %q, %d, %v, want %q, %d", key, v, n, err, value, token)
			}
		}
	}
	shows("k", "", 0)
	for _, w := range []struct {
		client fence.Resource
		token  int64
		want   error
	}{{a, 5, nil}, {b, 4, fence.ErrStale}, {b, 5, nil}, {a, 0, lease.ErrInvalid}, {a, math.MaxInt64, nil}, {b, math.MaxInt64 - 1, fence.ErrStale}} {
		if err := w.client.Write(ctx, "k", w.token, "v"); !errors.Is(err, w.want) {
			t.Errorf("Write with token %d: got %v, want %v", w.token, err, w.want)
		}
	}
	h.Restart(t)
	shows("k", "v", math.MaxInt64)
	shows("K", "", 0)
}
