package model_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/leasekit/lease/internal/model"
)

const (
	ms      = time.Millisecond
	longest = time.Duration(math.MaxInt64)
)

// exact are the rules of a backend that rounds to a millisecond and is never
// late.
var exact = model.Rules{Resolution: ms}

// at is an instant of the server clock, n milliseconds into the test's time.
func at(n int) time.Time {
	return time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC).Add(time.Duration(n) * ms)
}

// still is the window of a call while the clock stands at n.
func still(n int) model.Window { return between(n, n) }

func between(lo, hi int) model.Window { return model.Window{Lo: at(lo), Hi: at(hi)} }

// free is a key that nobody holds, after a step at since.
func free(most int64, since int) model.State { return model.State{Max: most, Since: at(since)} }

// held is a key held by a until end, after a step at since.
func held(token int64, end, since int) model.State { return uncertain(token, end, end, since) }

// uncertain is a key held by a until some instant from lo to hi.
func uncertain(token int64, lo, hi, since int) model.State {
	s := model.State{Held: true, Holder: "a", Token: token, EndLo: at(lo), EndHi: at(hi), Max: token, Since: at(since)}
	if token == 0 {
		s.Max = 5
	}
	return s
}

// of gives the grant of s to another holder.
func of(holder string, s model.State) model.State {
	s.Holder = holder
	return s
}

func acquire(holder string, ttl time.Duration) model.Op {
	return model.Op{Kind: model.Acquire, Holder: holder, TTL: ttl}
}

func renew(holder string, token int64, ttl time.Duration) model.Op {
	return model.Op{Kind: model.Renew, Holder: holder, Token: token, TTL: ttl}
}

func release(holder string, token int64) model.Op {
	return model.Op{Kind: model.Release, Holder: holder, Token: token}
}

var (
	get     = model.Op{Kind: model.Get}
	unknown = model.Reply{Outcome: model.Unknown}
	done    = model.Reply{Outcome: model.Done}
	refused = model.Reply{Outcome: model.Held}
	lost    = model.Reply{Outcome: model.Lost}
	notHeld = model.Reply{Outcome: model.NotHeld}
)

func granted(holder string, token int64, end int) model.Reply {
	return model.Reply{Outcome: model.Granted, Holder: holder, Token: token, Expires: at(end)}
}

// stepTest is a step and the states that it may lead to; none means that the
// contract forbids the reply.
type stepTest struct {
	name  string
	s     model.State
	op    model.Op
	reply model.Reply
	w     model.Window
	want  []model.State
}

func to(states ...model.State) []model.State { return states }

var forbidden []model.State

func runSteps(t *testing.T, r model.Rules, tests []stepTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := distinct(r.Step(tt.s, tt.op, tt.reply, tt.w))
			if !sameSet(got, tt.want) {
				t.Errorf("%v of %+v\nanswered %+v\ngot  %+v\nwant %+v", tt.op.Kind, tt.s, tt.reply, got, tt.want)
			}
		})
	}
}

