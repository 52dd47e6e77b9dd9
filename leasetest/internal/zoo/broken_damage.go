package zoo

import "github.com/leasekit/lease"

// damageFaults break ERR-9: what a call makes of a record that it can't read.
func damageFaults() []Animal {
	return []Animal{
		{
			Name: "damaged-is-free", Clause: "ERR-9",
			Fault:  "Acquire takes a record that it can't read for none, and overwrites it.",
			Source: "https://github.com/rjmurillo/ai-agents/pull/4987",
			Open: bred(func(r *rules) {
				damaged := r.damaged
				r.damaged = func(c *call) error {
					if c.name != acquiring {
						return damaged(c)
					}
					c.rec.damage, c.rec.released = "", true
					return nil
				}
			}),
		},
		{
			Name: "damaged-reads-free", Clause: "ERR-9",
			Fault: "Get of a record of a newer schema finds that nobody holds the key.",
			Open: bred(func(r *rules) {
				damaged := r.damaged
				r.damaged = func(c *call) error {
					if c.name == getting && c.rec.damage == newerSchema {
						return lease.ErrNotHeld
					}
					return damaged(c)
				}
			}),
		},
		{
			Name: "damaged-means-held", Clause: "ERR-9",
			Fault:  "Every error that Acquire meets in the store is read as held.",
			Kinds:  []string{"B073"},
			Source: "https://github.com/laravel/framework/issues/60171",
			Open: bred(func(r *rules) {
				damaged := r.damaged
				r.damaged = func(c *call) error {
					if c.name == acquiring {
						return lease.ErrHeld
					}
					return damaged(c)
				}
			}),
		},
		{
			Name: "damaged-means-lost", Clause: "ERR-9",
			Fault: "Every error that Renew meets in the store is read as a loss.",
			Open: bred(func(r *rules) {
				damaged := r.damaged
				r.damaged = func(c *call) error {
					if c.name == renewing {
						return lease.ErrLost
					}
					return damaged(c)
				}
			}),
		},
	}
}
