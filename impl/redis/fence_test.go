package redislease

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	"github.com/leasekit/lease/leasetest"
)

// TestFenceConformance checks the fence on a Redis in this process. Module
// integration checks it on a real one, which it crashes.
func TestFenceConformance(t *testing.T) { leasetest.RunFence(t, openFence) }

func openFence(t testing.TB) *leasetest.FenceHarness {
	st := newStore(t)
	return &leasetest.FenceHarness{
		Connect: func(t testing.TB) fence.Resource { return NewFence(st.client(t), nil) },
		Restart: func(t testing.TB) {
			st.Close()
			if err := st.Restart(); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// A fence whose script compares tokens wrongly is found out: these are the slips
// that Lua invites.
func TestFenceScriptFaults(t *testing.T) {
	const comparison = `#ARGV[1] < #highest or (#ARGV[1] == #highest and ARGV[1] < highest)`
	for name, c := range map[string]struct{ instead, clause string }{
		"as doubles":      {`tonumber(ARGV[1]) < tonumber(highest)`, "FENCE-1"},
		"as text":         {`ARGV[1] < highest`, "FENCE-1"},
		"with <=":         {`#ARGV[1] < #highest or (#ARGV[1] == #highest and ARGV[1] <= highest)`, "FENCE-2"},
		"only the length": {`#ARGV[1] < #highest`, "FENCE-1"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(writeLua, comparison) != 1 {
				t.Fatal("write.lua has another comparison now: change the test too")
			}
			st := newStore(t)
			faulty := newScript(fencedLua, strings.Replace(writeLua, comparison, c.instead, 1))
			report, err := leasetest.CheckFence(context.Background(), func(t testing.TB) *leasetest.FenceHarness {
				st.FlushAll()
				return &leasetest.FenceHarness{Connect: func(t testing.TB) fence.Resource {
					return faultyFence{NewFence(st.client(t), nil), faulty}
				}}
			}, &leasetest.Options{Cases: 10, Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if r, _ := report.Result(c.clause); r.Verdict != leasetest.Fail {
				t.Errorf("%s: got %s (%s), want fail", c.clause, r.Verdict, r.Reason)
			}
		})
	}
}

// faultyFence writes by another script.
type faultyFence struct {
	*Fence
	write *script
}

func (f faultyFence) Write(ctx context.Context, key string, token int64, value string) error {
	if err := fence.CheckWrite(key, token); err != nil {
		return err
	}
	r, err := f.host.run(ctx, newCall(f.write, 1, f.names.ofFenced(key), strconv.FormatInt(token, 10), value))
	if err == nil && r.is("stale", 1) {
		return fence.ErrStale
	}
	return err
}

func TestFenceRefusal(t *testing.T) {
	f, ctx := NewFence(newStore(t).client(t), nil), context.Background()
	if err := f.Write(ctx, "job", math.MaxInt64, "a\x00\xff"); err != nil {
		t.Fatal(err)
	}
	err := f.Write(ctx, "job", 1<<53+1, "b")
	var stale *fence.StaleError
	if !errors.As(err, &stale) || *stale != (fence.StaleError{Key: "job", Token: 1<<53 + 1, Highest: math.MaxInt64}) {
		t.Errorf("Write with a lower token: got %v, want a StaleError with both", err)
	}
	if value, token, err := f.Read(ctx, "job"); value != "a\x00\xff" || token != math.MaxInt64 || err != nil {
		t.Errorf("Read: got %q, %d, %v, want what was written first", value, token, err)
	}
}

func TestFenceRoundTrips(t *testing.T) {
	client := newStore(t).client(t)
	var sent commands
	client.AddHook(&sent)
	f, ctx := NewFence(client, nil), context.Background()
	for name, call := range map[string]func() error{
		"Write":       func() error { return f.Write(ctx, "job", 5, "v") },
		"stale Write": func() error { return ignoring(f.Write(ctx, "job", 4, "v"), fence.ErrStale) },
		"Read":        func() error { _, _, err := f.Read(ctx, "job"); return err },
	} {
		if err := call(); err != nil { // loads the script
			t.Fatalf("%s: %v", name, err)
		}
		before := sent.n.Load()
		if err := call(); err != nil || sent.n.Load() != before+1 {
			t.Errorf("%s: got %d round trips, %v, want 1", name, sent.n.Load()-before, err)
		}
	}
	before := sent.n.Load()
	for name, call := range map[string]func() error{
		"Write, key":   func() error { return f.Write(ctx, "", 1, "v") },
		"Write, token": func() error { return f.Write(ctx, "job", 0, "v") },
		"Read, key":    func() error { _, _, err := f.Read(ctx, "a\x00b"); return err },
	} {
		if err := call(); !errors.Is(err, lease.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if n := sent.n.Load() - before; n != 0 {
		t.Errorf("%d commands were sent for invalid arguments, want none", n)
	}
}

func ignoring(err, sentinel error) error {
	if errors.Is(err, sentinel) {
		return nil
	}
	return err
}

// What this package did not write is an error in both calls, it names the key, and
// stays as it is.
func TestFenceUnreadable(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(st *store, hash string){
		"a string":                  func(st *store, hash string) { st.Del(hash); st.Set(hash, "x") },
		"a list":                    func(st *store, hash string) { st.Del(hash); st.Push(hash, "x") },
		"other fields":              func(st *store, hash string) { st.Del(hash); st.HSet(hash, "x", "1", "y", "2") },
		"no token":                  func(st *store, hash string) { st.HDel(hash, "token") },
		"no value":                  func(st *store, hash string) { st.HDel(hash, "value") },
		"a field of the future":     func(st *store, hash string) { st.HSet(hash, "schema", "2") },
		"a token that is no number": func(st *store, hash string) { st.HSet(hash, "token", "x") },
		"token 0":                   func(st *store, hash string) { st.HSet(hash, "token", "0") },
		"token -1":                  func(st *store, hash string) { st.HSet(hash, "token", "-1") },
		"token 01":                  func(st *store, hash string) { st.HSet(hash, "token", "01") },
		"token 1e3":                 func(st *store, hash string) { st.HSet(hash, "token", "1e3") },
		"token 2^63":                func(st *store, hash string) { st.HSet(hash, "token", "9223372036854775808") },
	} {
		st := newStore(t)
		f := NewFence(st.client(t), nil)
		if err := f.Write(ctx, "job", 5, "v"); err != nil {
			t.Fatal(err)
		}
		damage(st, f.names.ofFenced("job"))
		before := st.Dump()
		_, _, readErr := f.Read(ctx, "job")
		for call, err := range map[string]error{"Write": f.Write(ctx, "job", 9, "w"), "Read": readErr} {
			if err == nil || errors.Is(err, fence.ErrStale) || errors.Is(err, lease.ErrInvalid) || !strings.Contains(err.Error(), `"job"`) {
				t.Errorf("%s: %s: got %v, want an error that is no sentinel and names the key", name, call, err)
			}
		}
		if after := st.Dump(); after != before {
			t.Errorf("%s: the calls changed the store: before\n%s\nafter\n%s", name, before, after)
		}
	}
}

// A fence and a service of one prefix share nothing but the cluster slot, nor do
// two fences whose prefix and key joined are the same.
func TestFenceNames(t *testing.T) {
	st, ctx := newStore(t), context.Background()
	for _, prefix := range odd {
		for _, key := range odd {
			n := newNames(prefix)
			hash, _ := n.of(key)
			if fenced := n.ofFenced(key); slotTag(fenced) != slotTag(hash) || fenced == hash {
				t.Errorf("prefix %.40q, key %.40q: the names %.40q and %.40q, want two in one slot", prefix, key, fenced, hash)
			}
		}
	}
	all := "a:b:c:d"
	for i := 1; i < len(all); i++ {
		f := NewFence(st.client(t), &FenceOptions{Prefix: all[:i]})
		acquire(t, st.service(t, all[:i]), all[i:], "a", 1e9)
		if err := f.Write(ctx, all[i:], int64(100-i), "v"); err != nil {
			t.Errorf("prefix %q, key %q: %v", all[:i], all[i:], err)
		}
	}
}

func TestOpenFence(t *testing.T) {
	st, ctx := newStore(t), context.Background()
	f, err := OpenFence("redis://"+st.Addr(), &FenceOptions{Prefix: "p"})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(ctx, "job", 1, "v"); err != nil || !st.Exists("{1:pjob}f") {
		t.Errorf("Write: %v; the store has\n%s", err, st.Dump())
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := f.Write(ctx, "job", 2, "v"); err == nil {
		t.Error("Write after Close: no error")
	}
	if _, err := OpenFence("redis:db.example", nil); err == nil {
		t.Error("OpenFence of no URL: no error")
	}
	var none *redis.Client
	if err := NewFence(none, nil).Write(ctx, "job", 1, "v"); err == nil {
		t.Error("Write without a client: no error")
	}
	if err := NewFence(st.client(t), nil).Close(); err != nil {
		t.Errorf("Close of a fence on a client of the caller's: %v", err)
	}
}

// FENCE: a call whose context has ended fails, and sends nothing.
func TestFenceContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := NewFence(newStore(t).client(t), nil)
	if err := f.Write(ctx, "job", 1, "v"); !errors.Is(err, context.Canceled) {
		t.Errorf("Write: got %v, want the context's error", err)
	}
	if _, _, err := f.Read(ctx, "job"); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: got %v, want the context's error", err)
	}
	if _, token, err := f.Read(context.Background(), "job"); token != 0 || err != nil {
		t.Errorf("Read after it: got token %d, %v, want 0", token, err)
	}
}
