package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/chaos"
	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// TestJudge judges saved histories and campaigns, right ones and wrong ones.
func TestJudge(t *testing.T) {
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
	saved := func(calls ...history.Call) (ofSuite, ofCampaign string) {
		h := history.History{Key: "k", Rules: model.Rules{Resolution: time.Millisecond}, Calls: calls}
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		ofCampaign = filepath.Join(t.TempDir(), "campaign.json")
		campaign := &chaos.Saved{
			Target: "x", Calls: chaos.Calls{OK: len(calls)},
			Events:    []chaos.Happened{{Event: chaos.Event{Fault: "link/late", On: chaos.OnLink}, Hits: 1}},
			Histories: []history.History{h},
		}
		if err := campaign.Save(ofCampaign); err != nil {
			t.Fatal(err)
		}
		return file(t, "history.json", string(text)), ofCampaign
	}
	good, goodCampaign := saved(granted(0, "a", 1))
	bad, badCampaign := saved(granted(0, "a", 1), granted(1, "b", 2))
	for _, c := range []struct {
		name  string
		files []string
		code  int
		says  string
	}{
		{"a good history", []string{good}, exitOK, ": ok: "},
		{"a bad history", []string{bad}, exitBroken, "Acquire(b)"},
		{"a good campaign", []string{goodCampaign}, exitOK, ": pass"},
		{"a bad campaign", []string{badCampaign}, exitBroken, "EXCL-5 is broken on k"},
		{"good and bad", []string{bad, good}, exitBroken, ": illegal: "},
		{"bad and missing", []string{bad, "missing.json"}, exitBroken, "missing.json"},
		{"missing", []string{"missing.json"}, exitNothing, "missing.json"},
		{"a text", []string{file(t, "text.json", "no JSON")}, exitNothing, "neither a history nor a campaign"},
		{"something else", []string{file(t, "else.json", `{"key": "k"}`)}, exitNothing, "it has no calls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errOut, code := leasecheck(t, append([]string{"judge"}, c.files...)...)
			if code != c.code || !strings.Contains(out+errOut, c.says) {
				t.Errorf("got the exit code %d and %q, want %d and %q", code, out+errOut, c.code, c.says)
			}
		})
	}
}
