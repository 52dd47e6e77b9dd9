package report

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/leasekit/lease/leasetest"
)

// timeline is a history as a picture: a lane for each worker, a bar for each call.
// Calls of one after another have a column each; concurrent ones are drawn to scale.
type timeline struct {
	Width, Height int
	Concurrent    bool
	Lanes         []lane
	Bars          []bar
	Moves         []move
}

type lane struct {
	Name      string
	Y, Middle int
}

type bar struct {
	X, Y, W int
	Kind    string // of reply, for the style
	Call    string // short
	Reply   string // short
	Title   string // in full
}

// move is a move of the server clock.
type move struct {
	X     int
	Label string
	Title string
}

// The measures of a timeline, in pixels.
const (
	laneHeight = 46
	barHeight  = 36
	labelWidth = 130
	columnSize = 150
	scaleWidth = 900
	leastBar   = 4
)

// newTimeline draws a history, or nil if there is nothing in it.
func newTimeline(events []leasetest.Event) *timeline {
	if len(events) == 0 {
		return nil
	}
	t := &timeline{}
	rows := map[string]int{}
	for _, e := range events {
		if _, ok := rows[e.Worker]; !ok && e.Worker != "" {
			rows[e.Worker] = len(t.Lanes)
			y := len(t.Lanes) * laneHeight
			t.Lanes = append(t.Lanes, lane{e.Worker, y, y + laneHeight/2})
		}
	}
	t.Height = len(t.Lanes)*laneHeight + 24
	from, scale := span(events)
	t.Concurrent = scale > 0
	for i, e := range events {
		x, w := labelWidth+i*columnSize, columnSize-8
		if a, b, ok := interval(e.Time); ok && t.Concurrent {
			x = labelWidth + int(float64(a-from)*scale)
			w = max(int(float64(b-a)*scale), leastBar)
		}
		t.Width = max(t.Width, x+w+8)
		title := fmt.Sprintf("%d. %s %s → %s", i+1, e.Time, e.Call, e.Reply)
		if e.Want != "" {
			title += "; contract: " + e.Want
		}
		if e.Worker == "" {
			t.Moves = append(t.Moves, move{x, strings.TrimPrefix(e.Call, "the server clock "), title})
			continue
		}
		b := bar{X: x, Y: rows[e.Worker]*laneHeight + (laneHeight-barHeight)/2, W: w, Kind: kindOf(e), Title: title}
		if w >= columnSize/2 {
			b.Call, b.Reply = short(e.Call, w), short(e.Reply, w)
		}
		t.Bars = append(t.Bars, b)
	}
	return t
}

// kindOf is what a reply looks like.
func kindOf(e leasetest.Event) string {
	switch {
	case e.Want != "":
		return "wrong"
	case strings.HasPrefix(e.Reply, `"`):
		return "granted"
	case e.Reply == "nil":
		return "done"
	case strings.HasPrefix(e.Reply, "Err"):
		return "refused"
	}
	return "unknown"
}

var intervalText = regexp.MustCompile(`^\+(\S+) to \+(\S+)$`)

// interval reads the time of a concurrent call.
func interval(text string) (from, to time.Duration, ok bool) {
	m := intervalText.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	from, err := time.ParseDuration(m[1])
	if err != nil {
		return 0, 0, false
	}
	to, err = time.ParseDuration(m[2])
	return from, to, err == nil
}

// span is where concurrent calls begin, and how many pixels a nanosecond has; 0 if
// the calls came one after another.
func span(events []leasetest.Event) (from time.Duration, scale float64) {
	var first, last time.Duration
	for i, e := range events {
		a, b, ok := interval(e.Time)
		if !ok {
			return 0, 0
		}
		if i == 0 || a < first {
			first = a
		}
		last = max(last, b)
	}
	return first, scaleWidth / float64(max(last-first, 1))
}

// short is as much of text as fits into a bar.
func short(text string, width int) string {
	runes := []rune(text)
	most := max(width/7, 3)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
