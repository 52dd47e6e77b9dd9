package chaos

import (
	"testing"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// TestUnflushed has what InnoDB may do: a release sees that another one has freed the
// key, the server crashes before that is on disk, and the lease is there again.
func TestUnflushed(t *testing.T) {
	noon := time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)
	lease := model.Reply{Outcome: model.Granted, Holder: "a", Token: 1, Expires: noon.Add(time.Hour)}
	call := func(from, to time.Duration, op model.Op, reply model.Reply) history.Call {
		return history.Call{Op: op, Reply: reply, Window: model.Window{Lo: noon, Hi: noon.Add(time.Minute)}, Called: from, Returned: to}
	}
	release := model.Op{Kind: model.Release, Holder: "a", Token: 1}
	taken := call(0, 1, model.Op{Kind: model.Acquire, Holder: "a", TTL: time.Hour}, lease)
	taken.Window.Hi = noon
	lost := call(10, 30, release, model.Reply{})
	done := call(12, 14, release, model.Reply{Outcome: model.Done})
	free := call(12, 14, model.Op{Kind: model.Get}, model.Reply{Outcome: model.NotHeld})
	there := call(60, 61, model.Op{Kind: model.Get}, lease)
	late := call(70, 71, release, model.Reply{Outcome: model.Done})
	again := call(72, 73, model.Op{Kind: model.Get}, lease)
	crash := Happened{Started: 20, Healed: 50, Loses: "TOKEN-10"}
	for _, c := range []struct {
		name  string
		crash Happened
		calls []history.Call
		want  history.Verdict
	}{
		{"release", crash, []history.Call{taken, lost, done, there}, history.Ok},
		{"get", crash, []history.Call{taken, lost, free, there}, history.Ok},
		{"nothing under way", crash, []history.Call{taken, done, there}, history.Illegal},
		{"no crash", Happened{Started: 20, Healed: 50}, []history.Call{taken, lost, done, there}, history.Illegal},
		{"after the crash", crash, []history.Call{taken, lost, late, again}, history.Illegal},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := history.History{Key: "k", Rules: model.Rules{Resolution: time.Millisecond}, Calls: c.calls}
			if c.want == history.Ok && history.Judge(h, judgeTime) != history.Illegal {
				t.Error("the history is not illegal by itself")
			}
			if got := history.Judge(doubtUnflushed(h, []Happened{c.crash}), judgeTime); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