func distinct(states []model.State) []model.State {
	var all []model.State
	for _, s := range states {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func sameSet(a, b []model.State) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return len(a) == len(b)
}

// The clock stands at 50. A grant until 50 is over for every operation, and
// one until 51, a resolution later, is live for every one.
func TestStepOnStillClock(t *testing.T) {
	w := still(50)
	over, live := held(5, 50, 0), held(5, 51, 0)
	runSteps(t, exact, []stepTest{
		{"acquire never taken", model.State{}, acquire("a", 10*ms), granted("a", 1, 60), w, to(held(1, 60, 50))},
		{"acquire never taken, gap", model.State{}, acquire("a", 10*ms), granted("a", 99, 60), w, to(held(99, 60, 50))},
		{"acquire never taken, token 0", model.State{}, acquire("a", 10*ms), granted("a", 0, 60), w, forbidden},
		{"acquire never taken, token below 0", free(-9, 0), acquire("a", 10*ms), granted("a", -1, 60), w, forbidden},
		{"acquire never taken, refused", model.State{}, acquire("a", 10*ms), refused, w, forbidden},
		{"acquire free", free(5, 0), acquire("a", 10*ms), granted("a", 6, 60), w, to(held(6, 60, 50))},
		{"acquire free, token repeats", free(5, 0), acquire("a", 10*ms), granted("a", 5, 60), w, forbidden},
		{"acquire free, token goes down", free(5, 0), acquire("a", 10*ms), granted("a", 4, 60), w, forbidden},
		{"acquire free, refused", free(5, 0), acquire("a", 10*ms), refused, w, forbidden},
		{"acquire free, for somebody else", free(5, 0), acquire("a", 10*ms), granted("b", 6, 60), w, forbidden},
		{"acquire free, lost", free(5, 0), acquire("a", 10*ms), lost, w, forbidden},
		{"acquire free, not held", free(5, 0), acquire("a", 10*ms), notHeld, w, forbidden},
		{"acquire free, done", free(5, 0), acquire("a", 10*ms), done, w, forbidden},
		{"acquire live, other holder", live, acquire("b", 10*ms), refused, w, to(held(5, 51, 50))},
		{"acquire live, second winner", live, acquire("b", 10*ms), granted("b", 6, 60), w, forbidden},
		{"acquire live, second winner, same token", live, acquire("b", 10*ms), granted("b", 5, 60), w, forbidden},
		{"acquire live, same holder", live, acquire("a", 10*ms), granted("a", 5, 60), w, to(held(5, 60, 50))},
		{"acquire live, same holder, shorter", held(5, 90, 0), acquire("a", 10*ms), granted("a", 5, 60), w, to(held(5, 60, 50))},
		{"acquire live, same holder, old expiry", held(5, 90, 0), acquire("a", 10*ms), granted("a", 5, 90), w, forbidden},
		{"acquire live, same holder, new token", live, acquire("a", 10*ms), granted("a", 6, 60), w, forbidden},
		{"acquire live, same holder, refused", live, acquire("a", 10*ms), refused, w, forbidden},
		{"acquire over, other holder", over, acquire("b", 10*ms), granted("b", 6, 60), w, to(of("b", held(6, 60, 50)))},
		{"acquire over, other holder, refused", over, acquire("b", 10*ms), refused, w, forbidden},
		{"acquire over, same holder", over, acquire("a", 10*ms), granted("a", 6, 60), w, to(held(6, 60, 50))},
		{"acquire over, same holder, old token", over, acquire("a", 10*ms), granted("a", 5, 60), w, forbidden},

		{"renew live", live, renew("a", 5, 10*ms), granted("a", 5, 60), w, to(held(5, 60, 50))},
		{"renew live, shorter", held(5, 90, 0), renew("a", 5, 10*ms), granted("a", 5, 60), w, to(held(5, 60, 50))},
		{"renew live, old expiry", held(5, 90, 0), renew("a", 5, 10*ms), granted("a", 5, 90), w, forbidden},
		{"renew live, new token", live, renew("a", 5, 10*ms), granted("a", 6, 60), w, forbidden},
		{"renew live, for somebody else", live, renew("a", 5, 10*ms), granted("b", 5, 60), w, forbidden},
		{"renew live, lost", live, renew("a", 5, 10*ms), lost, w, forbidden},
		{"renew live, held", live, renew("a", 5, 10*ms), refused, w, forbidden},
		{"renew live, other holder", live, renew("b", 5, 10*ms), lost, w, to(held(5, 51, 50))},
		{"renew live, other holder granted", live, renew("b", 5, 10*ms), granted("b", 5, 60), w, forbidden},
		{"renew live, older token", live, renew("a", 4, 10*ms), lost, w, to(held(5, 51, 50))},
		{"renew live, older token granted", live, renew("a", 4, 10*ms), granted("a", 4, 60), w, forbidden},
		{"renew live, older token given the new one", live, renew("a", 4, 10*ms), granted("a", 5, 60), w, forbidden},
		{"renew live, made-up token", live, renew("a", 6, 10*ms), granted("a", 6, 60), w, forbidden},
		{"renew over", over, renew("a", 5, 10*ms), lost, w, to(held(5, 50, 50))},
		{"renew over, granted", over, renew("a", 5, 10*ms), granted("a", 5, 60), w, forbidden},
		{"renew free", free(5, 0), renew("a", 5, 10*ms), lost, w, to(free(5, 50))},
		{"renew free, granted", free(5, 0), renew("a", 5, 10*ms), granted("a", 5, 60), w, forbidden},

		{"release live", live, release("a", 5), done, w, to(free(5, 50))},
		{"release live, lost", live, release("a", 5), lost, w, forbidden},
		{"release live, held", live, release("a", 5), refused, w, forbidden},
		{"release live, other holder", live, release("b", 5), done, w, to(held(5, 51, 50))},
		{"release live, older token", live, release("a", 4), done, w, to(held(5, 51, 50))},
		{"release live, older token lost", live, release("a", 4), lost, w, to(held(5, 51, 50))},
		{"release over", over, release("a", 5), done, w, to(held(5, 50, 50), free(5, 50))},
		{"release over, lost", over, release("a", 5), lost, w, to(held(5, 50, 50), free(5, 50))},
		{"release free", free(5, 0), release("a", 5), done, w, to(free(5, 50))},
		{"release free, lost", free(5, 0), release("a", 5), lost, w, to(free(5, 50))},
		{"release free, not held", free(5, 0), release("a", 5), notHeld, w, forbidden},

		{"get live", live, get, granted("a", 5, 51), w, to(held(5, 51, 50))},
		{"get live, other holder", live, get, granted("b", 5, 51), w, forbidden},
		{"get live, token up", live, get, granted("a", 6, 51), w, forbidden},
		{"get live, token down", live, get, granted("a", 4, 51), w, forbidden},
		{"get live, later expiry", live, get, granted("a", 5, 52), w, forbidden},
		{"get live, earlier expiry", held(5, 52, 0), get, granted("a", 5, 51), w, forbidden},
		{"get live, not held", live, get, notHeld, w, forbidden},
		{"get over", over, get, notHeld, w, to(held(5, 50, 50))},
		{"get over, granted", over, get, granted("a", 5, 50), w, forbidden},
		{"get free", free(5, 0), get, notHeld, w, to(free(5, 50))},
		{"get free, granted", free(5, 0), get, granted("a", 5, 60), w, forbidden},
		{"get free, held", free(5, 0), get, refused, w, forbidden},
	})
}

// With the clock running, a call took effect at some instant of its window.
func TestStepInInterval(t *testing.T) {
	s := held(5, 50, 0)
	runSteps(t, exact, []stepTest{
		{"end inside, live", s, get, granted("a", 5, 50), between(40, 60), to(held(5, 50, 40))},
		{"end inside, over", s, get, notHeld, between(40, 60), to(held(5, 50, 50))},
		{"end inside, refused", s, acquire("b", 10*ms), refused, between(40, 60), to(held(5, 50, 40))},
		{"end inside, lost", s, renew("a", 5, 10*ms), lost, between(40, 60), to(held(5, 50, 50))},
		{"end inside, release", s, release("a", 5), done, between(40, 60), to(free(5, 40), held(5, 50, 50), free(5, 50))},
		{"end at the window's end", s, get, notHeld, between(40, 50), to(held(5, 50, 50))},
		{"end after the window", s, get, notHeld, between(40, 49), forbidden},
		{"end at the window's begin", s, get, granted("a", 5, 50), between(50, 60), forbidden},
		{"end just after the window's begin", s, get, granted("a", 5, 50), between(49, 60), to(held(5, 50, 49))},
		{"grant dates itself", s, acquire("b", 10*ms), granted("b", 6, 65), between(40, 60), to(of("b", held(6, 65, 54)))},
		{"grant dates itself before the end", s, acquire("b", 10*ms), granted("b", 6, 59), between(40, 60), forbidden},
		{"grant dates itself at the end", s, acquire("b", 10*ms), granted("b", 6, 60), between(40, 60), to(of("b", held(6, 60, 50)))},
		{"renewal dates itself after the end", s, renew("a", 5, 10*ms), granted("a", 5, 62), between(40, 60), forbidden},
		{"renewal dates itself before the end", s, renew("a", 5, 10*ms), granted("a", 5, 55), between(40, 60), to(held(5, 55, 44))},
		{"expiry before the window", s, acquire("b", 10*ms), granted("b", 6, 49), between(40, 60), forbidden},
		{"expiry after the window", s, acquire("b", 10*ms), granted("b", 6, 72), between(40, 60), forbidden},
		{"same grant after its end", s, acquire("a", 10*ms), granted("a", 5, 61), between(40, 60), forbidden},
		{"window before the last step", held(5, 90, 61), get, granted("a", 5, 90), between(40, 60), forbidden},
		{"window ends at the last step", held(5, 90, 60), get, granted("a", 5, 90), between(40, 60), to(held(5, 90, 60))},
		{"time does not run backwards", held(5, 50, 55), get, granted("a", 5, 50), between(40, 60), forbidden},
	})
}

// A store may take an expired grant for live up to ExpiryLag after its end.
func TestStepWithExpiryLag(t *testing.T) {
	r := model.Rules{Resolution: ms, ExpiryLag: 10 * ms}
	s := held(5, 50, 0)
	runSteps(t, r, []stepTest{
		{"get live at the end", s, get, granted("a", 5, 50), still(50), to(held(5, 50, 50))},
		{"get over at the end", s, get, notHeld, still(50), to(held(5, 50, 50))},
		{"get over before the end", s, get, notHeld, still(49), forbidden},
		{"get live just within", s, get, granted("a", 5, 50), still(59), to(held(5, 50, 59))},
		{"get live after the lag", s, get, granted("a", 5, 50), still(60), forbidden},
		{"refused within", s, acquire("b", 10*ms), refused, still(59), to(held(5, 50, 59))},
		{"refused after the lag", s, acquire("b", 10*ms), refused, still(60), forbidden},
		{"granted within", s, acquire("b", 10*ms), granted("b", 6, 69), still(59), to(of("b", held(6, 69, 59)))},
		{"same holder within, same grant", s, acquire("a", 10*ms), granted("a", 5, 69), still(59), to(held(5, 69, 59))},
		{"same holder within, new grant", s, acquire("a", 10*ms), granted("a", 6, 69), still(59), to(held(6, 69, 59))},
		{"renewed within", s, renew("a", 5, 10*ms), granted("a", 5, 69), still(59), to(held(5, 69, 59))},
		{"renewed after the lag", s, renew("a", 5, 10*ms), granted("a", 5, 70), still(60), forbidden},
		{"lost within", s, renew("a", 5, 10*ms), lost, still(59), to(held(5, 50, 59))},
	})
}

// After a reply was lost, token and end are known in bounds only, until a
// reply tells them.
func TestStepOnUncertainGrant(t *testing.T) {
	s := uncertain(0, 60, 70, 0) // tokens up to 5 were seen before
	from69 := uncertain(0, 60, 70, 69)
	from69.EndLo = at(69).Add(1) // it was live at 69, so its end lies after that
	runSteps(t, exact, []stepTest{
		{"get tells it", s, get, granted("a", 6, 65), still(50), to(held(6, 65, 50))},
		{"get tells it, with a gap", s, get, granted("a", 60, 65), still(50), to(held(60, 65, 50))},
		{"token was seen before", s, get, granted("a", 5, 65), still(50), forbidden},
		{"expiry at the lower bound", s, get, granted("a", 6, 60), still(50), to(held(6, 60, 50))},
		{"expiry at the upper bound", s, get, granted("a", 6, 70), still(50), to(held(6, 70, 50))},
		{"expiry below the bounds", s, get, granted("a", 6, 59), still(50), forbidden},
		{"expiry above the bounds", s, get, granted("a", 6, 71), still(50), forbidden},
		{"expiry has passed", s, get, granted("a", 6, 61), still(62), forbidden},
		{"acquire by its holder tells it", s, acquire("a", 10*ms), granted("a", 6, 60), still(50), to(held(6, 60, 50))},
		{"acquire by another", s, acquire("b", 10*ms), refused, still(50), to(uncertain(0, 60, 70, 50))},
		{"surely live", s, get, notHeld, still(59), forbidden},
		{"maybe over", s, get, notHeld, still(60), to(uncertain(0, 60, 60, 60))},
		{"maybe live", s, acquire("b", 10*ms), refused, still(69), to(from69)},
		{"live and over at one instant", from69, get, notHeld, still(69), forbidden},
		{"over and live at one instant", uncertain(0, 60, 60, 60), acquire("b", 10*ms), refused, still(60), forbidden},
		{"get at its own expiry", s, get, granted("a", 6, 61), still(61), forbidden},
		{"surely over", s, acquire("b", 10*ms), refused, still(70), forbidden},
		{"renewed with a guess", s, renew("a", 6, 10*ms), granted("a", 6, 60), still(50), to(held(6, 60, 50))},
		{"renewed with an old token", s, renew("a", 5, 10*ms), granted("a", 5, 60), still(50), forbidden},
		{"lost with a guess", s, renew("a", 6, 10*ms), lost, still(50), to(uncertain(0, 60, 70, 50))},
		{"released with a guess", s, release("a", 6), done, still(50), to(free(5, 50), uncertain(0, 60, 70, 50))},
		{"released with an old token", s, release("a", 5), done, still(50), to(uncertain(0, 60, 70, 50))},
	})
}

// A call of unknown outcome took effect or did not.
func TestStepUnknown(t *testing.T) {
	live, over := held(5, 51, 0), held(5, 50, 0)
	fresh := func(holder string) model.State { return of(holder, uncertain(0, 60, 61, 50)) }
	longer := held(5, 51, 50)
	longer.EndLo, longer.EndHi = at(60), at(61)
	runSteps(t, exact, []stepTest{
		{"acquire free", free(5, 0), acquire("a", 10*ms), unknown, still(50), to(free(5, 0), fresh("a"))},
		{"acquire live, same holder", live, acquire("a", 10*ms), unknown, still(50), to(live, longer)},
		{"acquire live, other holder", live, acquire("b", 10*ms), unknown, still(50), to(live)},
		{"acquire over", over, acquire("b", 10*ms), unknown, still(50), to(over, fresh("b"))},
		{"renew live", live, renew("a", 5, 10*ms), unknown, still(50), to(live, longer)},
		{"renew live, older token", live, renew("a", 4, 10*ms), unknown, still(50), to(live)},
		{"renew live, other holder", live, renew("b", 5, 10*ms), unknown, still(50), to(live)},
		{"renew over", over, renew("a", 5, 10*ms), unknown, still(50), to(over)},
		{"renew free", free(5, 0), renew("a", 5, 10*ms), unknown, still(50), to(free(5, 0))},
		{"release live", live, release("a", 5), unknown, still(50), to(live, free(5, 50))},
		{"release live, older token", live, release("a", 4), unknown, still(50), to(live)},
		{"release over", over, release("a", 5), unknown, still(50), to(over, free(5, 50))},
		{"release free", free(5, 0), release("a", 5), unknown, still(50), to(free(5, 0))},
		{"get", live, get, unknown, still(50), to(live)},
		{"any later moment", free(5, 0), acquire("a", 10*ms), unknown, between(50, 90), to(free(5, 0), uncertain(0, 60, 101, 50))},
		{"while live", held(5, 50, 0), renew("a", 5, 10*ms), unknown, between(40, 60), to(held(5, 50, 0), uncertain(5, 50, 61, 40))},
		{"before the last step", held(5, 90, 60), get, unknown, still(50), forbidden},
	})
}

func TestGrantWindow(t *testing.T) {
	tests := []struct {
		name    string
		r       model.Rules
		w       model.Window
		ttl     time.Duration
		expires time.Time
		want    model.Window
		ok      bool
	}{
		{"exact", exact, still(50), 10 * ms, at(60), still(50), true},
		{"one unit late", exact, still(50), 10 * ms, at(61), still(50), true},
		{"more than a unit late", exact, still(50), 10 * ms, at(61).Add(1), model.Window{}, false},
		{"too early", exact, still(50), 10 * ms, at(60).Add(-1), model.Window{}, false},
		{"dates itself", exact, between(0, 99), 10 * ms, at(60), between(49, 50), true},
		{"begin of the window", exact, between(50, 99), 10 * ms, at(60), still(50), true},
		{"end of the window", exact, between(0, 49), 10 * ms, at(60), still(49), true},
		{"ttl below the resolution", exact, still(50), 1, at(52), still(50), true},
		{"ttl below the resolution, too late", exact, still(50), 1, at(52).Add(1), model.Window{}, false},
		{"ttl below the resolution, never nothing", exact, still(50), 1, at(50), model.Window{}, false},
		{"ttl below MinTTL", model.Rules{Resolution: ms, MinTTL: 20 * ms}, still(50), 10 * ms, at(71), still(50), true},
		{"ttl below MinTTL, kept", model.Rules{Resolution: ms, MinTTL: 20 * ms}, still(50), 10 * ms, at(60), still(50), true},
		{"ttl below MinTTL, too late", model.Rules{Resolution: ms, MinTTL: 20 * ms}, still(50), 10 * ms, at(71).Add(1), model.Window{}, false},
		{"ttl above MinTTL", model.Rules{Resolution: ms, MinTTL: 20 * ms}, still(50), 30 * ms, at(82), model.Window{}, false},
		{"coarse", model.Rules{Resolution: time.Second}, still(0), 10 * ms, at(2000), still(0), true},
		{"longest ttl", exact, still(50), longest, at(50).Add(longest), still(50), true},
		{"longest ttl, cut", exact, still(50), longest, at(49).Add(longest), model.Window{}, false},
	}
	for _, tt := range tests {
		got, ok := tt.r.GrantWindow(tt.w, tt.ttl, tt.expires)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestLongest(t *testing.T) {
	tests := []struct {
		r    model.Rules
		ttl  time.Duration
		want time.Time
	}{
		{exact, 10 * ms, at(11)},
		{exact, 1, at(2)},
		{model.Rules{Resolution: ms, MinTTL: 20 * ms}, 10 * ms, at(21)},
		{model.Rules{Resolution: ms, MinTTL: 20 * ms}, 30 * ms, at(31)},
		{exact, longest, at(1).Add(longest)},
	}
	for _, tt := range tests {
		if got := tt.r.Longest(at(0), tt.ttl); got != tt.want {
			t.Errorf("%+v, ttl %v: got %v, want %v", tt.r, tt.ttl, got, tt.want)
		}
	}
}

func TestSteppedBack(t *testing.T) {
	tests := []struct {
		name string
		s    model.State
		most int
		want []model.State
	}{
		{"free", free(5, 80), 80, to(free(5, 10))},
		{"end not reached", held(5, 81, 80), 80, to(held(5, 81, 10))},
		{"end reached", held(5, 80, 80), 80, to(held(5, 80, 10), free(5, 10))},
		{"end maybe reached", uncertain(0, 80, 90, 80), 80, to(uncertain(0, 80, 90, 10), free(5, 10))},
		{"end surely not reached", uncertain(0, 81, 90, 80), 80, to(uncertain(0, 81, 90, 10))},
	}
	for _, tt := range tests {
		if got := exact.SteppedBack(tt.s, at(tt.most), at(10)); !sameSet(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestKindString(t *testing.T) {
	for kind, want := range map[model.Kind]string{
		model.Acquire: "Acquire", model.Renew: "Renew", model.Release: "Release", model.Get: "Get",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d: got %q, want %q", kind, got, want)
		}
	}
}

// A grant that was judged before somebody saw the key free may be committed after
// that, if the store commits late; not one that was judged before another grant
// had ended.
func TestLateCommit(t *testing.T) {
	late := exact
	late.LateCommit = true
	w := between(0, 20)
	for _, tt := range []struct {
		name string
		s    model.State
		end  int
		ok   bool
	}{
		{"free, seen later than the grant is dated", model.State{Max: 1, Since: at(8)}, 15, true},
		{"free, seen before", model.State{Max: 1, Since: at(2)}, 15, true},
		{"over before the date", model.State{Held: true, Holder: "b", Token: 1, EndLo: at(4), EndHi: at(4), Max: 1, Since: at(8)}, 15, true},
		{"over after the date", model.State{Held: true, Holder: "b", Token: 1, EndLo: at(7), EndHi: at(7), Max: 1, Since: at(8)}, 15, false},
	} {
		op := model.Op{Kind: model.Acquire, Holder: "a", TTL: at(10).Sub(at(0))}
		reply := model.Reply{Outcome: model.Granted, Holder: "a", Token: 2, Expires: at(tt.end)}
		next := late.Step(tt.s, op, reply, w)
		if (len(next) > 0) != tt.ok {
			t.Errorf("%s: got %v", tt.name, next)
		}
		for _, n := range next {
			if n.Since.Before(tt.s.Since) {
				t.Errorf("%s: time ran back to %v", tt.name, n.Since)
			}
		}
		if tt.s.Since.After(at(6)) && len(exact.Step(tt.s, op, reply, w)) > 0 {
			t.Errorf("%s: allowed without a late commit", tt.name)
		}
	}
}
