package zoo

import (
	"context"
	"strings"
	"time"

	"github.com/leasekit/lease"
)

// namespaceFaults break the independence of namespaces, and the text of names.
func namespaceFaults() []Animal {
	return []Animal{
		{
			Name: "namespace-joined", Clause: "KEY-2",
			Fault:  "Namespace and key are joined with nothing between them.",
			Source: "https://github.com/codeforstartups/dynavec/pull/140",
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string { return namespace + key }
			}),
		},
		{
			Name: "namespace-joined-by-colon", Clause: "KEY-2",
			Fault: "Namespace and key are joined by a colon, which both may contain.",
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string { return namespace + ":" + key }
			}),
		},
		{
			Name: "namespace-ignored", Clause: "KEY-2",
			Fault: "The namespace plays no part.",
			Open: bred(func(r *rules) {
				r.recordOf = func(_, key string) string { return recordOf("", key) }
			}),
		},
		{
			Name: "renew-ignores-namespace", Clause: "KEY-2",
			Fault: "Renew looks the key up in the first namespace, whatever its own is.",
			Open: bred(func(r *rules) {
				r.service = func(w *worker) lease.Service { return renewsAtHome{w} }
			}),
		},
		{
			Name: "key-comes-back-prefixed", Clause: "KEY-3",
			Fault:  "The lease that Acquire returns has the store's name of the key, with its prefix.",
			Kinds:  []string{"B123"},
			Source: "https://github.com/constructorfabric/gears-rust/pull/4863",
			Open: bred(func(r *rules) {
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					l, err := acquire(c, holder, ttl)
					if err == nil {
						l.Key = "lease:" + l.Key
					}
					return l, err
				}
			}),
		},
		{
			Name: "get-lower-cases-key", Clause: "KEY-3",
			Fault: "Get shows the key in lower case.",
			Open: bred(func(r *rules) {
				r.get = shownByGet(func(l lease.Lease) lease.Lease {
					l.Key = strings.ToLower(l.Key)
					return l
				})
			}),
		},
		{
			Name: "get-composes-holder", Clause: "KEY-3",
			Fault: "Get shows the holder in Unicode normal form C.",
			Open: bred(func(r *rules) {
				r.get = shownByGet(func(l lease.Lease) lease.Lease {
					l.Holder = composed(l.Holder)
					return l
				})
			}),
		},
		{
			Name: "get-trims-holder", Clause: "KEY-3",
			Fault: "Get shows the holder without the blanks at its end.",
			Open: bred(func(r *rules) {
				r.get = shownByGet(func(l lease.Lease) lease.Lease {
					l.Holder = strings.TrimRight(l.Holder, " ")
					return l
				})
			}),
		},
	}
}

// renewsAtHome is a worker whose Renew goes to the namespace "".
type renewsAtHome struct{ *worker }

func (w renewsAtHome) Renew(ctx context.Context, l lease.Lease, ttl time.Duration) (lease.Lease, error) {
	home := *w.worker
	home.namespace = ""
	return home.Renew(ctx, l, ttl)
}
