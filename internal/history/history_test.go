package history_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// patience is how long the judge gets; the histories here take it some
// milliseconds.
const patience = 10 * time.Second

const ttl = 10 * time.Second

// noon is the server clock, which stands still unless a test says otherwise.
var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

// of makes a history of calls on one key.
func of(calls ...history.Call) history.History {
	return history.History{Key: "k", Rules: model.Rules{Resolution: time.Millisecond}, Calls: calls}
}

// call is one by worker that is out from called to returned, in microseconds.
func call(worker, called, returned int, op model.Op, reply model.Reply) history.Call {
	return history.Call{
		Worker: worker, Text: op.Kind.String(), ReplyTxt: fmt.Sprintf("%s %d", reply.Holder, reply.Token),
		Op: op, Reply: reply, Window: model.Window{Lo: noon, Hi: noon},
		Called: time.Duration(called) * time.Microsecond, Returned: time.Duration(returned) * time.Microsecond,
	}
}

// at gives c another server clock, in seconds after noon.
func at(c history.Call, lo, hi int) history.Call {
	c.Window = model.Window{Lo: noon.Add(time.Duration(lo) * time.Second), Hi: noon.Add(time.Duration(hi) * time.Second)}
	return c
}

func acquire(holder string) model.Op {
	return model.Op{Kind: model.Acquire, Holder: holder, TTL: ttl}
}

func renew(holder string, token int64) model.Op {
	return model.Op{Kind: model.Renew, Holder: holder, Token: token, TTL: ttl}
}

func release(holder string, token int64) model.Op {
	return model.Op{Kind: model.Release, Holder: holder, Token: token}
}

var (
	get     = model.Op{Kind: model.Get}
	done    = model.Reply{Outcome: model.Done}
	refused = model.Reply{Outcome: model.Held}
	lost    = model.Reply{Outcome: model.Lost}
	notHeld = model.Reply{Outcome: model.NotHeld}
	unknown = model.Reply{Outcome: model.Unknown}
)

// granted is a lease that was granted at noon.
func granted(holder string, token int64) model.Reply {
	return model.Reply{Outcome: model.Granted, Holder: holder, Token: token, Expires: noon.Add(ttl)}
}

// grantedAt is a lease that was granted some seconds after noon.
func grantedAt(s int, holder string, token int64) model.Reply {
	r := granted(holder, token)
	r.Expires = r.Expires.Add(time.Duration(s) * time.Second)
	return r
}

