// Package benchreport is what a run of leasebench found, and its forms: a table, JSON,
// the format of Go benchmarks, an HdrHistogram log, which can be merged with those of
// other machines, percentile files and a page with plots.
package benchreport

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The names of those who make the calls of a workload.
const (
	Lease = "lease" // the project's own backend
	Floor = "floor" // the same number of bare round trips
)

// Report is the result of one run, or of several that were merged.
type Report struct {
	Schema  string    `json:"schema"` // [Schema]
	RunID   string    `json:"run_id"`
	Started time.Time `json:"started"`
	Merged  int       `json:"merged,omitempty"` // of how many runs; 0 for one

	// Incomplete says why the run ended before its time, or "". Its figures are
	// right for what was measured.
	Incomplete string `json:"incomplete,omitempty"`

	Machine Machine `json:"machine"`
	Setup   Setup   `json:"setup"`
	Rows    []*Row  `json:"rows"`

	// Skipped are the workloads that were asked for and not measured.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a workload that was not measured on a target.
type Skipped struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	Why      string `json:"why"`
}

// Schema names the form of the JSON. It changes when a field changes its meaning.
const Schema = "leasebench/1"

// Machine is where the run was made. Of a merged report it is the first one's.
type Machine struct {
	GOOS   string `json:"goos"`
	GOARCH string `json:"goarch"`
	Go     string `json:"go"`
	CPUs   int    `json:"cpus"`
}

// Setup is how the calls were made.
type Setup struct {
	Workers    int           `json:"workers"`
	Rate       float64       `json:"rate,omitempty"` // calls per second; 0: a closed loop
	Warmup     time.Duration `json:"warmup_ns"`
	Duration   time.Duration `json:"duration_ns,omitempty"` // of each row
	Count      int64         `json:"count,omitempty"`       // of each row, in place of Duration
	TTL        time.Duration `json:"ttl_ns"`
	Keys       int           `json:"keys"`
	Background bool          `json:"background,omitempty"` // the calls' context can't end
}

// Row is one workload, on one target, by one of those who are compared.
type Row struct {
	Target   string `json:"target"`
	Workload string `json:"workload"`
	By       string `json:"by"` // [Lease], [Floor] or a peer

	Workers  int           `json:"workers"` // what the workload made of Setup.Workers
	Calls    int64         `json:"calls"`   // that were made, refused ones included
	Refused  int64         `json:"refused,omitempty"`
	Elapsed  time.Duration `json:"elapsed_ns"`
	PerSec   float64       `json:"calls_per_second"`
	Sampled  int64         `json:"latency_of_one_call_in"` // 1: every call was timed
	Unserved int64         `json:"unserved,omitempty"`     // were due in an open loop and never begun

	// Errors counts the calls that failed, by the kind of error.
	Errors map[string]int64 `json:"errors,omitempty"`

	// Ratio is the row's median time for a call as a multiple of the floor's: the
	// median of those of all rounds. RatioLow and RatioHigh are the quartiles.
	Ratio     float64 `json:"ratio,omitempty"`
	RatioLow  float64 `json:"ratio_low,omitempty"`
	RatioHigh float64 `json:"ratio_high,omitempty"`

	Allocs Cost `json:"allocs"` // objects per call
	Bytes  Cost `json:"bytes"`  // per call
	Server Cost `json:"server_us"`

	Latency Latency `json:"latency_ns"`
	Rounds  []Round `json:"rounds"`

	Hist *hdrhistogram.Histogram `json:"-"` // ns
}

// Cost is a figure that is not always known.
type Cost struct {
	Known bool    `json:"known"`
	Value float64 `json:"value,omitempty"`
}

// Latency are the percentiles of a row, in ns.
type Latency struct {
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	P999 int64   `json:"p99_9"`
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
}

// Round is one turn of a row. The rows of a workload take turns, so that whatever
// else the machine does hits all of them alike.
type Round struct {
	Calls   int64         `json:"calls"`
	Elapsed time.Duration `json:"elapsed_ns"`
	Mean    float64       `json:"mean_ns"` // what a call took its worker
	P50     int64         `json:"p50_ns"`
	P99     int64         `json:"p99_ns"`
	Ratio   float64       `json:"ratio,omitempty"` // of P50 to the floor's in this round; of Mean if Sampled is above 1
	Allocs  float64       `json:"allocs"`
	Bytes   float64       `json:"bytes"`
}

// The range of the histograms, in ns, and the digits to which they are exact.
const (
	histLow    = 1
	histHigh   = int64(time.Hour)
	histDigits = 3
)

// NewHistogram returns a histogram for a row.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(histLow, histHigh, histDigits)
}

// Record adds a latency, cut to what the histogram can hold.
func Record(h *hdrhistogram.Histogram, d time.Duration) {
	// It fails for values out of range alone.
	_ = h.RecordValue(min(max(int64(d), histLow), histHigh))
}

// Finish fills in what follows from the histogram and the rounds.
func (r *Row) Finish() {
	if r.Elapsed > 0 {
		r.PerSec = float64(r.Calls) / r.Elapsed.Seconds()
	}
	r.Latency = latencyOf(r.Hist)
	var ratios []float64
	for _, round := range r.Rounds {
		if round.Ratio > 0 {
			ratios = append(ratios, round.Ratio)
		}
	}
	slices.Sort(ratios)
	r.Ratio, r.RatioLow, r.RatioHigh = quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75)
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	if h == nil || h.TotalCount() == 0 {
		return Latency{}
	}
	return Latency{
		P50: h.ValueAtQuantile(50), P90: h.ValueAtQuantile(90), P99: h.ValueAtQuantile(99), P999: h.ValueAtQuantile(99.9),
		Max: h.Max(), Mean: h.Mean(),
	}
}

// quantile returns the value at q of sorted, between two of them if need be, or 0.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// ErrorCount is how many calls failed.
func (r *Row) ErrorCount() int64 {
	var n int64
	for _, k := range r.Errors {
		n += k
	}
	return n
}
