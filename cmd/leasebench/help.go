package main

import (
	"strings"

	"github.com/leasekit/lease/cmd/internal/target"
)

// help is the text of -help.
func help() string {
	return helpHead + indent(strings.TrimSuffix(target.Forms, "\n")) + helpTail
}

const helpHead = `Leasebench measures how fast a lease is on your server, and what it costs there.

    leasebench [flags] [DSN ...]   measure; without a DSN: memory, and Redis and SQLite
                                   in this process, in some 15 s
    leasebench list                say what the workloads are
    leasebench merge [flags] LOG ...
                                   make one result of the logs (-log) of several machines
    leasebench help                this text

Begin with

    leasebench                                          what it looks like; needs nothing
    leasebench redis://127.0.0.1:6379                   your Redis
    leasebench -peers redis://127.0.0.1:6379            redislock and redsync beside it
    leasebench -workload renew -rate 500 -workers 8 postgres://user:password@db/app
                                                        latency at a given load
    leasebench -html report.html -duration 10s mysql://user:password@db/app
                                                        plots

Read the column "x floor" first. The floor is the same number of bare round trips – a
script that does nothing, a raw upsert, SELECT 1, a map and a mutex – made in turns with
the calls, over the same connections: 1.2 means that a call takes 1.2 times what the
network and the server take anyway. Times alone tell little on a machine that does
other things too. "server" is the time that the server itself says it has spent: a
Redis does, and a PostgreSQL where the extension pg_stat_statements is there to be seen.

A DSN is one of

`

const helpTail = `

What to measure:

    -workload LIST    workloads, with commas between them; see leasebench list (all)
    -peers            the same by redislock and redsync, on a Redis
    -keys N           how many keys many-keys goes round (10000)
    -ttl D            of leases that are not meant to expire (1m)
    -takeover-ttl D   of those that are, in takeover (20ms)
    -poll D           the pause of one who waits for a key, between attempts (0s: none)

How:

    -workers N        so many make calls at once, each the next one when it has its
                      answer: a closed loop (1)
    -rate R           begin R calls per second, spread over the workers: an open loop.
                      Latency counts from when a call was due, so that a stall of the
                      server shows in all calls that it delayed
    -duration D       measure each row for so long (1s; 120ms without a DSN)
    -count N          or for so many calls
    -warmup D         before that, not counted (a fifth of -duration, at most 1s)
    -background       give calls a context that can't end, which is cheaper on Redis

Results:

    -o FORMAT         table, json, or bench for benchstat (table)
    -json             same as -o json
    -html FILE        one page with plots, that needs nothing else
    -log FILE         an HdrHistogram log, for leasebench merge
    -hgrm FOLDER      a percentile file for each row, for HdrHistogram's plotter
    -run-id ID        names the run; give all parts of one run the same (random)
    -yes              really use more than 1000000 keys

Many machines: start leasebench on each, with one -run-id and a -log of its own, by
whatever starts your jobs, and merge the logs; kubernetes-job.yaml beside the source is
an example. Rates add up, latencies become one distribution.

Compare two runs: leasebench -o bench … >old, later >new, then benchstat old new.

Safety: in a Redis all keys have names with "leasebench:" and something random, in a SQL
database the run makes tables of such names; both are removed at the end, after Ctrl-C
too. What you have there is left alone, and the server's settings are never changed. It
does load the server. Ctrl-C ends the run and shows what there is, marked as incomplete.

Exit code: 0 measured, 1 failed or ended early, 2 wrong flags, DSN or ttl.
`

// indent moves each line, and breaks those that are too long.
func indent(text string) string {
	const margin, width = "    ", 86
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= width {
			out.WriteString(margin + line + "\n")
			continue
		}
		row := ""
		for _, word := range strings.Fields(line) {
			if row != "" && len(row)+1+len(word) > width {
				out.WriteString(margin + row + "\n")
				row = ""
			}
			row = strings.TrimPrefix(row+" "+word, " ")
		}
		out.WriteString(margin + row + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}
