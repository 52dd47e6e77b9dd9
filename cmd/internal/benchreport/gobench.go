package benchreport

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteGoBench writes the report in the format of Go benchmarks, so that benchstat
// can compare two runs. Each round is a line, a sample for benchstat; the
// percentiles of the whole row are one more.
func WriteGoBench(w io.Writer, r *Report) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: github.com/leasekit/lease/cmd/leasebench\n", r.Machine.GOOS, r.Machine.GOARCH)
	// Not as a setting: benchstat compares runs only where those are the same.
	fmt.Fprintf(out, "# run %s, %s\n", r.RunID, r.Started.Format(time.RFC3339))
	if r.Incomplete != "" {
		fmt.Fprintf(out, "incomplete: %s\n", r.Incomplete)
	}
	for _, row := range r.Rows {
		name := benchName(row)
		for _, round := range row.Rounds {
			if round.Calls == 0 {
				continue
			}
			fmt.Fprintf(out, "%s\t%d\t%.1f ns/op\t%d p50-ns/op\t%d p99-ns/op", name, round.Calls, round.Mean, round.P50, round.P99)
			if round.Ratio > 0 {
				fmt.Fprintf(out, "\t%.3f x-floor", round.Ratio)
			}
			if row.Allocs.Known {
				fmt.Fprintf(out, "\t%.1f B/op\t%.2f allocs/op", round.Bytes, round.Allocs)
			}
			out.WriteByte('\n')
		}
		if row.Calls > 0 {
			fmt.Fprintf(out, "%s\t%d\t%.1f calls/s\t%d p90-ns/op\t%d p99.9-ns/op\t%d max-ns/op\t%d errors\n", name, row.Calls,
				row.PerSec, row.Latency.P90, row.Latency.P999, row.Latency.Max, row.ErrorCount())
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// benchName is such as BenchmarkAcquireRelease/target=redis/by=lease/workers=1. The
// address of the server is left out, so that two servers can be compared.
func benchName(r *Row) string {
	var name strings.Builder
	for part := range strings.SplitSeq(r.Workload, "-") {
		if part != "" {
			name.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	kind, rest, _ := strings.Cut(r.Target, ":")
	if kind == "embedded" {
		kind += "-" + rest
	}
	return fmt.Sprintf("Benchmark%s/target=%s/by=%s/workers=%d", name.String(), kind, r.By, r.Workers)
}
