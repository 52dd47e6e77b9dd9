package leasetest

// exclusionExamples are about who gets the key.
func exclusionExamples() []example {
	list := []example{
		{"EXCL-1", "another holder is refused while the lease is live", 0, program{
			acquire(workerA, "alice", long).granted(),
			acquire(workerB, "bob", long).held(),
			acquire(workerA, "bob", 1).held(),
			get(workerC).granted(),
		}},
		{"EXCL-1", "a renewed lease still excludes", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", 2*long).granted(),
			acquire(workerB, "bob", 3*long).held(),
		}},
		{"EXCL-1", "half-way through the lease another holder is still refused", needMove, program{
			acquire(workerA, "alice", long).granted(),
			pass(long / 2),
			acquire(workerB, "bob", long).held(),
			pass(long / 4),
			acquire(workerB, "bob", long).held(),
		}},
		{"EXCL-1", "late in a short lease another holder is still refused", 0, program{
			acquireShort(workerA, "alice").granted(),
			late(),
			acquire(workerB, "bob", long).held(),
		}},
		{"EXCL-2", "a refused Acquire leaves holder, token and expiry alone", 0, program{
			acquire(workerA, "alice", long).granted(),
			acquire(workerB, "bob", 3*long).held(),
			get(workerA).granted(),
			acquire(workerB, "bob", long/10).held(),
			get(workerA).granted(),
		}},
		{"EXCL-2", "a refused Acquire does not delay the end of the lease", needMove, program{
			acquire(workerA, "alice", long).granted(),
			acquire(workerB, "bob", 3*long).held(),
			end(2),
			acquire(workerB, "bob", long).granted(),
		}},
		{"EXCL-3", "a free key goes to the first who asks", 0, program{
			acquire(workerA, "alice", long).granted(),
			acquire(workerB, "bob", long).held(),
			acquire(workerC, "carol", long).held(),
		}},
		{"EXCL-4", "the holder that acquires again has the same grant, with the new expiry", 0, program{
			acquire(workerA, "alice", long).granted(),
			acquire(workerA, "alice", 2*long).granted(),
			get(workerB).granted(),
			acquire(workerB, "alice", long/2).granted(),
			get(workerA).granted(),
		}},
		{"EXCL-4", "others are judged by the expiry that Acquire returned last", needMove, program{
			acquire(workerA, "alice", long).granted(),
			acquire(workerA, "alice", 2*long).granted(),
			pass(long + long/2),
			acquire(workerB, "bob", long).held(),
			acquire(workerA, "alice", long/10).granted(),
			pass(long / 5),
			acquire(workerB, "bob", long).granted(),
		}},
	}
	for _, pair := range [][2]string{
		{"alice", "Alice"}, {"alice", "alice "}, {"jos\u00e9", "jose\u0301"}, {"w1", "w10"}, {"w10", "w1"}, {"alice ", "alice"}, {"…a", "…b"},
		{"7", "07"}, {"team:a", "team:b"},
	} {
		list = append(list, example{"EXCL-6", "holders " + shown(pair[0]) + " and " + shown(pair[1]) + " are two", 0, program{
			acquire(workerA, pair[0], long).granted(),
			acquire(workerB, pair[1], long).held(),
			get(workerA).granted(),
		}})
	}
	return list
}

