package chaos

import (
	"slices"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// doubtUnflushed takes what a crash may undo out of the answers of calls that have
// changed nothing. A call that was under way when the store crashed may have been seen
// by others before it was on disk, and was not there any more afterwards.
func doubtUnflushed(h history.History, events []Happened) history.History {
	for _, e := range events {
		if e.Loses != "TOKEN-10" {
			continue
		}
		since, any := underWay(h, e.Started)
		if !any {
			continue
		}
		h.Calls = slices.DeleteFunc(slices.Clone(h.Calls), func(c history.Call) bool {
			return c.Called <= e.Healed && c.Returned >= since && onlySaw(c)
		})
		for i, c := range h.Calls {
			// It may have found nothing to do, or have done it itself.
			if c.Called <= e.Healed && c.Returned >= since && c.Reply.Outcome == model.Done {
				h.Calls[i].Reply, h.Calls[i].ReplyTxt = model.Reply{}, c.ReplyTxt+", as others saw it before a crash"
			}
		}
	}
	return h
}

// underWay returns when the first of the calls began that could change something and
// were under way at a moment, and never got a definite reply.
func underWay(h history.History, at time.Duration) (since time.Duration, any bool) {
	for _, c := range h.Calls {
		if unknown(c) && c.Op.Kind != model.Get && c.Called <= at && c.Returned >= at && (!any || c.Called < since) {
			since, any = c.Called, true
		}
	}
	return since, any
}

// onlySaw says whether a call told what there was, and changed nothing.
func onlySaw(c history.Call) bool {
	if c.Back != nil {
		return false
	}
	switch c.Reply.Outcome {
	case model.Held, model.Lost, model.NotHeld:
		return true
	case model.Granted:
		return c.Op.Kind == model.Get
	}
	return false
}
