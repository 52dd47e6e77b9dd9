package redislease

import "strconv"

// names makes the names of Redis keys for one prefix.
type names struct {
	head string // "{6:lease:"
}

func newNames(prefix string) names {
	return names{head: "{" + strconv.Itoa(len(prefix)) + ":" + prefix}
}

// of returns the names of the hash and of the counter for the lease key.
//
// They differ from those of every other prefix and key: the number says where
// the prefix ends, and the last two bytes can be cut off. Redis Cluster takes
// for the hash tag what stands between the first "{" and the first "}" after
// it. That is never empty, for the number comes first, and it is the same for
// both, for they are the same up to their last byte.
func (n names) of(key string) (hash, counter string) {
	both := n.head + key + "}l" + n.head + key + "}n" // at once: one allocation
	return both[:len(both)/2], both[len(both)/2:]
}

// ofFenced returns the name of the hash of the fenced key. It differs from those of
// all leases, and shares a cluster slot with the lease of the same prefix and key.
func (n names) ofFenced(key string) string { return n.tagged(key) + "f" }

func (n names) tagged(key string) string { return n.head + key + "}" }
