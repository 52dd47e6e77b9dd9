package leasetest

import "time"

// getExamples are about what can be seen of a lease.
func getExamples() []example {
	return []example{
		{"GET-2", "a key that nobody ever took is not held", 0, program{
			get(workerA).notHeld(),
			get(workerB).notHeld(),
		}},
		{"GET-1", "Get returns the live grant exactly", 0, program{
			acquire(workerA, "alice", long).granted(),
			get(workerA).granted(),
			get(workerB).granted(),
		}},
		{"GET-3", "Get changes nothing", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			get(workerB).granted(),
			get(workerB).granted(),
			get(workerA).granted(),
			release(workerA, "a").done(),
			get(workerB).notHeld(),
			acquire(workerB, "bob", long).granted(),
		}},
		{"GET-3", "Get does not prolong a lease", needMove, program{
			acquire(workerA, "alice", long).granted(),
			pass(long / 2),
			get(workerB).granted(),
			get(workerB).granted(),
			end(2),
			acquire(workerB, "bob", long).granted(),
		}},
		{"ERR-8", "every call returns a whole lease or an error, not both", 0, program{
			get(workerA).notHeld(),
			acquire(workerA, "alice", long).granted().named("a"),
			acquire(workerB, "bob", long).held(),
			renew(workerA, "a", long).granted(),
			get(workerB).granted(),
			release(workerA, "a").done(),
			renew(workerA, "a", long).lost(),
			get(workerA).notHeld(),
			acquire(workerA, "", long).invalid(),
		}},
	}
}

// renewExamples are about Renew, away from the end of the lease.
func renewExamples() []example {
	return []example{
		{"RENEW-1", "Renew sets the expiry, later or earlier, and keeps the rest", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", 3*long).granted().named("a2"),
			get(workerB).granted(),
			renew(workerA, "a2", long/2).granted(),
			get(workerB).granted(),
		}},
		{"RENEW-1", "others are judged by the renewed expiry", needMove, program{
			acquire(workerA, "alice", long).granted().named("a"),
			pass(long / 2),
			renew(workerA, "a", long).granted(),
			pass(long * 3 / 4),
			acquire(workerB, "bob", long).held(),
			renew(workerA, "a", long/10).granted(),
			pass(long / 5),
			acquire(workerB, "bob", long).granted(),
		}},
		{"RENEW-6", "renewing twice at the same instant is not a loss", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", long).granted().named("a2"),
			renew(workerA, "a2", long).granted().named("a3"),
			renew(workerA, "a3", long).granted(),
		}},
		{"RENEW-7", "a renewal whose reply was lost can be repeated with the lease in hand", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", 2*long).granted(),
			renew(workerA, "a", 3*long).granted(),
			release(workerA, "a").done(),
			get(workerA).notHeld(),
		}},
		{"RENEW-7", "ExpiresAt plays no part in what identifies a grant", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", 2*long).altered(expiresZero).granted(),
			renew(workerA, "a", long).altered(expiresFar).granted(),
		}},
		{"RENEW-5", "a made-up lease is lost and changes nothing", 0, program{
			step{do: doRenew, worker: workerA, key: "%", holder: "alice", ttl: long}.lost(),
			get(workerB).notHeld(),
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerB, "a", 2*long).altered(tokenUp).lost(),
			get(workerB).granted(),
			renew(workerB, "a", 2*long).altered(otherHolder).lost(),
			get(workerB).granted(),
			renew(workerB, "a", 2*long).altered(otherKey).lost(),
			get(workerB).granted(),
		}},
		{"RENEW-4", "a released lease cannot be renewed", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			renew(workerA, "a", long).lost(),
			get(workerB).notHeld(),
		}},
		{"RENEW-3", "a superseded lease cannot be renewed, whoever holds the key now", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted().named("b"),
			renew(workerA, "a", 2*long).lost(),
			get(workerC).granted(),
			release(workerB, "b").done(),
			acquire(workerA, "alice", long).granted(),
			renew(workerA, "a", 2*long).lost(),
			get(workerC).granted(),
		}},
		{"RENEW-3", "a lease superseded after its expiry cannot be renewed", 0, program{
			acquireShort(workerA, "alice").granted().named("a"),
			end(2),
			acquire(workerA, "alice", long).granted(),
			renew(workerA, "a", 2*long).lost(),
			get(workerC).granted(),
		}},
	}
}

