package benchreport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

var update = flag.Bool("update", false, "write the golden files again")

// sample is a report of made-up figures, a part of a run.
func sample(part int) *Report {
	r := &Report{
		Schema: Schema, RunID: "sample", Started: time.Date(2024, 2, 29, 12, 0, part, 0, time.UTC),
		Machine: Machine{GOOS: "linux", GOARCH: "amd64", Go: "go1.26.8", CPUs: 2},
		Setup:   Setup{Workers: 1, Warmup: 100 * time.Millisecond, Duration: time.Second, TTL: time.Minute, Keys: 10_000},
		Skipped: []Skipped{{Target: "redis://127.0.0.1:6379", Workload: "fenced-write", Why: "there is none"}},
	}
	add := func(target, workload, by string, base int64, change func(*Row)) {
		row := &Row{
			Target: target, Workload: workload, By: by, Workers: 1, Sampled: 1, Hist: NewHistogram(),
			Allocs: Cost{Known: true, Value: 12}, Bytes: Cost{Known: true, Value: 640}, Server: Cost{Known: true, Value: 3.5},
		}
		for round := range 4 {
			h := NewHistogram()
			for i := range 500 {
				// A tail: one call in 500 takes ten times as long.
				ns := base + int64(part)*base/10 + int64(round)*base/20 + int64(i)*base/1000
				if i == 499 {
					ns *= 10
				}
				Record(h, time.Duration(ns))
			}
			l := latencyOf(h)
			one := Round{Calls: h.TotalCount(), Elapsed: time.Duration(l.Mean * 500), Mean: l.Mean, P50: l.P50, P99: l.P99, Allocs: 12, Bytes: 640}
			if by != Floor {
				one.Ratio = 1.1 + 0.05*float64(round)
			}
			row.Rounds = append(row.Rounds, one)
			row.Calls += one.Calls
			row.Elapsed += one.Elapsed
			row.Hist.Merge(h)
		}
		if change != nil {
			change(row)
		}
		row.Finish()
		r.Rows = append(r.Rows, row)
	}
	const redis = "redis://127.0.0.1:6379"
	add(redis, "acquire-release", Floor, 80_000, nil)
	add(redis, "acquire-release", Lease, 96_000, nil)
	add(redis, "acquire-release", "redislock", 90_000, nil)
	add(redis, "hot-key", Floor, 80_000, nil)
	add(redis, "hot-key", Lease, 2_000_000, func(r *Row) {
		r.Workers, r.Refused, r.Unserved, r.Errors = 4, 1200, 7, map[string]int64{"timeout": 3, "network": 1}
	})
	add("memory:", "get", Floor, 25, func(r *Row) { r.Sampled, r.Server = 64, Cost{} })
	add("memory:", "get", Lease, 150, func(r *Row) { r.Sampled, r.Server, r.Allocs = 16, Cost{}, Cost{Known: true} })
	add("embedded:redis", "get", Lease, 150_000, func(r *Row) { r.Server, r.Allocs, r.Bytes = Cost{}, Cost{}, Cost{} })
	return r
}

func TestGolden(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *Report) error{
		"table.txt": WriteTable, "report.json": WriteJSON, "bench.txt": WriteGoBench, "merged.txt": func(w io.Writer, r *Report) error {
			whole, err := Merge([]*Report{r, sample(1), sample(2)})
			return errors.Join(err, WriteTable(w, whole))
		}, "incomplete.txt": func(w io.Writer, r *Report) error {
			r.Incomplete, r.Rows, r.Skipped = "it was ended before its time", r.Rows[:2], nil
			return WriteTable(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got, sample(0)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("got\n%s\nwant %s (go test -update writes it again)\n%s", got.String(), file, want)
			}
		})
	}
}

// The whole is what one histogram has of all values, and the logs of three parts are
// merged after they were written and read.
func TestMergeOfThreeLogsIsTheWhole(t *testing.T) {
	var parts []*Report
	whole := sample(0)
	for part := range 3 {
		r := sample(part)
		if part > 0 {
			for i, row := range r.Rows {
				whole.Rows[i].Hist.Merge(row.Hist)
			}
		}
		var log bytes.Buffer
		if err := WriteLog(&log, r); err != nil {
			t.Fatal(err)
		}
		read, err := ReadLog(&log)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, read)
	}
	merged, err := Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	if merged.Merged != 3 || len(merged.Rows) != len(whole.Rows) {
		t.Fatalf("got %d rows of %d runs, want %d of 3", len(merged.Rows), merged.Merged, len(whole.Rows))
	}
	for i, row := range merged.Rows {
		if want := latencyOf(whole.Rows[i].Hist); !within(row.Latency, want) {
			t.Errorf("%s by %s: got %+v, want %+v", row.Workload, row.By, row.Latency, want)
		}
		var calls int64
		rate := 0.0
		for part := range 3 {
			calls += sample(part).Rows[i].Calls
			rate += sample(part).Rows[i].PerSec
		}
		if row.Calls != calls || row.PerSec < rate*0.999 || row.PerSec > rate*1.001 {
			t.Errorf("%s by %s: got %d calls, %v a second, want %d and %v", row.Workload, row.By, row.Calls, row.PerSec, calls, rate)
		}
	}
	if n := merged.Rows[4].Errors["timeout"]; n != 9 {
		t.Errorf("got %d timeouts, want 9", n)
	}
}

// within tells whether two distributions agree but for the error of a histogram that
// is exact to three digits.
func within(got, want Latency) bool {
	near := func(a, b float64) bool { return a >= b*0.999 && a <= b*1.001 }
	return near(float64(got.P50), float64(want.P50)) && near(float64(got.P90), float64(want.P90)) && near(float64(got.P99), float64(want.P99)) &&
		near(float64(got.P999), float64(want.P999)) && near(float64(got.Max), float64(want.Max)) && near(got.Mean, want.Mean)
}

