package chaos

import (
	"testing"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// TestRedated has a first grant that is given its expiry twice, and somebody has seen
// the first one; and one that was over by then.
func TestRedated(t *testing.T) {
	noon := time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)
	w := model.Window{Lo: noon, Hi: noon.Add(time.Second)}
	acquire := func(holder string, token int64, ttl, end, from, to time.Duration) history.Call {
		return history.Call{
			Op:    model.Op{Kind: model.Acquire, Holder: holder, TTL: ttl},
			Reply: model.Reply{Outcome: model.Granted, Holder: holder, Token: token, Expires: noon.Add(end)}, Window: w, Called: from, Returned: to,
		}
	}
	get := func(token int64, end, from, to time.Duration) history.Call {
		c := acquire("a", token, 0, end, from, to)
		c.Op = model.Op{Kind: model.Get}
		return c
	}
	const minute, ms = time.Minute, time.Millisecond
	first := acquire("a", 1, minute, minute, 0, 50)
	for name, c := range map[string]struct {
		calls []history.Call
		want  history.Verdict
	}{
		"another expiry was seen":  {[]history.Call{first, get(1, minute+time.Second, 10, 20)}, history.Ok},
		"and again after the end":  {[]history.Call{first, get(1, minute, 60, 70), get(1, minute+time.Second, 80, 90)}, history.Illegal},
		"the first was over":       {[]history.Call{first, acquire("a", 3, ms, 500*ms, 100, 200), acquire("b", 2, ms, 400*ms, 110, 120)}, history.Ok},
		"a later one was not":      {[]history.Call{first, acquire("a", 2, ms, 1*ms, 60, 70), acquire("a", 5, ms, 500*ms, 100, 200), acquire("b", 3, minute, minute+400*ms, 110, 120)}, history.Illegal},
		"nobody asked for another": {[]history.Call{first, acquire("b", 2, ms, 400*ms, 110, 120)}, history.Illegal},
	} {
		h := history.History{Key: "k", Rules: model.Rules{Resolution: time.Millisecond}, Calls: c.calls}
		if c.want == history.Ok && history.Judge(h, judgeTime) != history.Illegal {
			t.Errorf("%s: the history is not illegal by itself", name)
		}
		h.Calls = append(h.Calls, redated(h)...)
		if got := history.Judge(h, judgeTime); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
