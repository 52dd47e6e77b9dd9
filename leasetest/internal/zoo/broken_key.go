package zoo

import (
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/leasekit/lease"
)

// keyFaults break the independence of keys.
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
		foldedKey("keys-are-one-folded", "Keys that differ in case only are one record.",
			"https://github.com/agentscope-ai/agentscope-java/issues/3217", strings.ToLower),
		foldedKey("keys-are-one-padded", "Keys that differ in blanks at the end only are one record.",
			"https://github.com/alibaba/nacos/issues/15543",
			func(key string) string { return strings.TrimRight(key, " ") }),
		foldedKey("keys-are-one-composed", "Keys that differ in Unicode normal form only are one record.",
			"https://github.com/unkeyed/unkey/pull/6870", composed),
		foldedKey("keys-are-one-cut", "Keys that differ after 255 bytes only are one record.", "",
			func(key string) string { return cut(key, 255) }),
		{
			Name: "counter-is-a-key", Clause: "KEY-1",
			Fault:  "The lease of a key stands under its name and \":n\", the counter under the name alone, and users may choose such names too.",
			Kinds:  []string{"B121", "S025"},
			Source: "https://github.com/webisters/cache/issues/42",
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string { return recordOf(namespace, key) + ":n" }
				r.token = func(c *call) (int64, error) {
					counter := &call{rules: c.rules, s: c.s, id: recordOf(c.w.namespace, c.key)}
					seed(c.s, counter.id, c.counter())
					counter.load()
					token, err := nextToken(counter)
					if err == nil {
						counter.rec.token = token
					}
					return token, err
				}
			}),
		},
		{
			Name: "key-hashed-to-32-bits", Clause: "KEY-1",
			Fault:  "The store locks a checksum of 32 bits in place of the key, and unrelated keys share one.",
			Kinds:  []string{"B118"},
			Source: "https://github.com/BrighterCommand/Brighter/issues/4145",
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string {
					return fmt.Sprint(crc32.ChecksumIEEE([]byte(recordOf(namespace, key))))
				}
			}),
		},
		{
			Name: "key-hashed-by-31", Clause: "KEY-1",
			Fault:  "The store locks the sum of the key's bytes times powers of 31, in 32 bits, and unrelated keys share one.",
			Kinds:  []string{"B118"},
			Source: "https://github.com/metaspace2020/metaspace/pull/1034",
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string {
					var sum int32
					for _, b := range []byte(recordOf(namespace, key)) {
						sum = 31*sum + int32(b)
					}
					return fmt.Sprint(sum)
				}
			}),
		},
		{
			Name: "release-by-pattern", Clause: "KEY-1",
			Fault: "Release deletes by a pattern, and with a key all that begin with it.",
			Open: bred(func(r *rules) {
				r.release = func(c *call, l lease.Lease) error {
					if c.matches(l) && live(c) {
						for id, rec := range c.s.records {
							if strings.HasPrefix(id, c.id) {
								rec.released = true
							}
						}
					}
					return release(c, l)
				}
			}),
		},
		{
			Name: "few-slots", Clause: "KEY-1",
			Fault: "Keys share a thousand slots, and who is in a slot excludes all others of it.",
			Kinds: []string{"B118"},
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string {
					return fmt.Sprint(crc32.ChecksumIEEE([]byte(recordOf(namespace, key))) % 1000)
				}
			}),
		},
		{
			Name: "separators-trimmed", Clause: "KEY-1",
			Fault: "Slashes and colons at the end of a key are taken for nothing.",
			Open: bred(func(r *rules) {
				r.recordOf = func(namespace, key string) string { return recordOf(namespace, strings.TrimRight(key, "/:")) }
			}),
		},
	}
}

// keyText breaks KEY-1: the text of a key that text gives is under a unique
// index, so that a new key is refused as held while there is a record of
// another one with the same text.
func keyText(name, fault, source string, text func(key string) string) Animal {
	return Animal{
		Name: name, Clause: "KEY-1", Fault: fault, Source: source, Kinds: []string{"B117"},
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

// foldedKey breaks KEY-1: keys with the same text share a record.
func foldedKey(name, fault, source string, text func(key string) string) Animal {
	return Animal{
		Name: name, Clause: "KEY-1", Fault: fault, Source: source, Kinds: []string{"B117"},
		Open: bred(func(r *rules) {
			r.recordOf = func(namespace, key string) string { return recordOf(namespace, text(key)) }
		}),
	}
}
