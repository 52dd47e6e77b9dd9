package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/leasekit/lease"

	"github.com/leasekit/lease/cmd/internal/benchreport"
)

// ErrTTL is returned when the ttl is too short for the store.
var ErrTTL = errors.New("the ttl is too short")

// Run measures. If ctx ends it returns what was measured until then, marked as
// incomplete. With an error there is no report.
func Run(ctx context.Context, c *Config) (*benchreport.Report, error) {
	r := &benchreport.Report{
		Schema: benchreport.Schema, RunID: c.RunID, Started: time.Now().UTC(),
		Machine: benchreport.Machine{GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0)},
		Setup: benchreport.Setup{
			Workers: c.Workers, Rate: c.Rate, Warmup: c.Warmup, Duration: c.Duration, Count: c.Count, TTL: c.TTL, Keys: c.Keys,
			Background: c.Background,
		},
	}
	if c.Count > 0 {
		r.Setup.Duration = 0
	}
	own := clockCost()
	for i, t := range c.Targets {
		s, err := openStore(ctx, c, t, runName(rand.Text()))
		var tidy error
		if err == nil {
			err = s.measure(ctx, c, r, i, own)
			tidy = s.close(ctx)
		}
		if ctx.Err() != nil && tidy == nil {
			r.Incomplete = "it was ended before its time"
			break
		}
		if err := errors.Join(err, tidy); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// clockCost is what timing a call costs: two looks at the clock and one at the
// histogram.
func clockCost() time.Duration {
	const n = 20_000
	h, began := benchreport.NewHistogram(), time.Now()
	for range n {
		start := time.Since(began)
		benchreport.Record(h, time.Since(began)-start)
	}
	return time.Since(began) / n
}

// measure appends the rows of all workloads on one store.
func (s *store) measure(ctx context.Context, c *Config, r *benchreport.Report, at int, own time.Duration) error {
	trip, err := s.roundTrip(ctx)
	if err != nil {
		return err
	}
	for what, ttl := range map[string]time.Duration{"-ttl": c.TTL, "-takeover-ttl": c.TakeoverTTL} {
		if ttl < 2*trip {
			return fmt.Errorf("%w: %s is %v, and one round trip to %s takes %v; give at least %v", ErrTTL, what, ttl, s.target.Name, trip, (10*trip).Round(time.Millisecond)+time.Millisecond)
		}
	}
	for i, w := range c.Workloads {
		if c.Progress != nil {
			done := float64(at*len(c.Workloads)+i) / float64(len(c.Targets)*len(c.Workloads))
			c.Progress(w.Name+" on "+s.target.Name, done)
		}
		for _, p := range s.peers {
			if why := s.why(w, p); w.lease == nil && why != "" {
				r.Skipped = append(r.Skipped, benchreport.Skipped{Target: s.target.Name, Workload: w.Name, Why: why})
			}
		}
		rows, err := s.rows(ctx, c, w)
		if err != nil {
			return fmt.Errorf("%s on %s: %w", w.Name, s.target.Name, err)
		}
		err = s.takeTurns(ctx, c, w, rows, own)
		for _, row := range rows {
			// Those that had no turn yet have nothing to show.
			if row.row.Calls > 0 {
				r.Rows = append(r.Rows, row.row)
			}
		}
		if err != nil {
			return fmt.Errorf("%s on %s: %w", w.Name, s.target.Name, err)
		}
	}
	return nil
}

// measured is a row that is being measured.
type measured struct {
	row      *benchreport.Row
	caller   *caller
	works    []string // the kinds of work that its calls are on the server
	firstErr error
	server   float64 // µs
	allocs   uint64
	bytes    uint64
}

// rows makes the rows of a workload, the floor first.
func (s *store) rows(ctx context.Context, c *Config, w *Workload) ([]*measured, error) {
	var rows []*measured
	add := func(by string, works []string, locks locker, make func(e *env) (call, error)) error {
		workers, common := workersOf(c, w), newShared(c, w)
		calls := []call{}
		for i := range workers {
			one, err := make(&env{ctx: ctx, c: c, worker: i, workers: workers, locks: locks, shared: common})
			if err != nil {
				return fmt.Errorf("by %s: %w", by, err)
			}
			calls = append(calls, one)
		}
		rows = append(rows, &measured{
			row: &benchreport.Row{
				Target: s.target.Name, Workload: w.Name, By: by, Workers: workers, Sampled: 1, Hist: benchreport.NewHistogram(),
			},
			caller: newCaller(w, calls, c.Rate),
			works:  works,
		})
		return nil
	}
	ofFloor, ofLease := s.works(w)
	err := add(benchreport.Floor, ofFloor, nil, func(e *env) (call, error) { return bareCall(e, w, s.floor), nil })
	switch {
	case err != nil:
	case w.lease != nil:
		err = add(benchreport.Lease, ofLease, nil, func(e *env) (call, error) { return w.lease(e, s.service, s.fence) })
	default:
		err = add(benchreport.Lease, ofLease, leaseLocker(s.service), w.with)
		for _, p := range s.peers {
			if err == nil && s.why(w, p) == "" {
				err = add(p.name, p.works, p.locker, w.with)
			}
		}
	}
	return rows, err
}

// why says why a peer can't make the calls of a workload here, or "".
func (s *store) why(w *Workload, p peer) string {
	if w.slow && s.target.Embedded && s.target.Kind.IsRedis() {
		return p.name + " relies on the expiry of keys, and those of the embedded Redis don't expire by themselves"
	}
	return p.cannot[w.Name]
}

// mostRounds and roundTime bound the rounds of a row: long enough to measure, and
// many enough that a disturbance hits few of them.
const (
	mostRounds = 100
	roundTime  = 20 * time.Millisecond
)

// rounds is how many rounds there are, and how much each row does in one.
func rounds(c *Config) (n int, long time.Duration, calls int64) {
	if c.Count > 0 {
		n := min(mostRounds, max(1, c.Count/10))
		return int(n), 0, (c.Count + n - 1) / n
	}
	n = min(mostRounds, max(1, int(c.Duration/roundTime)))
	return n, c.Duration / time.Duration(n), 0
}

// takeTurns measures all rows of a workload, round by round.
func (s *store) takeTurns(ctx context.Context, c *Config, w *Workload, rows []*measured, own time.Duration) error {
	callCtx := ctx
	if c.Background {
		callCtx = context.Background()
	}
	for _, m := range rows {
		if err := m.warmUp(ctx, callCtx, c, own); err != nil {
			return err
		}
	}
	n, long, calls := rounds(c)
	for i := range n {
		turns := map[*measured]benchreport.Round{}
		for j := range rows {
			m := rows[j]
			if i%2 == 1 { // there and back: nobody is always the first after another
				m = rows[len(rows)-1-j]
			}
			if ctx.Err() != nil {
				break
			}
			turns[m] = s.turn(ctx, callCtx, m, long, calls)
		}
		for _, m := range rows[1:] {
			if r := ratio(m, rows[0], turns); r > 0 {
				m.row.Rounds[len(m.row.Rounds)-1].Ratio = r
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	for _, m := range rows {
		if err := m.finish(); err != nil {
			return err
		}
		m.row.Finish()
		m.row.Allocs.Known = !(s.target.Embedded && s.target.Kind.IsRedis()) // the server allocates here too
		m.row.Bytes.Known = m.row.Allocs.Known
	}
	return ctx.Err()
}

// ratio compares a turn with that of the floor in the same round, by their medians: a
// few calls that the machine held up don't move those. Where only some of the calls
// were timed it has to be the means, since the clock's own cost is in the medians.
func ratio(m, floor *measured, turns map[*measured]benchreport.Round) float64 {
	own, bare := turns[m], turns[floor]
	if own.Calls == 0 || bare.Calls == 0 {
		return 0
	}
	if m.caller.sample > 1 || floor.caller.sample > 1 {
		return own.Mean / bare.Mean
	}
	return float64(own.P50) / float64(bare.P50)
}

// warmUp makes calls that don't count, and finds out how many of them to time.
func (m *measured) warmUp(ctx, callCtx context.Context, c *Config, own time.Duration) error {
	rate := m.caller.rate
	m.caller.rate = 0
	t := m.caller.take(ctx, callCtx, max(c.Warmup, time.Millisecond), 0)
	m.caller.rate, m.caller.active = rate, 0
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.calls == 0 {
		return nil
	}
	if failed := total(t.errors); failed == t.calls {
		return fmt.Errorf("by %s: all calls failed: %w", m.row.By, t.firstErr)
	}
	if mean := t.elapsed * time.Duration(len(m.caller.calls)) / time.Duration(t.calls); rate == 0 && mean < 50*own {
		// Timing is to cost 1 % at most.
		m.caller.sample = int64(100*own/max(mean, 1)) + 1
	}
	m.row.Sampled = m.caller.sample
	return nil
}

// turn has a row make its calls of one round.
func (s *store) turn(ctx, callCtx context.Context, m *measured, long time.Duration, calls int64) benchreport.Round {
	before := s.serverTime(ctx)
	t := m.caller.take(ctx, callCtx, long, calls)
	after := s.serverTime(ctx)
	row := m.row
	row.Calls += t.calls
	row.Refused += t.refused
	row.Elapsed += t.elapsed
	for kind, n := range t.errors {
		if row.Errors == nil {
			row.Errors, m.firstErr = map[string]int64{}, t.firstErr
		}
		row.Errors[kind] += n
	}
	m.allocs += t.allocs
	m.bytes += t.bytes
	row.Server.Known = len(m.works) > 0 && before != nil && after != nil
	for _, name := range m.works {
		m.server += after[name] - before[name]
	}
	round := benchreport.Round{Calls: t.calls, Elapsed: t.elapsed, Mean: t.mean}
	if t.calls > 0 {
		round.Allocs, round.Bytes = float64(t.allocs)/float64(t.calls), float64(t.bytes)/float64(t.calls)
	}
	if t.hist.TotalCount() > 0 {
		round.P50, round.P99 = t.hist.ValueAtQuantile(50), t.hist.ValueAtQuantile(99)
	}
	row.Hist.Merge(t.hist)
	row.Rounds = append(row.Rounds, round)
	return round
}

// finish fills in what a row has cost. A row whose calls all failed has measured
// nothing.
func (m *measured) finish() error {
	row := m.row
	if row.Calls == 0 {
		return nil
	}
	if row.ErrorCount() == row.Calls {
		return fmt.Errorf("by %s: all calls failed: %w", row.By, m.firstErr)
	}
	row.Unserved = m.caller.unserved(row.Hist)
	perCall := func(sum float64) float64 { return sum / float64(row.Calls) }
	row.Allocs.Value, row.Bytes.Value = perCall(float64(m.allocs)), perCall(float64(m.bytes))
	row.Server.Value = perCall(m.server)
	return nil
}

func total(counts map[string]int64) int64 {
	var sum int64
	for _, n := range counts {
		sum += n
	}
	return sum
}

// held tells whether a call was refused, which is an answer.
func held(err error) bool { return errors.Is(err, lease.ErrHeld) }
