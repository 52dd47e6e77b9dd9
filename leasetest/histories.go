package leasetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/internal/history"
)

// judgeTime is how long the judge may think about one history. The histories
// are kept so short that it needs some milliseconds.
const judgeTime = 10 * time.Second

// checkHistories lets workers make random calls on one key at the same time
// and asks whether any sequential order explains the replies (EXCL-5).
func (s *suite) checkHistories() { s.withStore("EXCL-5", s.checkRandomHistories) }

func (s *suite) checkRandomHistories(st *store) {
	overlapped := false
	s.rounds(func(i int) bool {
		key, calls := s.randomRound(st, i, nil)
		overlapped = overlapped || overlapping(calls)
		if s.contention(calls) {
			s.notChecked("EXCL-5", "can't be told apart from what breaks ERR-7")
			return false
		}
		return s.judgeHistory(st, "EXCL-5", key, calls)
	})
	if !overlapped {
		s.inconclusive("EXCL-5", "no two calls were ever out at the same time")
	}
	s.examined("EXCL-5")
}

// randomRound makes random calls on a fresh key: bursts of concurrent calls,
// with the server clock moved in between where that can be done. contextFor
// gives a call its context; nil means that no context ends.
func (s *suite) randomRound(st *store, round int, contextFor func(*rand.Rand) (context.Context, context.CancelFunc)) (string, []recorded) {
	key := st.freshName()
	r := newRecorder(st)
	ttls := []time.Duration{10 * time.Second, time.Minute, time.Hour}
	if !st.clock.movable() {
		ttls = []time.Duration{2 * time.Millisecond, 10 * time.Millisecond, time.Hour}
	}
	for i := range ttls {
		ttls[i] = st.ttl(ttls[i])
	}
	var mu sync.Mutex
	var leases []lease.Lease
	for burst := range 3 {
		together(s.knobs.workers, func(i int) {
			rnd := rand.New(rand.NewPCG(s.seed, uint64(round)<<16|uint64(burst)<<8|uint64(i)))
			for range 2 {
				c := acquireCall(key, holderOf(i), ttls[rnd.IntN(len(ttls))])
				mu.Lock()
				if n := len(leases); n > 0 {
					l := leases[n-1-rnd.IntN(min(n, 3))]
					switch roll := rnd.IntN(10); {
					case roll < 2:
						c = renewCall(l, ttls[rnd.IntN(len(ttls))])
					case roll < 5:
						c = releaseCall(l)
					case roll < 6:
						c = getCall(key)
					}
				}
				mu.Unlock()
				ctx, cancel := st.ctx, func() {}
				if contextFor != nil {
					ctx, cancel = contextFor(rnd)
				}
				got := r.do(ctx, i, c)
				cancel()
				if got.a.problem == "" && got.a.err == nil && (c.do == doAcquire || c.do == doRenew) {
					mu.Lock()
					leases = append(leases, got.granted())
					mu.Unlock()
				}
			}
		})
		if st.clock.movable() {
			st.clock.move(ttls[burst%2])
		}
	}
	return key, r.sorted()
}

// inHistories are the clauses known to fail that may show in a history of
// concurrent calls: names there are plain, ttls and tokens ordinary, arguments
// valid.
func (x *excuses) inHistories() []string {
	var ids []string
	for _, id := range x.any() {
		switch group, _, _ := strings.Cut(id, "-"); {
		case id == "KEY-1": // fresh names may meet others as well
			ids = append(ids, id)
		case group == "KEY", group == "ARG", group == "HOLD", group == "FENCE":
		case id == "EXCL-6", id == "TOKEN-8", id == "TOKEN-9", id == "TOKEN-10", id == "TOKEN-11":
		case id == "EXPIRY-4", id == "EXPIRY-6", id == "EXPIRY-7", id == "EXPIRY-8", id == "EXPIRY-9":
		case group == "ERR" && id != "ERR-3" && id != "ERR-7" && id != "ERR-8":
		default:
			ids = append(ids, id)
		}
	}
	return ids
}

// judgeHistory asks the judge, and says whether another round is worth its
// time.
func (s *suite) judgeHistory(st *store, id, key string, calls []recorded) bool {
	h := historyOf(st, key, 0, calls)
	switch history.Judge(h, judgeTime) {
	case history.Ok:
		return true
	case history.Unknown:
		s.inconclusive(id, fmt.Sprintf("the judge did not finish a history of %d calls within %v", len(calls), judgeTime))
		return false
	}
	if known := s.excuses.inHistories(); len(known) > 0 {
		s.notChecked(id, "histories can't be told apart from what breaks "+strings.Join(known, ", "))
		return false
	}
	h = history.Shorten(h, judgeTime)
	f := &finding{
		clause:  id,
		problem: fmt.Sprintf("no sequential order of these %d calls on key %s explains their replies", len(h.Calls), shown(key)),
		events:  events(fromHistory(h, calls)),
	}
	if dir, err := s.saveDir(); err != nil {
		f.problem += fmt.Sprintf(" (not saved: %v)", err)
	} else if files, err := history.Save(h, dir, fileName(s.name)+"-"+id+"-"+key, judgeTime); err != nil {
		f.problem += fmt.Sprintf(" (not saved: %v)", err)
	} else {
		f.files = files
	}
	s.fail(f, fmt.Sprintf("%d workers making random calls at once", s.knobs.workers), s.seed)
	return false
}
