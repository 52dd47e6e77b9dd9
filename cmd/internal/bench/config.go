package bench

import (
	"time"

	"github.com/leasekit/lease/cmd/internal/target"
)

// Config is what a run is to measure. [Run] expects it to make sense.
type Config struct {
	RunID     string
	Targets   []*target.Target
	Workloads []*Workload

	Workers  int
	Rate     float64       // calls per second of all workers together; 0: a closed loop
	Warmup   time.Duration // of each row, not counted
	Duration time.Duration // of each row
	Count    int64         // calls of each row, in place of Duration; 0: none

	TTL         time.Duration // of leases that are not meant to expire
	TakeoverTTL time.Duration // of leases that are
	Poll        time.Duration // pause of one who waits for a key, between two attempts
	Keys        int           // of many-keys
	Peers       bool          // measure the other lock libraries too, on a Redis
	Background  bool          // give calls a context that can't end

	// Progress is told what is being done, as a line of text, and how much of the
	// whole is done: 0 to 1. It may be nil.
	Progress func(doing string, done float64)
}
