package leasetest

import (
	"math"

	"pgregory.net/rapid"
)

// fenceStep is one line of a program on a protected resource. As in programs of
// leases, any step may be left out and the rest still makes sense.
type fenceStep struct {
	do     fenceAction
	client int
	key    string // pattern of the key, see keyName
	token  int64  // of a write; with beyond, what is added to the highest one seen
	beyond bool
	what   content
}

// content is what a write sets.
type content int

const (
	newValue  content = iota
	sameValue         // what was written last: a repeated write, which may change no row
	noValue           // the empty value
)

// fenceAction is what a step does.
type fenceAction int

const (
	fenceWrite fenceAction = iota
	fenceRead
	fenceRestart
)

// tokenOf is the token of a write, where highest was seen. A token that is made
// from another one is a valid one.
func (s fenceStep) tokenOf(highest int64) int64 {
	switch {
	case !s.beyond:
		return s.token
	case s.token > 0 && highest > math.MaxInt64-s.token:
		return math.MaxInt64
	}
	return max(1, highest+s.token)
}

// plainerFenceSteps make a step plainer, one way each.
var plainerFenceSteps = []func(*fenceStep){
	func(s *fenceStep) { s.client = 0 },
	func(s *fenceStep) { s.key = "%" },
	func(s *fenceStep) { s.what = newValue },
	func(s *fenceStep) { s.token = max(min(s.token, 1), -1) },
	func(s *fenceStep) { s.token = max(min(s.token, 10), -1) },
}

// maxFenceSteps is the length of the longest random program.
const maxFenceSteps = 40

// Where a careless resource loses count: digits as text, signs of 32 bits, the
// integers of a float64, the end of int64.
var (
	smallTokens = []int64{1, 2, 3, 5, 9, 10, 11, 19, 20, 99, 100, 101, 1000}
	largeTokens = []int64{
		math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint32 + 2,
		1<<53 - 1, 1 << 53, 1<<53 + 1, 1e18, math.MaxInt64 - 1, math.MaxInt64,
	}
	badTokens = []int64{0, -1, -7, math.MinInt32, math.MinInt64}
)

// fencePrograms generates random programs. It favours tokens around the highest
// one seen, and look-alike keys.
func fencePrograms(restart bool) *rapid.Generator[[]fenceStep] {
	return rapid.Custom(func(t *rapid.T) []fenceStep {
		below := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
		keys := rapid.SampledFrom(families).Draw(t, "keys")
		n := maxFenceSteps - below(maxFenceSteps, "steps left out")
		p := make([]fenceStep, 0, n)
		for len(p) < n {
			s := fenceStep{client: below(3, "client"), key: rapid.SampledFrom(keys).Draw(t, "key")}
			switch w := below(100, "action"); {
			case w < 40:
				s.token = rapid.SampledFrom(smallTokens).Draw(t, "token")
			case w < 70:
				s.beyond, s.token = true, rapid.SampledFrom([]int64{0, 1, -1, 2, -2, 9, -9}).Draw(t, "off the highest")
			case w < 76:
				s.token = rapid.SampledFrom(largeTokens).Draw(t, "large token")
			case w < 82:
				s.token = rapid.SampledFrom(badTokens).Draw(t, "bad token")
			case w < 98 || !restart:
				s.do = fenceRead
			default:
				s.do = fenceRestart
			}
			if below(10, "new value") == 9 {
				s.what = rapid.SampledFrom([]content{sameValue, noValue}).Draw(t, "value")
			}
			p = append(p, s)
		}
		return p
	})
}
