package zoo

import (
	"context"
	"errors"
	"time"

	"github.com/leasekit/lease"
)

// outageFaults break ERR-4: what a call says when the store can't be reached.
func outageFaults() []Animal {
	return []Animal{
		outage("outage-means-held", "Acquire says that the key is held when the store is down.",
			"https://github.com/go-redsync/redsync/pull/32", "B074",
			func(w *worker) lease.Service { return outageMeans{worker: w, acquire: lease.ErrHeld} }),
		outage("outage-means-lost", "Renew says that the lease is lost when the store is down.",
			"https://github.com/cirello-io/pglock/issues/40", "B074",
			func(w *worker) lease.Service { return outageMeans{worker: w, renew: lease.ErrLost} }),
		outage("outage-means-free", "Get says that nobody holds the key when the store is down.",
			"https://github.com/rjmurillo/ai-agents/pull/4987", "B074",
			func(w *worker) lease.Service { return outageMeans{worker: w, get: lease.ErrNotHeld} }),
		outage("outage-fails-open", "Acquire grants a lease of its own making when the store is down.",
			"https://cordum.io/blog/ai-agent-distributed-lock-fallback", "B075",
			func(w *worker) lease.Service { return failsOpen{w} }),
		outage("outage-swallowed-by-release", "Release says nothing when the store is down.",
			"https://github.com/mike-marcacci/node-redlock/issues/11", "B019",
			func(w *worker) lease.Service { return releaseSwallows{w} }),
		outage("outage-answered-from-hand", "Renew returns the lease that it was given when the store is down.",
			"https://github.com/MoonLadderStudios/MoonMind/pull/4041", "B101",
			func(w *worker) lease.Service { return remembers{w} }),
	}
}

func outage(name, fault, source, kind string, service func(w *worker) lease.Service) Animal {
	return Animal{
		Name: name, Clause: "ERR-4", Fault: fault, Source: source, Kinds: []string{kind},
		Open: bred(func(r *rules) { r.service = service }),
	}
}

// outageMeans gives a definite answer, where one is set, in place of the error
// of a store that was not reached.
type outageMeans struct {
	*worker
	acquire, renew, get error
}

func (w outageMeans) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	l, err := w.worker.Acquire(ctx, key, holder, ttl)
	return l, insteadOf(err, w.acquire)
}

func (w outageMeans) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	renewed, err := w.worker.Renew(ctx, l, ttl)
	return renewed, insteadOf(err, w.renew)
}

func (w outageMeans) Get(ctx context.Context, key string) (lease.Lease, error) {
	l, err := w.worker.Get(ctx, key)
	return l, insteadOf(err, w.get)
}

func insteadOf(err, means error) error {
	if means != nil && errors.Is(err, errUnreachable) {
		return means
	}
	return err
}

type failsOpen struct{ *worker }

func (w failsOpen) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	l, err := w.worker.Acquire(ctx, key, holder, ttl)
	if errors.Is(err, errUnreachable) {
		return lease.Lease{Key: key, Holder: holder, Token: 1, ExpiresAt: start.Add(ttl)}, nil
	}
	return l, err
}

type releaseSwallows struct{ *worker }

func (w releaseSwallows) Release(ctx context.Context, l lease.Lease) error {
	if err := w.worker.Release(ctx, l); !errors.Is(err, errUnreachable) {
		return err
	}
	return nil
}

// remembers is a worker whose Renew believes the lease in hand when nobody
// contradicts.
type remembers struct{ *worker }

func (w remembers) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	renewed, err := w.worker.Renew(ctx, l, ttl)
	if errors.Is(err, errUnreachable) {
		return l, nil
	}
	return renewed, err
}
