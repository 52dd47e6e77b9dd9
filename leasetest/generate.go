package leasetest

import (
	"math"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/leasekit/lease"
)

// maxSteps is the length of the longest random program.
const maxSteps = 50

// terrain is what a random program may make use of on one harness.
type terrain struct {
	movable    bool
	resolution time.Duration
	minTTL     time.Duration
	maxTTL     time.Duration
}

func terrainOf(h *Harness) terrain {
	return terrain{
		movable:    kindOf(h.Clock) >= clockMoved,
		resolution: h.resolution(), minTTL: h.MinTTL, maxTTL: h.maxTTL(),
	}
}

// families are keys that a careless backend takes for each other: case, blanks,
// normal forms, prefixes, separators, braces, wildcards, the names that
// backends make up for their own records, and the longest ones.
var families = [][]string{
	{"%"},
	{"%", "other-%"},
	{"%a", "%A", "%a "},
	{"%", " %", "%\t"},
	{"caf\u00e9-%", "cafe\u0301-%", "cafe-%"},
	{"%", "%%", "%/x"},
	{"%", "%:token", "%:counter", "%:n"},
	{"%", "%/", "/%", "%:", "%."},
	{"%:lease", "%:l", "%.lock"},
	{"%:a", "%:b", "%/a", "%/b"},
	{"{%}", "%", "}%{"},
	{"%*", "%?", "%"},
	{"%'", "%\"", "%\\", "%;--"},
	{"%…a", "%…b", "%"},
	{"\U0001F512%", "%\n", "%\u200b"},
	// Pairs with the same sum: powers of 31 and of 33, CRC-32, CRC-32C, FNV-1a.
	{"Aa%", "BB%", "ab%", "bA%"},
	{"xurfgyx%", "gtvsvuq%", "ahqchzx%", "bkvbdyr%", "cmodcma%", "pdkeydc%"},
}

// holderFamilies are names of holders that are different, and look alike.
var holderFamilies = [][]string{
	{"alice", "bob", "carol"},
	{"alice", "Alice", "alice "},
	{"jos\u00e9", "jose\u0301", "jose"},
	{"w1", "w10", "w"},
	{"…a", "…b", "a:b"},
	{"0", "00", "0.0"},
}

// badNames are no keys and no holders (ARG-1).
var badNames = []string{"", "a\x00b", "\xff\xfe", strings.Repeat("x", lease.MaxName+1),
	strings.Repeat("\u00e9", lease.MaxName/2+1), "%…\x00"}

// programs generates random programs for a terrain. It favours the boundaries:
// the end of a grant and one unit on either side of it, the same holder again,
// look-alike names, stale and made-up leases.
func programs(g terrain) *rapid.Generator[program] {
	return rapid.Custom(func(t *rapid.T) program {
		d := draws{t: t, g: g}
		d.keys = rapid.SampledFrom(families).Draw(t, "keys")
		d.holders = rapid.SampledFrom(holderFamilies).Draw(t, "holders")
		// rapid prefers small numbers; most programs are to be long.
		n := maxSteps - rapid.IntRange(0, maxSteps-1).Draw(t, "steps left out")
		p := make(program, 0, n)
		for len(p) < n {
			p = append(p, d.step())
		}
		return p
	})
}

// draws makes single random choices for one program.
type draws struct {
	t       *rapid.T
	g       terrain
	keys    []string
	holders []string
}

func (d draws) below(n int, label string) int { return rapid.IntRange(0, n-1).Draw(d.t, label) }

func (d draws) from(names []string, label string) string {
	return rapid.SampledFrom(names).Draw(d.t, label)
}

func (d draws) step() step {
	s := step{worker: d.below(3, "worker"), key: d.from(d.keys, "key"), holder: d.from(d.holders, "holder")}
	switch w := d.below(100, "action"); {
	case w < 32:
		s.do, s.ttl = doAcquire, d.ttl()
	case w < 54:
		s.do, s.ttl, s.ref = doRenew, d.ttl(), d.ref()
	case w < 68:
		s.do, s.ref = doRelease, d.ref()
	case w < 78:
		s.do = doGet
	case w < 96:
		s.do, s.move = doMove, d.move()
	default:
		d.spoil(&s)
	}
	return s
}

// spoil makes a call with arguments outside of the contract.
func (d draws) spoil(s *step) {
	s.ttl = time.Minute
	switch d.below(5, "spoilt") {
	case 0:
		s.do, s.key = doAcquire, d.from(badNames, "bad key")
	case 1:
		s.do, s.holder = doAcquire, d.from(badNames, "bad holder")
	case 2:
		s.do, s.ttl = doAcquire, rapid.SampledFrom([]time.Duration{0, -1, -time.Hour, math.MinInt64}).Draw(d.t, "bad ttl")
	case 3:
		s.do, s.ref.alter = doRenew, rapid.SampledFrom([]alter{tokenZero, tokenNegative, zeroLease, badHolder}).Draw(d.t, "bad lease")
	case 4:
		s.do, s.key = doGet, d.from(badNames, "bad key")
	}
}

func (d draws) ttl() time.Duration {
	r := d.g.resolution
	var pool []time.Duration
	if d.g.movable {
		pool = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, r, 2 * r, 1, r - 1, r + 1, r / 2, 3*r + r/3,
			24 * time.Hour, 400 * 24 * time.Hour, math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2}
	} else {
		pool = []time.Duration{10 * time.Minute, 10 * r, time.Hour, 5 * r, r, 2 * r, 1, r + 1, 24 * time.Hour, math.MaxInt64}
	}
	ttl := rapid.SampledFrom(pool).Draw(d.t, "ttl")
	return max(1, min(ttl, d.g.maxTTL))
}

func (d draws) ref() ref {
	r := ref{}
	if d.below(3, "which lease") == 2 {
		r.back = 1 + d.below(4, "how far back")
	}
	if d.below(4, "altered") == 3 {
		r.alter = rapid.SampledFrom([]alter{tokenUp, tokenDown, otherHolder, otherKey, expiresZero, expiresFar}).Draw(d.t, "how")
	}
	return r
}

func (d draws) move() move {
	const year = 365 * 24 * time.Hour
	if !d.g.movable {
		return move{toEnd: true, units: d.below(2, "units past the end")}
	}
	if d.below(2, "to the end") == 1 {
		return move{toEnd: true, units: rapid.SampledFrom([]int{0, -1, 1}).Draw(d.t, "units off the end")}
	}
	r := d.g.resolution
	return move{by: rapid.SampledFrom([]time.Duration{
		r, -r, 0, micro(r / 2), time.Second, -time.Second, time.Hour, -time.Hour,
		24 * time.Hour, year, -year, 10 * year, -10 * year,
	}).Draw(d.t, "by")}
}

// micro rounds to whole microseconds, the finest step that every store's clock
// can be moved by.
func micro(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