func TestMergeRefusesWhatDoesNotBelongTogether(t *testing.T) {
	for name, change := range map[string]func(*Report){
		"another run": func(r *Report) { r.RunID = "other" },
		"other flags": func(r *Report) { r.Setup.Workers = 2 },
	} {
		other := sample(1)
		change(other)
		if _, err := Merge([]*Report{sample(0), other}); err == nil {
			t.Errorf("%s: merged, want an error", name)
		}
	}
	part := sample(1)
	part.Incomplete = "it was ended before its time"
	whole, err := Merge([]*Report{sample(0), part})
	if err != nil || whole.Incomplete == "" {
		t.Errorf("a part that is incomplete: got %q, %v, want a whole that is marked", whole.Incomplete, err)
	}
}

func TestLogsThatAreNone(t *testing.T) {
	var log bytes.Buffer
	if err := WriteLog(&log, sample(0)); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(log.String(), "\n")
	for name, text := range map[string]string{
		"empty":           "",
		"another file":    "hello\n",
		"cut off":         strings.Join(lines[:len(lines)-2], ""),
		"another schema":  strings.Replace(log.String(), Schema, "leasebench/999", 1),
		"rows exchanged":  strings.Join(append(lines[:4:4], lines[5], lines[4]), ""),
		"a damaged head":  strings.Replace(log.String(), `"run_id"`, `run_id`, 1),
		"a damaged count": strings.Replace(log.String(), "HISTF", "HISTX", 1),
	} {
		if _, err := ReadLog(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read, want an error", name)
		}
	}
}

// What benchstat reads, it understands.
func TestGoBenchIsRead(t *testing.T) {
	var out bytes.Buffer
	if err := WriteGoBench(&out, sample(0)); err != nil {
		t.Fatal(err)
	}
	samples := map[string]int{}
	settings := map[string]bool{}
	r := benchfmt.NewReader(&out, "bench.txt")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.Result:
			for _, c := range rec.Config {
				settings[c.Key] = true
			}
			for _, unit := range []string{"sec/op", "p50-sec/op", "x-floor"} {
				if _, ok := rec.Value(unit); ok {
					samples[fmt.Sprintf("%s %s", rec.Name.Full(), unit)]++
				}
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	// benchstat does not compare runs whose settings differ.
	for key := range settings {
		if !slices.Contains([]string{"goos", "goarch", "pkg", ".file"}, key) {
			t.Errorf("%q is a setting, by which benchstat keeps runs apart", key)
		}
	}
	for _, name := range []string{
		"AcquireRelease/target=redis/by=lease/workers=1 sec/op",
		"AcquireRelease/target=redis/by=lease/workers=1 x-floor",
		"Get/target=embedded-redis/by=lease/workers=1 p50-sec/op",
	} {
		if samples[name] != 4 {
			t.Errorf("%s: got %d samples, want 4; all: %v", name, samples[name], samples)
		}
	}
}

func TestJSONIsRead(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, sample(0)); err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != len(sample(0).Rows) || got.Rows[0].Latency != sample(0).Rows[0].Latency {
		t.Errorf("got other rows back: %+v", got.Rows)
	}
}

// The page has two plots for each workload, with a line for each row, and nothing in
// it is fetched from elsewhere.
func TestPage(t *testing.T) {
	r := sample(0)
	r.RunID = "<script>x</script>"
	var out bytes.Buffer
	if err := WriteHTML(&out, r); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "<svg"); n != 8 {
		t.Errorf("got %d plots, want 8", n)
	}
	for _, bad := range []string{"<script", "src=", "<link", "@import", "url("} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "<svg")
		if !ok {
			break
		}
		one, after, _ := strings.Cut(after, "</svg>")
		rest = after
		dec := xml.NewDecoder(strings.NewReader("<svg" + one + "</svg>"))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("a plot is no XML: %v", err)
			}
		}
	}
}

// A row that has measured nothing, and one of a single call, are shown too.
func TestPageOfAlmostNothing(t *testing.T) {
	for calls := range 2 {
		row := &Row{Target: "memory:", Workload: "get", By: Lease, Sampled: 1, Hist: NewHistogram(), Calls: int64(calls)}
		for range calls {
			Record(row.Hist, time.Microsecond)
			row.Rounds = []Round{{Calls: 1, Elapsed: time.Microsecond, Mean: 1000}}
		}
		row.Finish()
		if err := WriteHTML(io.Discard, &Report{Rows: []*Row{row}}); err != nil {
			t.Errorf("%d calls: %v", calls, err)
		}
	}
}

func TestPercentileFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	if err := WritePercentiles(dir, sample(0)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "02-redis-acquire-release-lease.hgrm"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "Percentile") || !strings.Contains(string(text), "#[Max") {
		t.Errorf("got no percentile file:\n%s", text)
	}
}

func TestFiguresAreShownWithThreeDigits(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0ns", 999: "999ns", 1000: "1µs", 12_345: "12.3µs", 999_999: "999µs", 1_000_000: "1ms", 12_345_678: "12.3ms", 999_999_999: "999ms", 61e9: "61s",
	} {
		if got := duration(ns); got != want {
			t.Errorf("%d ns: got %s, want %s", ns, got, want)
		}
	}
	for f, want := range map[float64]string{0: "0", 4.567: "4.57", 999.4: "999", 1000: "1 000", 1234567: "1 234 567"} {
		if got := number(f); got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
}
