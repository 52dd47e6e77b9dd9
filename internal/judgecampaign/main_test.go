package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/chaos"
	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

func TestRun(t *testing.T) {
	noon := time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)
	granted := func(n int, holder string, token int64) history.Call {
		at := time.Duration(n) * time.Millisecond
		return history.Call{
			Worker: n, Text: "Acquire(" + holder + ")", ReplyTxt: holder,
			Op:     model.Op{Kind: model.Acquire, Holder: holder, TTL: time.Hour},
			Reply:  model.Reply{Outcome: model.Granted, Holder: holder, Token: token, Expires: noon.Add(time.Hour)},
			Window: model.Window{Lo: noon, Hi: noon}, Called: at, Returned: at,
			During: "link/late",
		}
	}
	for name, tt := range map[string]struct {
		calls []history.Call
		want  error
		says  string
	}{
		"good": {[]history.Call{granted(0, "a", 1)}, nil, ": pass"},
		"bad":  {[]history.Call{granted(0, "a", 1), granted(1, "b", 2)}, errFailed, "EXCL-5 is broken on k"},
	} {
		file := filepath.Join(t.TempDir(), "campaign.json")
		saved := &chaos.Saved{
			Target: "x", Calls: chaos.Calls{OK: len(tt.calls)},
			Events:    []chaos.Happened{{Event: chaos.Event{Fault: "link/late", On: chaos.OnLink}, Hits: 1}},
			Histories: []history.History{{Key: "k", Rules: model.Rules{Resolution: time.Millisecond}, Calls: tt.calls}},
		}
		if err := saved.Save(file); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := run([]string{file}, &out); !errors.Is(err, tt.want) || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: got %v and %q, want %v and %q", name, err, out.String(), tt.want, tt.says)
		}
	}
	if run(nil, nil) == nil || run([]string{"missing.json"}, nil) == nil {
		t.Error("a missing file is no error")
	}
}