// releaseExamples are about Release.
func releaseExamples() []example {
	return []example{
		{"RELEASE-1", "Release frees the key at once", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			get(workerB).notHeld(),
			acquire(workerB, "bob", long).granted(),
		}},
		{"RELEASE-1", "Release frees the key, however often it was renewed", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", 2*long).granted().named("a2"),
			acquire(workerA, "alice", long).granted().named("a3"),
			renew(workerA, "a3", long).granted().named("a4"),
			release(workerA, "a4").done(),
			get(workerA).notHeld(),
			acquire(workerB, "bob", long).granted(),
		}},
		{"RELEASE-2", "a stale Release changes nothing, whoever holds the key now", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted().named("b"),
			release(workerA, "a").stale(),
			get(workerC).granted(),
			release(workerB, "b").done(),
			acquire(workerA, "alice", long).granted().named("a2"),
			release(workerA, "a").stale(),
			get(workerC).granted(),
			release(workerA, "a2").altered(tokenUp).stale(),
			get(workerC).granted(),
			release(workerA, "a2").altered(otherHolder).stale(),
			get(workerC).granted(),
			release(workerA, "a2").altered(otherKey).stale(),
			get(workerC).granted(),
		}},
		{"RELEASE-3", "Release can be repeated, and come late", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			release(workerA, "a").stale(),
			acquire(workerB, "bob", long).granted(),
			release(workerA, "a").stale(),
			step{do: doRelease, worker: workerA, key: "never-%", holder: "alice"}.stale(),
		}},
		{"RELEASE-3", "Release after the expiry is no error", 0, program{
			acquireShort(workerA, "alice").granted().named("a"),
			end(2),
			release(workerA, "a").stale(),
			get(workerA).notHeld(),
		}},
		{"RELEASE-4", "any worker that has the lease can renew and release it", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerB, "a", 2*long).granted(),
			renew(workerC, "a", 2*long).granted(),
			release(workerB, "a").done(),
			get(workerA).notHeld(),
			acquire(workerC, "carol", long).granted(),
		}},
	}
}

// keyExamples are about names.
func keyExamples() []example {
	var list []example
	for _, family := range families {
		if len(family) < 2 {
			continue
		}
		var p program
		for _, key := range family {
			p = append(p, acquire(workerA, "alice", long).on(key).granted().named(key))
		}
		for _, key := range family {
			p = append(p, get(workerB).on(key).granted())
		}
		p = append(p, release(workerA, family[0]).on(family[0]).done())
		for _, key := range family[1:] {
			p = append(p, get(workerB).on(key).granted(), acquire(workerB, "bob", long).on(key).held())
		}
		p = append(p, acquire(workerB, "bob", long).on(family[0]).granted())
		list = append(list, example{"KEY-1", "keys " + shownFamily(family) + " are independent", 0, p})
	}
	for _, names := range []struct{ space, key, otherSpace, otherKey string }{
		{"a", "b%", "ab", "%"},
		{"a", ":%", "a:", "%"},
		{"", "a%", "a", "%"},
		{"a", "%", "b", "%"},
	} {
		list = append(list, example{"KEY-2", "namespaces " + shown(names.space) + " and " + shown(names.otherSpace) + " are independent", 0, program{
			acquire(workerA, "alice", long).on(names.key).in(names.space).granted().named("a"),
			get(workerB).on(names.otherKey).in(names.otherSpace).notHeld(),
			acquire(workerB, "bob", 2*long).on(names.otherKey).in(names.otherSpace).granted(),
			get(workerA).on(names.key).in(names.space).granted(),
			renew(workerA, "a", 3*long).on(names.key).in(names.space).granted(),
			get(workerA).on(names.key).in(names.space).granted(),
			get(workerB).on(names.otherKey).in(names.otherSpace).granted(),
			release(workerA, "a").on(names.key).in(names.space).done(),
			get(workerA).on(names.key).in(names.space).notHeld(),
			get(workerB).on(names.otherKey).in(names.otherSpace).granted(),
		}})
	}
	for _, spaces := range [][2]string{{"", "a"}, {"a", "b"}} {
		list = append(list, example{"KEY-2", "a lease of namespace " + shown(spaces[0]) + " is none in " + shown(spaces[1]), 0, program{
			acquire(workerA, "alice", long).in(spaces[0]).granted().named("a"),
			renew(workerA, "a", 2*long).in(spaces[1]).lost(),
			release(workerA, "a").in(spaces[1]).stale(),
			get(workerB).in(spaces[0]).granted(),
			acquire(workerB, "alice", long).in(spaces[1]).granted(),
			get(workerB).in(spaces[0]).granted(),
		}})
	}
	for _, name := range []string{"caf\u00e9", "cafe\u0301", "Mixed Case", " blanks ", "tab\there", "quote'\"\\", "\U0001F512", "%s%d", "{brace}", "a:b:c", "…end"} {
		list = append(list, example{"KEY-3", "the name " + shown(name) + " comes back byte for byte", 0, program{
			acquire(workerA, name, long).on(name + "%").granted().named("a"),
			get(workerB).on(name + "%").granted(),
			renew(workerB, "a", long).on(name + "%").granted(),
		}})
	}
	return list
}

