package history_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

func TestShorten(t *testing.T) {
	h := of(
		call(2, 0, 1, get, notHeld),
		call(0, 2, 3, acquire("a"), granted("a", 1)),
		call(1, 4, 5, acquire("b"), refused),
		call(2, 6, 7, get, granted("a", 1)),
		call(2, 8, 9, renew("b", 1), lost),
		call(0, 10, 11, release("a", 1), done),
		call(2, 12, 13, get, granted("a", 1)),
		call(2, 14, 15, get, notHeld),
	)
	before := append([]history.Call(nil), h.Calls...)
	got := history.Shorten(h, patience)
	want := []history.Call{before[1], before[5], before[6]}
	if !reflect.DeepEqual(got.Calls, want) {
		t.Errorf("got %+v\nwant %+v", got.Calls, want)
	}
	if got.Key != h.Key || got.Rules != h.Rules {
		t.Errorf("got key %q and rules %+v, want those of the history", got.Key, got.Rules)
	}
	if !reflect.DeepEqual(h.Calls, before) {
		t.Error("the history that was given has changed")
	}
	if v := history.Judge(got, patience); v != history.Illegal {
		t.Errorf("the short history is %s, want illegal", v)
	}
}

// shortStaysIllegal shortens any illegal history: it stays illegal, keeps what
// changed something, and can't be shortened again.
func shortStaysIllegal(t *rapid.T) {
	replies := map[model.Kind][]model.Outcome{
		model.Acquire: {model.Granted, model.Held, model.Unknown},
		model.Renew:   {model.Granted, model.Lost},
		model.Release: {model.Done, model.Lost},
		model.Get:     {model.Granted, model.NotHeld},
	}
	holder, token := rapid.SampledFrom([]string{"a", "b"}), rapid.Int64Range(1, 3)
	h := of()
	for i := range rapid.IntRange(1, 8).Draw(t, "calls") {
		op := model.Op{Kind: model.Kind(rapid.IntRange(0, 3).Draw(t, "call"))}
		op.Holder, op.Token, op.TTL = holder.Draw(t, "holder"), token.Draw(t, "token"), ttl
		reply := model.Reply{Outcome: rapid.SampledFrom(replies[op.Kind]).Draw(t, "reply")}
		if reply.Outcome == model.Granted {
			reply = granted(holder.Draw(t, "granted to"), token.Draw(t, "granted token"))
		}
		called := 10 * i
		h.Calls = append(h.Calls, call(i, called, called+rapid.IntRange(0, 25).Draw(t, "takes"), op, reply))
	}
	if history.Judge(h, patience) != history.Illegal {
		return
	}
	short := history.Shorten(h, patience)
	if got := history.Judge(short, patience); got != history.Illegal {
		t.Fatalf("the short history is %s, want illegal: %+v", got, short)
	}
	kept := 0
	for _, c := range h.Calls {
		switch {
		case kept < len(short.Calls) && reflect.DeepEqual(c, short.Calls[kept]):
			kept++
		case c.Op.Kind != model.Get && (c.Reply.Outcome == model.Granted || c.Reply.Outcome == model.Done || c.Reply.Outcome == model.Unknown):
			t.Fatalf("left out %+v, which may have changed something", c)
		}
	}
	if kept != len(short.Calls) {
		t.Fatalf("the short history is not a part of the one given: %+v", short)
	}
	if again := history.Shorten(short, patience); len(again.Calls) != len(short.Calls) {
		t.Fatalf("shortened again from %d calls to %d", len(short.Calls), len(again.Calls))
	}
}

func TestShortStaysIllegal(t *testing.T) { rapid.Check(t, shortStaysIllegal) }
