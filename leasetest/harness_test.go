package leasetest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

func connectNowhere(testing.TB, Worker) lease.Service { return nil }

// TestHarnessCheck reads the texts as the author of a harness does: they name
// the field, what is wrong with it, and what to do.
func TestHarnessCheck(t *testing.T) {
	whole := func(change func(*Harness)) *Harness {
		h := &Harness{Connect: connectNowhere}
		change(h)
		return h
	}
	tests := []struct {
		name string
		h    *Harness
		want []string // parts of the error's text
	}{
		{"nil", nil, []string{"nil *Harness", "return one with at least Connect set"}},
		{"no Connect", &Harness{}, []string{"Connect is nil", "set it to a function that opens one more client"}},
		{"clock without Now", whole(func(h *Harness) { h.Clock = &Clock{Move: func(time.Duration) {}} }),
			[]string{"Clock.Now is nil", "reads the server clock", "leave Clock nil"}},
		{"negative Resolution", whole(func(h *Harness) { h.Resolution = -1 }), []string{"Resolution is -1ns", "want 0 for the default, or more"}},
		{"negative MinTTL", whole(func(h *Harness) { h.MinTTL = -time.Second }), []string{"MinTTL is -1s", "want 0"}},
		{"negative MaxTTL", whole(func(h *Harness) { h.MaxTTL = -time.Hour }), []string{"MaxTTL is -1h0m0s", "want 0"}},
		{"negative ExpiryLag", whole(func(h *Harness) { h.ExpiryLag = math.MinInt64 }), []string{"ExpiryLag is -", "want 0"}},
		{"MinTTL above MaxTTL", whole(func(h *Harness) { h.MinTTL, h.MaxTTL = time.Minute, time.Second }),
			[]string{"MinTTL 1m0s is above MaxTTL 1s"}},
		{"unknown deviation", whole(func(h *Harness) { h.Deviations = map[string]string{"GET-4": "why"} }),
			[]string{"Deviations", `"GET-4"`, "does not exist", "there is GET-1, GET-2, GET-3", "CONFORMANCE.md lists the clauses"}},
		{"deviation in small letters", whole(func(h *Harness) { h.Deviations = map[string]string{"get-1": "why"} }),
			[]string{`"get-1"`, "there is GET-1"}},
		{"unknown group", whole(func(h *Harness) { h.Unchecked = map[string]string{"NOSUCH-1": "why"} }),
			[]string{"Unchecked", `"NOSUCH-1"`, "does not exist:", "CONFORMANCE.md lists the clauses"}},
		{"deviation without a reason", whole(func(h *Harness) { h.Deviations = map[string]string{"GET-1": ""} }),
			[]string{`Deviations["GET-1"] has no reason`, "say why"}},
		{"unchecked with a blank reason", whole(func(h *Harness) { h.Unchecked = map[string]string{"GET-1": " \n"} }),
			[]string{`Unchecked["GET-1"] has no reason`, "say why"}},
		{"in both lists", whole(func(h *Harness) {
			h.Deviations = map[string]string{"GET-1": "why"}
			h.Unchecked = map[string]string{"GET-1": "why"}
		}), []string{"GET-1 both in Deviations and in Unchecked", "keep one"}},
	}
	for _, tt := range tests {
		err := tt.h.check()
		if err == nil {
			t.Errorf("%s: got no error", tt.name)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", tt.name, err, part)
			}
		}
	}
}

func TestHarnessCheckAccepts(t *testing.T) {
	for name, h := range map[string]*Harness{
		"only Connect": {Connect: connectNowhere},
		"everything": {
			Connect: connectNowhere, Clock: &Clock{Now: time.Now},
			Resolution: time.Second, MinTTL: time.Second, MaxTTL: time.Second, ExpiryLag: time.Second,
			Deviations: map[string]string{"GET-1": "why"}, Unchecked: map[string]string{"GET-2": "why"},
		},
		"MinTTL without MaxTTL": {Connect: connectNowhere, MinTTL: time.Hour},
	} {
		if err := h.check(); err != nil {
			t.Errorf("%s: got %v, want no error", name, err)
		}
	}
}

func TestHarnessDefaults(t *testing.T) {
	h := &Harness{}
	if h.resolution() != time.Millisecond || h.maxTTL() != math.MaxInt64 {
		t.Errorf("got a resolution of %v and a MaxTTL of %v, want 1 ms and the largest", h.resolution(), h.maxTTL())
	}
	h = &Harness{Resolution: time.Second, MinTTL: 2 * time.Second, MaxTTL: time.Hour, ExpiryLag: 3 * time.Second}
	r := h.rules()
	if r.Resolution != h.Resolution || r.MinTTL != h.MinTTL || r.ExpiryLag != h.ExpiryLag || h.maxTTL() != h.MaxTTL {
		t.Errorf("got %+v and a MaxTTL of %v, want the figures of the harness", r, h.maxTTL())
	}
}