func shownFamily(family []string) string {
	text := ""
	for i, key := range family {
		if i > 0 {
			text += ", "
		}
		text += shown(key)
	}
	return text
}

// argumentExamples are about the limits of the arguments.
func argumentExamples(h *Harness) []example {
	top := h.maxTTL()
	ordinaryTTL := max(min(long, top/2), h.MinTTL)
	refused := program{acquire(workerA, "alice", long).granted().named("a")}
	for _, bad := range badNames {
		refused = append(refused,
			acquire(workerA, "alice", long).on(bad).invalid(),
			acquire(workerA, bad, long).invalid(),
			get(workerA).on(bad).invalid())
	}
	refused = append(refused,
		renew(workerA, "a", long).altered(tokenZero).invalid(),
		renew(workerA, "a", long).altered(tokenNegative).invalid(),
		renew(workerA, "a", long).altered(zeroLease).invalid(),
		renew(workerA, "a", long).altered(badHolder).invalid(),
		release(workerA, "a").altered(tokenZero).invalid(),
		release(workerA, "a").altered(zeroLease).invalid(),
		release(workerA, "a").altered(badHolder).invalid(),
	)
	list := []example{
		{"ARG-1", "names outside of the limits are ErrInvalid", 0, refused},
		{"ARG-1", "names up to the limits work", 0, program{
			acquire(workerA, "…", long).on("%…").granted().named("a"),
			get(workerB).on("%…").granted(),
			renew(workerB, "a", long).on("%…").granted(),
			release(workerB, "a").on("%…").done(),
			acquire(workerA, "x", long).on("%\x01\x7f\u2028").granted(),
			acquire(workerA, "\x01", long).on("%\U0010FFFD").granted(),
		}},
		{"ARG-2", "a ttl of 0 or less is ErrInvalid", 0, program{
			acquire(workerA, "alice", 0).invalid(),
			acquire(workerA, "alice", -1).invalid(),
			acquire(workerA, "alice", -1<<63).invalid(),
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", 0).invalid(),
			renew(workerA, "a", -time.Hour).invalid(),
		}},
		{"ARG-2", "a ttl below the resolution is rounded up, not to nothing", needFreeze, program{
			acquire(workerA, "alice", 1).granted(),
			get(workerB).granted(),
			acquire(workerB, "bob", 1).held(),
			acquire(workerA, "alice", 1).on("two-%").granted().named("two"),
			renew(workerA, "two", 1).on("two-%").granted(),
			get(workerB).on("two-%").granted(),
		}},
		{"ARG-2", "a ttl below the resolution is taken", 0, program{
			acquire(workerA, "alice", 1).granted(),
		}},
		{"ARG-3", "the longest ttl works", 0, program{
			acquire(workerA, "alice", top).granted().named("a"),
			get(workerB).granted(),
			acquire(workerB, "bob", ordinaryTTL).held(),
			renew(workerA, "a", top-1).granted().named("a2"),
			get(workerB).granted(),
			acquire(workerA, "alice", top).granted(),
			get(workerB).granted(),
		}},
		{"ARG-4", "a refused argument leaves the store as it was", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			acquire(workerA, "alice", 0).invalid(),
			get(workerB).granted(),
			acquire(workerB, "", long).invalid(),
			get(workerB).granted(),
			renew(workerA, "a", -1).invalid(),
			get(workerB).granted(),
			release(workerA, "a").altered(tokenZero).invalid(),
			get(workerB).granted(),
			acquire(workerB, "", long).on("free-%").invalid(),
			acquire(workerB, "bob", 0).on("free-%").invalid(),
			get(workerB).on("free-%").notHeld(),
		}},
	}
	if top > 300*day {
		list = append(list, example{"ARG-3", "the longest ttl lasts", needMove, program{
			acquire(workerA, "alice", top).granted(),
			pass(min(top/2, 40*365*day)),
			get(workerB).granted(),
			acquire(workerB, "bob", ordinaryTTL).held(),
		}})
	}
	if top < 1<<63-1 {
		list = append(list, example{"ARG-3", "a ttl above MaxTTL is ErrInvalid", 0, program{
			acquire(workerA, "alice", top+1).invalid(),
			acquire(workerA, "alice", 1<<63-1).invalid(),
			acquire(workerA, "alice", ordinaryTTL).granted().named("a"),
			renew(workerA, "a", top+1).invalid(),
			get(workerB).granted(),
		}})
	}
	return list
}
