package leasetest

// renewClauses are the clauses on Renew.
var renewClauses = []Clause{
	{
		ID:       "RENEW-1",
		Level:    Must,
		Sentence: "Renew of the live grant sets its expiry to `now + ttl` – it may lengthen or shorten it – and keeps key, holder and token.",
		Why:      "A renewal that drops or only ever raises the expiry leaves a lease without an end, or one that can't be shortened.",
		Source:   "https://github.com/electric-sql/electric/pull/4353",
		How:      "Examples and random programs – renewals with longer and shorter ttls; the reply and the next Get are judged by the model.",
	},
	{
		ID:       "RENEW-2",
		Level:    Must,
		Sentence: "An expired lease cannot be renewed, even if nobody took the key.",
		Why:      "A holder that was late revives its lease under the old token, and never learns that others may have run in between.",
		Source:   "https://github.com/nearai/ironclaw/pull/3276",
		How:      "Examples and random programs – the lease is left to expire with no contender, then renewed; only ErrLost will do.",
	},
	{
		ID:       "RENEW-3",
		Level:    Must,
		Sentence: "A superseded lease cannot be renewed, and the attempt leaves the present grant untouched – also when the present holder has the same name.",
		Why:      "A worker that lost its lease prolongs its successor's, and keeps a dead one alive for ever.",
		Source:   "https://github.com/pikkujs/pikku/issues/1742",
		How:      "Examples and random programs – the old lease is renewed after another holder, or the same one again, took the key; Get must show the new grant untouched.",
	},
	{
		ID:       "RENEW-4",
		Level:    Must,
		Sentence: "A released lease cannot be renewed.",
		Why:      "A renewal that was under way when its worker released the key brings the lock back to life, with nobody to free it.",
		Source:   "https://github.com/leandromoreira/redlock-rb/issues/36",
		How:      "Examples and random programs – a released lease is renewed, on a key that is free and on one that is taken again; only ErrLost will do.",
	},
	{
		ID:       "RENEW-5",
		Level:    Must,
		Sentence: "Holder and token must both match; a made-up lease is ErrLost and changes nothing.",
		Why:      "A store that compares only part of the identity lets a guessed or mixed-up lease prolong somebody else's.",
		Source:   "https://github.com/anthony-chaudhary/fak/issues/12109",
		How:      "Examples and random programs – leases with a wrong holder, a wrong token, or never granted at all are renewed; only ErrLost will do, and nothing may change.",
	},
	{
		ID:       "RENEW-6",
		Level:    Must,
		Sentence: "Renewing again at once, with the same ttl and the same instant, is not a loss (a store that counts changed rows must not be fooled).",
		Why:      "A database that counts changed rows says 0 for a renewal that changes nothing, and a healthy holder stops its work.",
		Source:   "https://github.com/liquibase/liquibase/issues/5502",
		How:      "Examples and random programs – the same renewal is made again with the server clock where it was; it must succeed.",
	},
	{
		ID:       "RENEW-7",
		Level:    Must,
		Sentence: "A renewal whose reply was lost can be repeated with the lease in hand; only key, holder and token identify the grant.",
		Why:      "A renewal that swaps a version number leaves the worker, once a reply is lost, with a lease that conflicts with itself.",
		Source:   "https://github.com/akkadotnet/Akka.Management/pull/3418",
		How:      "Examples and random programs – a renewal's reply is thrown away, and the lease from before it is renewed again; ExpiresAt in hand may be anything.",
	},
}

// releaseClauses are the clauses on Release.
var releaseClauses = []Clause{
	{
		ID:       "RELEASE-1",
		Level:    Must,
		Sentence: "Release of the live grant frees the key at once for everybody, however often the grant was renewed or acquired again.",
		Why:      "A count of acquisitions, or a renewal that lives on, keeps a released key locked.",
		Source:   "https://github.com/redisson/redisson/issues/4822",
		How:      "Examples and random programs – the key is renewed and acquired again several times, released once, and at once acquired by another holder.",
	},
	{
		ID:       "RELEASE-2",
		Level:    Must,
		Sentence: "Release of a lease that is not the present grant changes nothing, whoever holds the key now – another holder, or the same one under a newer token.",
		Why:      "A slow worker's late release frees the lease of whoever has the key now.",
		Source:   "https://github.com/fazer-ai/baileys-api/pull/331",
		How:      "Examples and random programs – old leases are released after another holder, or the same one under a newer token, took the key; Get must show the new grant untouched.",
	},
	{
		ID:       "RELEASE-3",
		Level:    Must,
		Sentence: "Release is idempotent: for a well-formed lease on a reachable store, repeated, late or after expiry, it returns nil (ErrLost is tolerated).",
		Why:      "Cleaning up after an expiry, or a retry of a release whose reply was lost, ends in an error that nobody can act on.",
		Source:   "https://github.com/mike-marcacci/node-redlock/issues/65",
		How:      "Examples and random programs – leases are released twice, late and after expiry; any reply but nil and ErrLost fails.",
	},
	{
		ID:       "RELEASE-4",
		Level:    Must,
		Sentence: "A Lease value is portable: any worker that has it can renew or release it.",
		Why:      "A client that keeps its grants in its own memory can't pass a lease on, nor free it after a restart.",
		Source:   "https://github.com/redis/redis-py/issues/656",
		How:      "Examples and random programs – worker A acquires, worker B renews and releases what A was given.",
	},
}

// getClauses are the clauses on Get.
var getClauses = []Clause{
	{
		ID:       "GET-1",
		Level:    Must,
		Sentence: "Get returns the live grant exactly: key, holder, token, expiry.",
		Why:      "Monitoring, and workers that check before they write, act on a holder, a token or an expiry that is not so.",
		Source:   "https://github.com/cirello-io/dynamolock/issues/682",
		How:      "Examples and random programs – Get by every worker after each change; all four fields are judged by the model.",
	},
	{
		ID:       "GET-2",
		Level:    Must,
		Sentence: "Get returns ErrNotHeld for a key never taken, released or expired.",
		Why:      "A read that does not look at the time shows a holder that is long gone.",
		Source:   "https://github.com/alphaonedev/ai-memory-mcp/issues/3367",
		How:      "Examples and random programs – Get of keys never taken, released, and expired with no other call in between.",
	},
	{
		ID:       "GET-3",
		Level:    Must,
		Sentence: "Get changes nothing.",
		Why:      "A read that tidies up or touches the record ends or prolongs the lease that it only wanted to look at.",
		How:      "Examples and random programs – Gets are strewn between all other calls; the model changes nothing for them, and later replies are judged by it.",
	},
}
