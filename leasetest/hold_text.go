package leasetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leasekit/lease"
)

// timeline shows a story as a history, up to the line that shows the breach.
func timeline(p schedule, r *record, b *breach) []Event {
	type entry struct {
		m moment
		e Event
	}
	var list []entry
	add := func(m moment, who, call, reply string) {
		if m.happened() {
			list = append(list, entry{m, Event{Time: "+" + m.at.String(), Worker: who, Call: call, Reply: reply}})
		}
	}
	for i, run := range r.holds {
		n := ""
		if len(r.holds) > 1 {
			n = fmt.Sprintf(" %d", i+1)
		}
		caller, helper, body := "caller"+n, "helper"+n, "body"+n
		add(run.began, caller, fmt.Sprintf("calls the helper for %q, %s", holdKey(p.holds[i].key), p.options), "")
		add(run.callerEnded, caller, "its context ends", errText(run.callerErr))
		for _, b := range run.bodies {
			add(b.began, body, "begins", leaseText(b.lease))
			add(b.cancelled, body, "its context is cancelled", errText(b.cause))
			end := p.holds[i].body.as.String()
			if b.failed && p.holds[i].body.as == succeeds {
				end = "stops, and returns an error"
			}
			add(b.ended, body, end, "")
		}
		add(run.ended, helper, run.outcome(), "")
		for _, c := range r.calls {
			if c.owner != i {
				continue
			}
			if c.ended.happened() && c.ended.at == c.began.at {
				add(c.began, helper, c.String(), c.outcome())
				// What came between the two is told after the call.
				continue
			}
			add(c.began, helper, c.String(), "…")
			add(c.ended, helper, "… "+opName(c.op), c.outcome())
		}
	}
	for _, t := range p.turns {
		m := moment{at: t.at, seq: -1}
		list = append(list, entry{m, Event{Time: "+" + t.at.String(), Call: t.String()}})
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		if a.m.at != b.m.at {
			if a.m.at < b.m.at {
				return -1
			}
			return 1
		}
		return a.m.seq - b.m.seq
	})
	var events []Event
	shown := false
	for _, e := range list {
		if e.m.seq >= 0 && b.at.before(e.m) {
			break
		}
		events = append(events, e.e)
		shown = true
	}
	if shown {
		events[len(events)-1].Want = b.want
	}
	return withoutMiddle(events)
}

// longTimeline is how many lines of a story are shown at most: the same goes on in
// the middle of a longer one.
const longTimeline = 32

func withoutMiddle(events []Event) []Event {
	n := len(events) - longTimeline
	if n <= 0 {
		return events
	}
	half := longTimeline / 2
	gap := Event{Call: fmt.Sprintf("… %d lines like those around them …", n)}
	return slices.Concat(events[:half], []Event{gap}, events[half+n:])
}

func (o holdOptions) String() string {
	text := fmt.Sprintf("ttl %v", o.ttl)
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"renewals every", o.every}, {"margin", o.margin}, {"wait", o.wait}} {
		if f.value > 0 {
			text += fmt.Sprintf(", %s %v", f.name, f.value)
		}
	}
	if o.name != "" {
		text += fmt.Sprintf(", holder %q", o.name)
	}
	return text
}

func opName(op opSet) string { return op.String() }

// String shows a call as a history does.
func (c *storeCall) String() string {
	text := ""
	switch c.op {
	case onAcquire:
		text = fmt.Sprintf("Acquire(%q, %s, %v)", c.lease.Key, shown(c.lease.Holder), c.ttl)
	case onRenew:
		text = fmt.Sprintf("Renew(token %d, %v)", c.lease.Token, c.ttl)
	case onRelease:
		text = fmt.Sprintf("Release(token %d)", c.lease.Token)
	default:
		text = fmt.Sprintf("Get(%q)", c.lease.Key)
	}
	if c.done {
		text += " on a context that is done"
	}
	return text
}

// outcome is the reply.
func (c *storeCall) outcome() string {
	if c.err != nil || c.op == onRelease {
		return errText(c.err)
	}
	return leaseText(c.reply)
}

// errText is an error, by the name of its sentinel where it has one.
func errText(err error) string {
	if err == nil {
		return "nil"
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.name
		}
	}
	return "error: " + err.Error()
}

func leaseText(l lease.Lease) string {
	return fmt.Sprintf("%s token %d", shown(l.Holder), l.Token)
}

func errorText(err error) string {
	if err == nil {
		return "nil"
	}
	return fmt.Sprintf("the error %q", err)
}
