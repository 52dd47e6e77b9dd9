package leasetest

// keyClauses are the clauses on keys, holders and namespaces.
var keyClauses = []Clause{
	{
		ID:       "KEY-1",
		Level:    Must,
		Sentence: "Distinct keys are independent, whatever they look like: case, blanks at the end, normal forms, prefixes of each other, separators, braces, wildcards, the backend's own internal suffixes.",
		Why:      "A collation, a hash or a suffix of the store's own makes two keys share one row: jobs that have nothing in common lock each other out.",
		Source:   "https://github.com/agentscope-ai/agentscope-java/issues/3217",
		How:      "Examples and random programs – families of look-alike keys are held side by side by different holders; every reply is judged by the model, key by key.",
	},
	{
		ID:       "KEY-2",
		Level:    Must,
		Sentence: "Two services with different namespaces on one store are independent, also where namespace and key joined give the same text.",
		Why:      "Namespace and key are joined without a separator that is safe, and two services meet on one record.",
		Source:   "https://github.com/codeforstartups/dynavec/pull/140",
		How:      "Examples – workers in namespaces that differ, chosen so that namespace and key joined read the same, take their keys side by side.",
		Needs:    "Worker.Namespace in Connect",
	},
	{
		ID:       "KEY-3",
		Level:    Must,
		Sentence: "Keys and holders come back byte for byte as given.",
		Why:      "A key that comes back with a prefix, trimmed or re-coded can't be renewed or released.",
		Source:   "https://github.com/constructorfabric/gears-rust/pull/4863",
		How:      "Examples and random programs – Key and Holder of every reply are compared, byte for byte, with what was given, and the lease that came back is the one used next.",
	},
}

// argumentClauses are the clauses on what a call may be given.
var argumentClauses = []Clause{
	{
		ID:       "ARG-1",
		Level:    Must,
		Sentence: "Keys and holders are UTF-8, 1 to 512 bytes, without NUL. Anything else is ErrInvalid; everything inside works.",
		Why:      "A key longer than the column is cut, or its error is taken for contention; a bad holder becomes a wildcard.",
		Source:   "https://github.com/laravel/framework/issues/60171",
		How:      "Examples – names empty, too long, with NUL and with broken UTF-8, and the longest and oddest good ones, in every argument of every call.",
	},
	{
		ID:       "ARG-2",
		Level:    Must,
		Sentence: "A ttl <= 0 is ErrInvalid. A ttl below the resolution is rounded up to it, never down to nothing.",
		Why:      "A ttl of 0, or one that is rounded to 0, deletes the live lease while the call reports success.",
		Source:   "https://github.com/redis/redis-py/issues/4279",
		How:      "Examples and random programs – ttls of 0 and below must be ErrInvalid; ttls from 1 ns up to the resolution must give a lease that lives.",
	},
	{
		ID:       "ARG-3",
		Level:    Must,
		Sentence: "Every positive ttl up to MaxTTL works – the largest time.Duration for the bundled backends: no overflow, no early expiry. Above it: ErrInvalid.",
		Why:      "now + ttl overflows: the longest lease anybody asks for is over before it began.",
		Source:   "https://github.com/data-accelerator/dart/issues/5",
		How:      "Examples and random programs – ttls up to MaxTTL in Acquire and Renew; where MaxTTL is declared, one above it must be ErrInvalid.",
	},
	{
		ID:       "ARG-4",
		Level:    Must,
		Sentence: "After ErrInvalid the store is as it was.",
		Why:      "The check comes too late, and a refused call has already spent a token or changed the record.",
		Source:   "https://github.com/redis/redis-py/pull/4286",
		How:      "Examples and random programs – after each ErrInvalid the store is judged against the state before the call.",
	},
}