func TestJudge(t *testing.T) {
	tests := []struct {
		name  string
		calls []history.Call
		want  history.Verdict
	}{
		{"nothing", nil, history.Ok},
		{"one after the other", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(1, 2, 3, acquire("b"), refused),
			call(0, 4, 5, renew("a", 1), granted("a", 1)),
			call(0, 6, 7, release("a", 1), done),
			call(1, 8, 9, get, notHeld),
			call(1, 10, 11, acquire("b"), granted("b", 2)),
			call(0, 12, 13, renew("a", 1), lost),
		}, history.Ok},
		{"one winner", []history.Call{
			call(0, 0, 10, acquire("a"), refused),
			call(1, 5, 15, acquire("b"), granted("b", 1)),
		}, history.Ok},
		{"two winners", []history.Call{
			call(0, 0, 10, acquire("a"), granted("a", 1)),
			call(1, 5, 15, acquire("b"), granted("b", 2)),
		}, history.Illegal},
		{"no winner", []history.Call{
			call(0, 0, 10, acquire("a"), refused),
			call(1, 5, 15, acquire("b"), refused),
		}, history.Illegal},
		{"winner refused before anybody won", []history.Call{
			call(0, 0, 4, acquire("a"), refused),
			call(1, 5, 15, acquire("b"), granted("b", 1)),
		}, history.Illegal},
		{"two grants share a token", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 10, release("a", 1), done),
			call(1, 5, 15, acquire("b"), granted("b", 1)),
		}, history.Illegal},
		{"tokens of concurrent grants rise", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 10, release("a", 1), done),
			call(1, 5, 15, acquire("b"), granted("b", 2)),
		}, history.Ok},
		{"later grant has a lower token", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 7)),
			call(0, 2, 3, release("a", 7), done),
			call(1, 4, 5, acquire("b"), granted("b", 6)),
		}, history.Illegal},
		{"get during a release still sees the lease", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 10, release("a", 1), done),
			call(1, 5, 15, get, granted("a", 1)),
		}, history.Ok},
		{"get after a release still sees the lease", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 4, release("a", 1), done),
			call(1, 5, 15, get, granted("a", 1)),
		}, history.Illegal},
		{"reads go back and forth", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 20, release("a", 1), done),
			call(1, 3, 4, get, notHeld),
			call(1, 5, 6, get, granted("a", 1)),
		}, history.Illegal},
		{"a reply and a call at the same instant are concurrent", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 5, release("a", 1), done),
			call(1, 5, 6, get, granted("a", 1)),
		}, history.Ok},
		{"a reply before a call is not", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 4, release("a", 1), done),
			call(1, 5, 6, get, granted("a", 1)),
		}, history.Illegal},
		{"expired and taken over", []history.Call{
			at(call(0, 0, 1, acquire("a"), granted("a", 1)), 0, 0),
			at(call(1, 2, 9, acquire("b"), grantedAt(10, "b", 2)), 9, 11),
			at(call(0, 3, 8, renew("a", 1), lost), 9, 11),
		}, history.Ok},
		{"taken over before its end", []history.Call{
			at(call(0, 0, 1, acquire("a"), granted("a", 1)), 0, 0),
			at(call(1, 2, 9, acquire("b"), grantedAt(9, "b", 2)), 9, 11),
		}, history.Illegal},
		{"server time runs backwards between two calls", []history.Call{
			at(call(0, 0, 1, acquire("a"), granted("a", 1)), 0, 0),
			at(call(1, 2, 3, get, notHeld), 9, 12),
			at(call(1, 4, 5, renew("a", 1), grantedAt(9, "a", 1)), 9, 12),
		}, history.Illegal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := history.Judge(of(tt.calls...), patience); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A call of unknown outcome takes effect once, at any moment after it was
// begun, or never.
func TestJudgeUnknown(t *testing.T) {
	lostAcquire := call(0, 0, 1, acquire("a"), unknown)
	tests := []struct {
		name  string
		calls []history.Call
		want  history.Verdict
	}{
		{"never", []history.Call{
			lostAcquire,
			call(1, 2, 3, acquire("b"), granted("b", 1)),
		}, history.Ok},
		{"at once", []history.Call{
			lostAcquire,
			call(1, 2, 3, acquire("b"), refused),
		}, history.Ok},
		{"later", []history.Call{
			lostAcquire,
			call(1, 2, 3, acquire("b"), granted("b", 1)),
			call(1, 4, 5, release("b", 1), done),
			call(1, 6, 7, get, granted("a", 2)),
		}, history.Ok},
		{"later, with a token that was seen", []history.Call{
			lostAcquire,
			call(1, 2, 3, acquire("b"), granted("b", 1)),
			call(1, 4, 5, release("b", 1), done),
			call(1, 6, 7, get, granted("a", 1)),
		}, history.Illegal},
		{"before it was begun", []history.Call{
			call(1, 0, 1, get, granted("a", 1)),
			call(0, 2, 3, acquire("a"), unknown),
		}, history.Illegal},
		{"twice", []history.Call{
			lostAcquire,
			call(1, 2, 3, get, granted("a", 1)),
			call(1, 4, 5, release("a", 1), done),
			call(1, 6, 7, get, granted("a", 2)),
		}, history.Illegal},
		{"for another holder", []history.Call{
			lostAcquire,
			call(1, 2, 3, get, granted("c", 1)),
		}, history.Illegal},
		{"repeated, and one grant", []history.Call{
			lostAcquire,
			call(0, 2, 3, acquire("a"), granted("a", 1)),
			call(1, 4, 5, get, granted("a", 1)),
		}, history.Ok},
		{"refused by its own lease", []history.Call{
			lostAcquire,
			call(0, 2, 3, acquire("a"), refused),
		}, history.Illegal},
		{"lost release", []history.Call{
			call(0, 0, 1, acquire("a"), granted("a", 1)),
			call(0, 2, 3, release("a", 1), unknown),
			call(1, 4, 5, acquire("b"), refused),
			call(1, 6, 7, acquire("b"), granted("b", 2)),
		}, history.Ok},
		{"later on the server clock too", []history.Call{
			at(call(0, 0, 1, acquire("a"), granted("a", 1)), 0, 0),
			at(call(0, 2, 3, renew("a", 1), unknown), 5, 5),
			at(call(1, 4, 5, get, grantedAt(8, "a", 1)), 14, 14),
			at(call(1, 6, 7, get, notHeld), 18, 18),
		}, history.Ok},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := history.Judge(of(tt.calls...), patience); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestJudgeKnowsEarlierTokens(t *testing.T) {
	for token, want := range map[int64]history.Verdict{7: history.Illegal, 8: history.Ok} {
		h := of(call(0, 0, 1, acquire("a"), granted("a", token)))
		h.Max = 7
		if got := history.Judge(h, patience); got != want {
			t.Errorf("token %d after 7: got %s, want %s", token, got, want)
		}
	}
}

// handOvers is a legal history of n bursts in which four workers fight for the
// key and its holder releases it, with up to lostReplies replies lost.
func handOvers(n, lostReplies int) history.History {
	var calls []history.Call
	for i := range n {
		from, token := 100*i, int64(i+1)
		for w := range 4 {
			reply := refused
			if w == i%4 {
				reply = granted(fmt.Sprint("w", w), token)
			}
			calls = append(calls, call(w, from+w, from+40, acquire(fmt.Sprint("w", w)), reply))
		}
		if i < lostReplies {
			calls = append(calls, call(9, from+41, from+50, acquire("late"), unknown))
		}
		calls = append(calls, call(i%4, from+60, from+70, release(fmt.Sprint("w", i%4), token), done))
	}
	return of(calls...)
}

func TestJudgeEndsWithMaxUnknown(t *testing.T) {
	h := handOvers(10, history.MaxUnknown)
	if got := history.Judge(h, patience); got != history.Ok {
		t.Errorf("got %s, want ok", got)
	}
	h.Calls = append(h.Calls, call(0, 2000, 2001, get, granted("nobody", 99)))
	if got := history.Judge(h, patience); got != history.Illegal {
		t.Errorf("with a lease from nowhere: got %s, want illegal", got)
	}
}

// Far more unknown outcomes than the judge can think through in a moment.
func TestJudgeRunsOutOfTime(t *testing.T) {
	h := handOvers(30, 30)
	h.Calls = append(h.Calls, call(0, 9000, 9001, get, granted("nobody", 99)))
	if got := history.Judge(h, time.Millisecond); got != history.Unknown {
		t.Errorf("got %s, want unknown", got)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	h := of(
		call(0, 0, 1, acquire("a"), granted("a", 1)),
		call(1, 2, 3, acquire("b"), granted("b", 2)),
		call(2, 4, 5, renew("a", 1), unknown),
	)
	files, err := history.Save(h, dir, "two-winners", patience)
	want := []string{filepath.Join(dir, "two-winners.json"), filepath.Join(dir, "two-winners.html")}
	if err != nil || !reflect.DeepEqual(files, want) {
		t.Fatalf("got %v, %v, want %v", files, err, want)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var got history.History
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("the JSON reads as %+v, %v, want %+v", got, err, h)
	}
	picture, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<html", "Acquire → a 1", "Acquire → b 2", "a token 1 until 12:00:10"} {
		if !strings.Contains(string(picture), part) {
			t.Errorf("the picture does not show %q", part)
		}
	}
}

func TestSaveNowhere(t *testing.T) {
	h := of(call(0, 0, 1, get, notHeld))
	files, err := history.Save(h, filepath.Join(t.TempDir(), "missing"), "h", patience)
	if !errors.Is(err, fs.ErrNotExist) || len(files) != 0 {
		t.Errorf("got %v, %v, want no files and fs.ErrNotExist", files, err)
	}
}

// A grant over whose end the clock went, and then stepped back, may be over or
// live, but the same for all (EXPIRY-7).
func TestJudgeClockSteppingBack(t *testing.T) {
	back := history.Call{
		Called: 30 * time.Microsecond, Returned: 31 * time.Microsecond,
		Back: &history.Back{Most: noon.Add(11 * time.Second), Now: noon.Add(time.Second)},
	}
	first := call(0, 0, 10, acquire("a"), granted("a", 1))
	later := func(c history.Call) history.Call { return at(c, 1, 1) }
	live := later(call(1, 40, 50, get, granted("a", 1)))
	over := later(call(1, 40, 50, get, notHeld))
	taken := later(call(1, 60, 70, acquire("b"), grantedAt(1, "b", 2)))
	for name, tt := range map[string]struct {
		calls []history.Call
		want  history.Verdict
	}{
		"live":                  {[]history.Call{first, back, live}, history.Ok},
		"over":                  {[]history.Call{first, back, over, taken}, history.Ok},
		"live, then taken over": {[]history.Call{first, back, live, taken}, history.Illegal},
		"over without a step":   {[]history.Call{first, over}, history.Illegal},
	} {
		if got := history.Judge(of(tt.calls...), patience); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
