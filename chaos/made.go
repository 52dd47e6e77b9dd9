package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/model"
)

// made is one call of a campaign, and what came back.
type made struct {
	worker int
	kind   model.Kind
	key    string
	holder string        // of Acquire
	ttl    time.Duration // of Acquire and Renew
	given  lease.Lease   // to Renew and Release

	got lease.Lease
	err error

	from, to         time.Time     // the server clock before the call and after it
	called, returned time.Duration // since the campaign began
	during           string        // the fault of its link
	doubled          int           // how often a fault delivered its request once more
}

// on makes the call.
func (c *made) on(ctx context.Context, s lease.Service) {
	switch c.kind {
	case model.Acquire:
		c.got, c.err = s.Acquire(ctx, c.key, c.holder, c.ttl)
	case model.Renew:
		c.got, c.err = s.Renew(ctx, c.given, c.ttl)
	case model.Release:
		c.err = s.Release(ctx, c.given)
	default:
		c.got, c.err = s.Get(ctx, c.key)
	}
}

// op is the call as the model sees it.
func (c *made) op() model.Op {
	if c.kind == model.Acquire {
		return model.Op{Kind: c.kind, Holder: c.holder, TTL: c.ttl}
	}
	return model.Op{Kind: c.kind, Holder: c.given.Holder, Token: c.given.Token, TTL: c.ttl}
}

// reply is what came back as the model sees it. What answers another call is
// no answer to this one.
func (c *made) reply() model.Reply {
	switch {
	case c.err == nil && c.kind == model.Release:
		return model.Reply{Outcome: model.Done}
	case c.err == nil:
		return model.Reply{Outcome: model.Granted, Holder: c.got.Holder, Token: c.got.Token, Expires: plain(c.got.ExpiresAt)}
	case errors.Is(c.err, lease.ErrHeld) && c.kind == model.Acquire:
		return model.Reply{Outcome: model.Held}
	case errors.Is(c.err, lease.ErrLost) && (c.kind == model.Renew || c.kind == model.Release):
		return model.Reply{Outcome: model.Lost}
	case errors.Is(c.err, lease.ErrNotHeld) && c.kind == model.Get:
		return model.Reply{Outcome: model.NotHeld}
	}
	return model.Reply{}
}

// known says whether the outcome is.
func (c *made) known() bool { return c.reply().Outcome != model.Unknown }

// refused says that the answer is one of the sentinels.
func (c *made) refused() bool { return c.err != nil && c.known() }

// wrong is what is wrong with the form of the answer (ERR-8), or "".
func (c *made) wrong() string {
	switch {
	case c.err != nil && c.got != (lease.Lease{}):
		return fmt.Sprintf("with an error comes the lease %v", c.got)
	case c.err == nil && c.kind != model.Release && (c.got.Key != c.key || c.got.Token <= 0 || c.got.Holder == "" || c.got.ExpiresAt.IsZero()):
		return fmt.Sprintf("the lease %+v is not a whole one of key %s", c.got, c.key)
	}
	for _, s := range []error{lease.ErrHeld, lease.ErrLost, lease.ErrNotHeld, lease.ErrInvalid} {
		if errors.Is(c.err, s) && !c.known() {
			return fmt.Sprintf("%v is no answer to %v", s, c.kind)
		}
	}
	return ""
}

// text is the call for people.
func (c *made) text() string {
	switch c.kind {
	case model.Acquire:
		return fmt.Sprintf("Acquire(%s, %v)", c.holder, c.ttl)
	case model.Renew:
		return fmt.Sprintf("Renew(%s token %d, %v)", c.given.Holder, c.given.Token, c.ttl)
	case model.Release:
		return fmt.Sprintf("Release(%s token %d)", c.given.Holder, c.given.Token)
	}
	return "Get"
}

// answer is the reply for people.
func (c *made) answer() string {
	r := c.reply()
	switch r.Outcome {
	case model.Granted:
		return fmt.Sprintf("%s token %d until %s", r.Holder, r.Token, r.Expires.Format("2006-01-02 15:04:05.000"))
	case model.Done:
		return "nil"
	case model.Held:
		return "ErrHeld"
	case model.Lost:
		return "ErrLost"
	case model.NotHeld:
		return "ErrNotHeld"
	}
	if c.err == nil {
		return "nothing yet"
	}
	return "unknown: " + c.err.Error()
}