// tokenExamples are about the fencing tokens, away from the largest ones.
func tokenExamples() []example {
	return []example{
		{"TOKEN-1", "the first token is greater than 0", 0, program{
			acquire(workerA, "alice", long).granted(),
		}},
		{"TOKEN-2", "tokens rise from grant to grant, whoever gets it", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted().named("b"),
			release(workerB, "b").done(),
			acquire(workerB, "bob", long).granted().named("b2"),
			release(workerB, "b2").done(),
			acquire(workerA, "alice", long).granted(),
		}},
		{"TOKEN-2", "tokens rise after an expiry, for the same holder too", 0, program{
			acquireShort(workerA, "alice").granted(),
			end(2),
			acquireShort(workerA, "alice").granted(),
			end(2),
			acquire(workerB, "bob", long).granted(),
		}},
		{"TOKEN-3", "the token stays the same for the whole grant", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			renew(workerA, "a", long).granted().named("a2"),
			renew(workerA, "a2", 2*long).granted(),
			acquire(workerA, "alice", long).granted(),
			get(workerB).granted(),
		}},
		{"TOKEN-4", "Release does not reset the counter", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted().named("b"),
			release(workerB, "b").done(),
			get(workerC).notHeld(),
			acquire(workerC, "carol", long).granted(),
		}},
		{"TOKEN-4", "Release does not reset the counter, after some minutes either", needMove, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted().named("b"),
			release(workerB, "b").done(),
			pass(3 * long),
			get(workerC).notHeld(),
			acquire(workerC, "carol", long).granted(),
		}},
		{"TOKEN-5", "years of idleness do not reset the counter", needMove, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted(),
			end(2),
			pass(3 * 365 * day),
			acquire(workerC, "carol", long).granted(),
			end(2),
			pass(20 * 365 * day),
			acquire(workerA, "alice", long).granted(),
		}},
		{"TOKEN-5", "years of idleness do not reset the counter, though others look at the key", needMove, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted(),
			end(2),
			get(workerC).notHeld(),
			pass(2 * 365 * day),
			get(workerA).notHeld(),
			acquire(workerC, "carol", long).granted(),
		}},
		{"TOKEN-6", "keys have tokens of their own", 0, program{
			acquire(workerA, "alice", long).granted(),
			acquire(workerB, "alice", long).on("other-%").granted().named("o"),
			release(workerB, "o").done(),
			acquire(workerB, "bob", long).on("other-%").granted(),
			get(workerA).granted(),
		}},
		{"TOKEN-7", "a later grant has a greater token, whichever worker asks", 0, program{
			acquire(workerA, "alice", long).granted().named("a"),
			release(workerB, "a").done(),
			acquire(workerB, "bob", long).granted().named("b"),
			release(workerC, "b").done(),
			acquire(workerC, "carol", long).granted().named("c"),
			release(workerA, "c").done(),
			acquire(workerA, "alice", long).granted(),
		}},
	}
}

// seedExamples are about tokens that no float64 and, at last, no int64 holds.
func seedExamples() []example {
	var list []example
	for _, start := range []int64{1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<62 + 1} {
		list = append(list, example{"TOKEN-8", "tokens are exact beyond " + shownInt(start), needSeed, program{
			seed(start),
			acquire(workerA, "alice", long).granted().named("a"),
			get(workerB).granted(),
			renew(workerA, "a", long).altered(tokenDown).lost(),
			renew(workerA, "a", long).altered(tokenUp).lost(),
			renew(workerA, "a", 2*long).granted(),
			acquire(workerA, "alice", long).granted(),
			release(workerA, "a").altered(tokenUp).stale(),
			get(workerB).granted(),
			release(workerA, "a").done(),
			acquire(workerB, "bob", long).granted(),
			renew(workerA, "a", long).lost(),
			get(workerB).granted(),
		}})
	}
	return append(list,
		example{"TOKEN-9", "a counter at its end gives an error and grants nothing", needSeed, program{
			seed(1<<63 - 1),
			acquire(workerA, "alice", long),
			get(workerB).notHeld(),
			acquire(workerB, "bob", long),
			get(workerA).notHeld(),
		}},
		example{"TOKEN-9", "the last token is not followed by another", needSeed, program{
			seed(1<<63 - 2),
			acquire(workerA, "alice", long).named("a"),
			release(workerA, "a"),
			acquire(workerB, "bob", long),
			acquire(workerA, "alice", long),
			get(workerA).notHeld(),
		}},
	)
}
