package zoo

import (
	"strings"
	"time"

	"github.com/leasekit/lease"
)

// keyFaults break the independence of keys and namespaces, and their text.
func keyFaults() []Animal {
	return []Animal{
		keyText("key-case-folded", "A unique index on the keys does not regard case.",
			"https://github.com/agentscope-ai/agentscope-java/issues/3217", strings.ToLower),
		keyText("key-blank-padded", "A unique index on the keys does not regard blanks at the end, as a PAD SPACE collation does.",
			"https://github.com/alibaba/nacos/issues/15543",
			func(key string) string { return strings.TrimRight(key, " ") }),
		keyText("key-normal-form", "A unique index on the keys compares them in Unicode normal form C.",
			"https://github.com/unkeyed/unkey/pull/6870", composed),
		keyText("key-cut-at-255", "A unique index on the keys regards their first 255 bytes.", "",
			func(key string) string { return cut(key, 255) }),
		{
			Name: "counter-is-a-key", Clause: "KEY-1",
			Fault:  "The lease of a key stands under its name and \":n\", the counter under the name alone, and users may choose such names too.",
			Source: "https://github.com/webisters/cache/issues/42",
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string { return recordOf(namespace, key) + ":n" }
				r.token = func(c *call) (int64, error) {
					counter := &call{s: c.s, id: recordOf(c.w.namespace, c.key)}
					seed(c.s, counter.id, c.counter())
					counter.load()
					if live(counter) && !calm(counter) { // a key that is in no state to be disturbed
						return nextToken(c)
					}
					token, err := nextToken(counter)
					if err == nil {
						counter.rec.token = token
					}
					return token, err
				}
			}),
		},
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

// keyText breaks KEY-1: the text of a key that text gives is under a unique
// index, so that a new key is refused as held while there is a record of
// another one with the same text.
func keyText(name, fault, source string, text func(key string) string) Animal {
	return Animal{
		Name: name, Clause: "KEY-1", Fault: fault, Source: source,
		Open: bred(func(r *rules) {
			index := map[string]bool{}
			r.blocked = func(c *call, _ string, _ time.Duration) bool {
				return live(c) || c.rec == nil && index[recordOf(c.w.namespace, text(c.key))]
			}
			r.grant = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
				index[recordOf(c.w.namespace, text(c.key))] = true
				return grant(c, holder, ttl)
			}
		}),
	}
}
