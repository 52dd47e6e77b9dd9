package chaos

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// after stands before the name of a fault that is over, and whose broken
// connections may still be met.
const after = "after "

// faultsOf says of each call which faults it met: that of its link, and those of the
// store and of its clock that were on at any moment of it. A call that met none, and
// comes before the first success since one, is after that one.
func (r *run) faultsOf() map[*made]string {
	byWorker := make([][]*made, len(r.workers))
	for _, k := range r.keys.all {
		for _, c := range k.calls {
			byWorker[c.worker] = append(byWorker[c.worker], c)
		}
	}
	during := map[*made]string{}
	for _, calls := range byWorker {
		slices.SortFunc(calls, func(a, b *made) int { return cmp.Compare(a.called, b.called) })
		var good time.Duration // when the last call began that has succeeded
		for _, c := range calls {
			during[c] = r.faultsOn(c, good)
			if c.err == nil {
				good = c.called
			}
		}
	}
	return during
}

func (r *run) faultsOn(c *made, good time.Duration) string {
	var names []string
	last := c.during
	if c.during != "" && !strings.HasPrefix(c.during, after) {
		names = append(names, c.during)
	}
	for _, e := range r.nemesis.events {
		switch {
		case e.On == OnLink || e.Started > c.returned:
		case e.Healed >= c.called:
			names = append(names, e.Fault)
		case e.Healed > good && last == "":
			last = after + e.Fault
		}
	}
	if len(names) == 0 {
		return last
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
