package zoo

import (
	"context"
	"errors"
	"time"

	"github.com/leasekit/lease"
)

// restartFaults break the clauses on a store that crashes and comes back.
func restartFaults() []Animal {
	return []Animal{
		crashing("restart-forgets-all", "TOKEN-10", "Everything is kept in memory, and begins anew after a crash.",
			[]string{"S002"}, func(s *store) { clear(s.records) }),
		crashing("last-grant-lost", "TOKEN-10", "A grant is answered before it is on disk, and a crash takes the last one back.",
			[]string{"S001"}, func(s *store) {
				for id, r := range s.records {
					if r.order == s.grants {
						delete(s.records, id)
					}
				}
			}),
		crashing("counter-of-free-keys-forgotten", "TOKEN-10", "A store that starts reads the live grants, and not the counters of keys that are free.",
			[]string{"S002"}, func(s *store) {
				for id, r := range s.records {
					if r.released {
						delete(s.records, id)
					}
				}
			}),
		crashing("counter-from-the-highest-live", "TOKEN-10", "The counters begin at the number of live grants, as an automatic number does that is found again from the rows.",
			[]string{"S002"}, func(s *store) {
				for _, r := range s.records {
					if r.released {
						r.token = 0
					}
				}
			}),
		crashing("restart-ends-grants", "EXPIRY-9", "A store that starts takes all grants for over: their sessions are gone.",
			nil, func(s *store) {
				for _, r := range s.records {
					r.released = true
				}
			}),
		crashing("restart-begins-ttl-anew", "EXPIRY-9", "A store that starts gives every live grant its full ttl again.",
			[]string{"B109"}, func(s *store) {
				for _, r := range s.records {
					if !r.released {
						r.expires = s.clock().Add(r.ttl).UnixMilli()
					}
				}
			}),
		crashing("restart-forgets-renewals", "EXPIRY-9", "What is on disk is the grant as it was first made, and not its renewals.",
			nil, func(s *store) {
				for _, r := range s.records {
					if r.renewed > 0 {
						r.expires = r.granted.Add(time.Minute).UnixMilli()
					}
				}
			}),
		crashing("restart-stops-the-sweeper", "EXPIRY-9", "Expiry is left to timers, and those of grants from before a crash are not set again.",
			[]string{"B109"}, func(s *store) {
				for _, r := range s.records {
					if !r.released {
						r.expires = s.clock().Add(1000 * time.Hour).UnixMilli()
					}
				}
			}),
		{
			Name: "session-lost-means-lease-lost", Clause: "EXPIRY-9",
			Fault: "A renewal asks for the session in which the lease was granted, though the store kept only the lease.",
			Open: bred(func(r *rules) {
				r.renewable = func(c *call, l lease.Lease) bool {
					return c.matches(l) && live(c) && c.rec.boots == c.s.boots
				}
			}),
		},
		stuck("session-never-made-anew", "A client keeps its session, which the store does not know any more after a crash.",
			nil, func(string) bool { return true }),
		stuck("script-sent-once", "The script of Acquire is sent when the client is made, and not again when the store has lost it.",
			[]string{"B103"}, func(name string) bool { return name == acquiring }),
		stuck("release-script-sent-once", "The script of Release is sent when the client is made, and not again when the store has lost it.",
			[]string{"S029"}, func(name string) bool { return name == releasing }),
	}
}

func crashing(name, clause, fault string, kinds []string, restart func(s *store)) Animal {
	return Animal{
		Name: name, Clause: clause, Fault: fault, Kinds: kinds,
		Open: bred(func(r *rules) { r.restart = restart }),
	}
}

var errForgotten = errors.New("the store does not know that session")

// stuck breaks ERR-5: the calls that which names fail for a client that was made
// before a restart.
func stuck(name, fault string, kinds []string, which func(name string) bool) Animal {
	return Animal{
		Name: name, Clause: "ERR-5", Fault: fault, Kinds: kinds,
		Open: bred(func(r *rules) {
			r.service = func(w *worker) lease.Service { return stuckWorker{w, which} }
		}),
	}
}

type stuckWorker struct {
	*worker
	which func(name string) bool
}

func (w stuckWorker) lost(name string) error {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	if w.boots != w.store.boots && w.which(name) {
		return errForgotten
	}
	return nil
}

func (w stuckWorker) Acquire(ctx context.Context, key, holder string, ttl time.Duration) (lease.Lease, error) {
	if err := w.lost(acquiring); err != nil {
		return lease.Lease{}, err
	}
	return w.worker.Acquire(ctx, key, holder, ttl)
}

func (w stuckWorker) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	if err := w.lost(renewing); err != nil {
		return lease.Lease{}, err
	}
	return w.worker.Renew(ctx, l, ttl)
}

func (w stuckWorker) Release(ctx context.Context, l lease.Lease) error {
	if err := w.lost(releasing); err != nil {
		return err
	}
	return w.worker.Release(ctx, l)
}

func (w stuckWorker) Get(ctx context.Context, key string) (lease.Lease, error) {
	if err := w.lost(getting); err != nil {
		return lease.Lease{}, err
	}
	return w.worker.Get(ctx, key)
}
