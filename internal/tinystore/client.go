package tinystore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/leasekit/lease"
)

// Client is a lease.Service on a [Server].
type Client struct {
	flaws Flaws
	addr  string
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)

	mu     sync.Mutex
	idle   []*conn
	broken bool
	leaked []net.Conn
	holds  map[string]int64 // the token of each key and holder, as it believes
	known  map[string]bool  // calls that the server should know
	closed bool

	closing    context.Context
	stop       context.CancelFunc
	background sync.WaitGroup
}

type conn struct {
	net.Conn
	in  *json.Decoder
	out *json.Encoder
}

var _ lease.Service = (*Client)(nil)

// Connect makes a client of the server at addr, whose connections are opened by
// dial.
func Connect(addr string, dial func(ctx context.Context, network, addr string) (net.Conn, error), flaws Flaws) *Client {
	c := &Client{flaws: flaws, addr: addr, dial: dial, holds: map[string]int64{}, known: map[string]bool{}}
	c.closing, c.stop = context.WithCancel(context.Background())
	return c
}

// Close ends the client.
func (c *Client) Close() error {
	c.stop()
	c.background.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.idle {
		conn.Close()
	}
	c.idle = nil
	return nil
}

// Acquire implements [lease.Service].
func (c *Client) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if err := lease.CheckAcquire(key, holder, ttl); err != nil {
		return lease.Lease{}, err
	}
	q := request{Do: "acquire", Key: key, Holder: holder, TTL: ttl}
	if c.flaws.AnnouncesFresh {
		c.mu.Lock()
		q.Fresh = c.holds[key+"/"+holder] == 0
		c.mu.Unlock()
	}
	r, err := c.ask(ctx, q)
	switch {
	case err != nil && c.flaws.QueueAcquire > 0:
		c.later(c.flaws.QueueAcquire, q)
	case err != nil && ctx.Err() != nil && c.flaws.UndoCancelled:
		c.later(0, request{Do: "undo", Key: key, Holder: holder})
	case err != nil && c.flaws.FailedIsHeld:
		return lease.Lease{}, lease.ErrHeld
	}
	if err == nil && r.Answer == "granted" {
		c.mu.Lock()
		c.holds[key+"/"+holder] = r.Token
		c.mu.Unlock()
	}
	return answer(key, r, err)
}

// Renew implements [lease.Service].
func (c *Client) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if err := lease.CheckRenew(l, ttl); err != nil {
		return lease.Lease{}, err
	}
	r, err := c.ask(ctx, request{Do: "renew", Key: l.Key, Holder: l.Holder, Token: l.Token, TTL: ttl, Expires: l.ExpiresAt})
	if err != nil && c.flaws.FailedIsLost {
		return lease.Lease{}, lease.ErrLost
	}
	return answer(l.Key, r, err)
}

// Release implements [lease.Service].
func (c *Client) Release(ctx context.Context, l lease.Lease) error {
	if err := lease.CheckLease(l); err != nil {
		return err
	}
	q := request{Do: "release", Key: l.Key, Holder: l.Holder, Token: l.Token}
	r, err := c.ask(ctx, q)
	switch {
	case err != nil && c.flaws.ReplayRelease > 0:
		c.later(c.flaws.ReplayRelease, request{Do: "undo", Key: l.Key, Holder: l.Holder})
	case err != nil && c.flaws.FailedIsDone:
		return nil
	}
	_, err = answer(l.Key, r, err)
	c.mu.Lock()
	if err == nil && c.holds[l.Key+"/"+l.Holder] == l.Token {
		delete(c.holds, l.Key+"/"+l.Holder)
	}
	c.mu.Unlock()
	return err
}

// Get implements [lease.Service].
func (c *Client) Get(ctx context.Context, key string) (lease.Lease, error) {
	if err := lease.CheckKey(key); err != nil {
		return lease.Lease{}, err
	}
	r, err := c.ask(ctx, request{Do: "get", Key: key})
	if err != nil && c.flaws.FailedIsFree {
		return lease.Lease{}, lease.ErrNotHeld
	}
	return answer(key, r, err)
}

func answer(key string, r reply, err error) (lease.Lease, error) {
	switch {
	case err != nil:
		return lease.Lease{}, err
	case r.Answer == "granted":
		return lease.Lease{Key: key, Holder: r.Holder, Token: r.Token, ExpiresAt: time.UnixMilli(r.End).UTC()}, nil
	case r.Answer == "done":
		return lease.Lease{}, nil
	case r.Answer == "held":
		return lease.Lease{}, lease.ErrHeld
	case r.Answer == "lost":
		return lease.Lease{}, lease.ErrLost
	case r.Answer == "free":
		return lease.Lease{}, lease.ErrNotHeld
	}
	return lease.Lease{}, fmt.Errorf("the server says %q", r.Answer)
}

// ask sends a request by its name, and with its script if the server does not
// know it.
func (c *Client) ask(ctx context.Context, q request) (reply, error) {
	c.mu.Lock()
	q.Script = !c.known[q.Do]
	c.known[q.Do] = true
	c.mu.Unlock()
	r, err := c.try(ctx, q)
	if err == nil && r.Answer == "unknown script" && c.flaws.ForgetsScript != q.Do {
		q.Script = true
		r, err = c.try(ctx, q)
	}
	if err != nil && c.flaws.Resend > 0 {
		wait := time.NewTimer(c.flaws.Resend)
		defer wait.Stop()
		select {
		case <-wait.C:
			q.Script = true
			return c.try(ctx, q)
		case <-ctx.Done():
		}
	}
	return r, err
}

// later sends a request again, in the background, after a while.
func (c *Client) later(after time.Duration, q request) {
	q.Script = true
	c.background.Go(func() {
		wait := time.NewTimer(after)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-c.closing.Done():
			return
		}
		ctx, cancel := context.WithTimeout(c.closing, time.Second)
		defer cancel()
		c.try(ctx, q)
	})
}

// try makes one exchange on a connection of its own.
func (c *Client) try(ctx context.Context, q request) (r reply, err error) {
	at, err := c.take(ctx)
	if err != nil {
		return reply{}, err
	}
	unblock := context.AfterFunc(ctx, func() { at.SetDeadline(time.Unix(1, 0)) })
	if err = at.out.Encode(q); err == nil {
		err = at.in.Decode(&r)
	}
	unhurt := unblock()
	if err == nil && unhurt {
		c.give(at)
		return r, nil
	}
	if err == nil {
		at.Close()
		return r, nil
	}
	if ctx.Err() != nil && c.flaws.SharesReplies {
		at.SetDeadline(time.Time{})
		at.in = json.NewDecoder(at.Conn)
		c.give(at)
		return reply{}, ctx.Err()
	}
	c.discard(at)
	if ended := ctx.Err(); ended != nil {
		err = errors.Join(ended, err)
	}
	return reply{}, err
}

func (c *Client) take(ctx context.Context) (*conn, error) {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		at := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return at, nil
	}
	lame := c.broken && c.flaws.NeverRedials
	c.mu.Unlock()
	if lame {
		return nil, errors.New("the connection is broken")
	}
	n, err := c.dial(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	return &conn{n, json.NewDecoder(n), json.NewEncoder(n)}, nil
}

func (c *Client) give(at *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		at.Close()
		return
	}
	c.idle = append(c.idle, at)
}

func (c *Client) discard(at *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = true
	if c.flaws.LeavesReader {
		go func() { select {} }()
	}
	if c.flaws.KeepsBroken {
		c.leaked = append(c.leaked, at)
		return
	}
	at.Close()
}
