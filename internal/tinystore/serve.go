package tinystore

import (
	"context"
	"encoding/json"
	"errors"
	"net"

	"github.com/leasekit/lease"
)

// Serve answers the requests of a [Client] on one connection by a service: a
// store without a server of its own gets one so, which can be killed. It
// returns when the connection ends.
func Serve(c net.Conn, s lease.Service) {
	defer c.Close()
	in, out := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var q request
		if in.Decode(&q) != nil || out.Encode(ask(s, q)) != nil {
			return
		}
	}
}

func ask(s lease.Service, q request) reply {
	ctx, given := context.Background(), lease.Lease{Key: q.Key, Holder: q.Holder, Token: q.Token}
	var got lease.Lease
	var err error
	switch q.Do {
	case "acquire":
		got, err = s.Acquire(ctx, q.Key, q.Holder, q.TTL)
	case "renew":
		got, err = s.Renew(ctx, given, q.TTL)
	case "release":
		err = s.Release(ctx, given)
	default:
		got, err = s.Get(ctx, q.Key)
	}
	switch {
	case errors.Is(err, lease.ErrHeld):
		return reply{Answer: "held"}
	case errors.Is(err, lease.ErrLost):
		return reply{Answer: "lost"}
	case errors.Is(err, lease.ErrNotHeld):
		return reply{Answer: "free"}
	case err != nil:
		return reply{Answer: "failed: " + err.Error()}
	case q.Do == "release":
		return reply{Answer: "done"}
	}
	return reply{"granted", got.Holder, got.Token, got.ExpiresAt.UnixMilli()}
}
