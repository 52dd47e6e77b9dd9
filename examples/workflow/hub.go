package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"strings"
	"sync"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	memlease "github.com/leasekit/lease/impl/memory"
)

// hub is the memory of one process, which other processes of this machine use: a store
// of leases whose clock can be moved, and a store of data.
type hub struct {
	addr   string
	leases *memlease.Service
	data   fence.Memory

	mu    sync.Mutex
	ahead time.Duration
}

// startHub serves a hub on a free loopback port, for as long as the process lives.
func startHub() (*hub, error) {
	h := &hub{}
	h.leases = memlease.New(&memlease.Options{Now: h.now}).Service("")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the leases in memory: %w", err)
	}
	h.addr = "hub:" + l.Addr().String()
	s := rpc.NewServer()
	if err := s.RegisterName("Hub", &served{h}); err != nil {
		return nil, err
	}
	go s.Accept(l)
	return h, nil
}

func (h *hub) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

// advance moves the server clock.
func (h *hub) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead += d
}

// served is what clients of a hub may call.
type served struct{ hub *hub }

// Request and Reply are those of every call. Package net/rpc wants them exported.
type Request struct {
	Key, Holder string
	TTL         time.Duration
	Lease       lease.Lease
	Token       int64
	Value       string
}

type Reply struct {
	Lease   lease.Lease
	Token   int64
	Value   string
	Problem string // "" if all went well, or one of problems, or any other text
}

// problems are the errors that keep their meaning on the way.
var problems = map[string]error{
	"held": lease.ErrHeld, "lost": lease.ErrLost, "not held": lease.ErrNotHeld, "stale": fence.ErrStale,
}

func (r *Reply) fail(err error) {
	if err == nil {
		return
	}
	r.Problem = err.Error()
	for text, known := range problems {
		if errors.Is(err, known) {
			r.Problem = text
		}
	}
	var stale *fence.StaleError
	if errors.As(err, &stale) {
		r.Token = stale.Highest
	}
}

func (s *served) Acquire(q Request, r *Reply) (err error) {
	r.Lease, err = s.hub.leases.Acquire(context.Background(), q.Key, q.Holder, q.TTL)
	r.fail(err)
	return nil
}

func (s *served) Renew(q Request, r *Reply) (err error) {
	r.Lease, err = s.hub.leases.Renew(context.Background(), q.Lease, q.TTL)
	r.fail(err)
	return nil
}

func (s *served) Release(q Request, r *Reply) error {
	r.fail(s.hub.leases.Release(context.Background(), q.Lease))
	return nil
}

func (s *served) Get(q Request, r *Reply) (err error) {
	r.Lease, err = s.hub.leases.Get(context.Background(), q.Key)
	r.fail(err)
	return nil
}

func (s *served) Write(q Request, r *Reply) error {
	r.fail(s.hub.data.Write(context.Background(), q.Key, q.Token, q.Value))
	return nil
}

func (s *served) Read(q Request, r *Reply) (err error) {
	r.Value, r.Token, err = s.hub.data.Read(context.Background(), q.Key)
	r.fail(err)
	return nil
}

// hubClient is a lease.Service and a fence.Resource on a hub.
type hubClient struct{ rpc *rpc.Client }

// dialHub connects to the hub at an address; if it is that of no hub, it returns nil.
func dialHub(address string) (*hubClient, error) {
	addr, ok := strings.CutPrefix(address, "hub:")
	if !ok {
		return nil, nil
	}
	c, err := rpc.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &hubClient{c}, nil
}

// call makes one call, after its arguments were checked.
func (c *hubClient) call(ctx context.Context, method string, invalid error, q Request) (r Reply, err error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	if invalid != nil {
		return r, invalid
	}
	call := c.rpc.Go("Hub."+method, q, &Reply{}, make(chan *rpc.Call, 1))
	select {
	case <-ctx.Done():
		return r, fmt.Errorf("%s: %w", method, ctx.Err())
	case <-call.Done:
	}
	if call.Error != nil {
		return r, fmt.Errorf("%s: %w", method, call.Error)
	}
	r = *call.Reply.(*Reply)
	known, ok := problems[r.Problem]
	switch {
	case ok && known == fence.ErrStale:
		return r, &fence.StaleError{Key: q.Key, Token: q.Token, Highest: r.Token}
	case ok:
		return r, known
	case r.Problem != "":
		return r, fmt.Errorf("%s: %s", method, r.Problem)
	}
	return r, nil
}

func (c *hubClient) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	r, err := c.call(ctx, "Acquire", lease.CheckAcquire(key, holder, ttl), Request{Key: key, Holder: holder, TTL: ttl})
	return r.Lease, err
}

func (c *hubClient) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	r, err := c.call(ctx, "Renew", lease.CheckRenew(l, ttl), Request{Lease: l, TTL: ttl})
	return r.Lease, err
}

func (c *hubClient) Release(ctx context.Context, l lease.Lease) error {
	_, err := c.call(ctx, "Release", lease.CheckLease(l), Request{Lease: l})
	return err
}

func (c *hubClient) Get(ctx context.Context, key string) (lease.Lease, error) {
	r, err := c.call(ctx, "Get", lease.CheckKey(key), Request{Key: key})
	return r.Lease, err
}

func (c *hubClient) Write(ctx context.Context, key string, token int64, value string) error {
	_, err := c.call(ctx, "Write", fence.CheckWrite(key, token), Request{Key: key, Token: token, Value: value})
	return err
}

func (c *hubClient) Read(ctx context.Context, key string) (string, int64, error) {
	r, err := c.call(ctx, "Read", lease.CheckKey(key), Request{Key: key})
	if err != nil {
		return "", 0, err
	}
	return r.Value, r.Token, nil
}
