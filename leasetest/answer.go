package leasetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// answer is everything that came back from a call.
type answer struct {
	lease   lease.Lease
	err     error
	problem string // the call panicked or did not return in time: what happened
	hung    bool   // it did not return in time
}

// on makes the call on svc.
func (c call) on(ctx context.Context, svc lease.Service) (a answer) {
	switch c.do {
	case doAcquire:
		a.lease, a.err = svc.Acquire(ctx, c.key, c.holder, c.ttl)
	case doRenew:
		a.lease, a.err = svc.Renew(ctx, c.lease, c.ttl)
	case doRelease:
		a.err = svc.Release(ctx, c.lease)
	default:
		a.lease, a.err = svc.Get(ctx, c.key)
	}
	return a
}

// reply is the answer as the model sees it. What is no definite reply to this
// call is Unknown.
func (a answer) reply(do action) model.Reply {
	switch {
	case a.problem != "":
		return model.Reply{}
	case a.err == nil && do == doRelease:
		return model.Reply{Outcome: model.Done}
	case a.err == nil:
		return model.Reply{Outcome: model.Granted, Holder: a.lease.Holder, Token: a.lease.Token, Expires: plain(a.lease.ExpiresAt)}
	case errors.Is(a.err, lease.ErrHeld):
		return model.Reply{Outcome: model.Held}
	case errors.Is(a.err, lease.ErrLost):
		return model.Reply{Outcome: model.Lost}
	case errors.Is(a.err, lease.ErrNotHeld):
		return model.Reply{Outcome: model.NotHeld}
	}
	return model.Reply{}
}

// String shows the answer in a history.
func (a answer) String() string {
	switch {
	case a.problem != "":
		return a.problem
	case a.err == nil && a.lease == (lease.Lease{}):
		return "nil"
	case a.err == nil:
		return fmt.Sprintf("%s token %d until %s", shown(a.lease.Holder), a.lease.Token, shownTime(a.lease.ExpiresAt))
	case a.lease != (lease.Lease{}):
		return fmt.Sprintf("%s and %v", shownLease(a.lease), a.err)
	}
	for _, s := range sentinels {
		if errors.Is(a.err, s.err) {
			return s.name
		}
	}
	return "error: " + a.err.Error()
}

var sentinels = []struct {
	err  error
	name string
}{
	{lease.ErrHeld, "ErrHeld"},
	{lease.ErrLost, "ErrLost"},
	{lease.ErrNotHeld, "ErrNotHeld"},
	{lease.ErrInvalid, "ErrInvalid"},
}

// matching is how many of the sentinels err is; more than one is no answer.
func matching(err error) (n int) {
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			n++
		}
	}
	return n
}

// definite says whether err is one of the sentinels.
func definite(err error) bool {
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return true
		}
	}
	return false
}

// plain strips what makes two equal instants differ as values.
func plain(t time.Time) time.Time { return t.UTC().Round(0) }

// shownTime has microseconds only where there are any.
func shownTime(t time.Time) string {
	t = plain(t)
	format := "2006-01-02 15:04:05.000"
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		format = "2006-01-02 15:04:05.000000"
	}
	return t.Format(format)
}
