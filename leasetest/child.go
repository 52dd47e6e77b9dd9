package leasetest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease/internal/cage"
)

// The skew check runs in a child process – this test binary once more,
// restricted to this test – because a client whose goroutines panic inside a
// bubble takes its process down. The environment tells the child what it is.
const (
	childTest  = "LEASETEST_SKEW_TEST"  // name and ordinal of the Run call that is meant
	childKnown = "LEASETEST_SKEW_KNOWN" // clauses that are known to fail, with commas between
	childFile  = "LEASETEST_SKEW_FILE"  // where the outcome goes
	childTime  = 2 * time.Minute
)

// runs counts the calls of Run in each running test: a test may call Run several
// times, and -count runs it several times.
var runs = struct {
	sync.Mutex
	of map[testing.TB]int
}{of: map[testing.TB]int{}}

func ordinal(t testing.TB) int {
	runs.Lock()
	defer runs.Unlock()
	if runs.of[t] == 0 {
		t.Cleanup(func() {
			runs.Lock()
			defer runs.Unlock()
			delete(runs.of, t)
		})
	}
	runs.of[t]++
	return runs.of[t]
}

// inSkewChild says whether this process is the child of a skew check.
func inSkewChild() bool { return os.Getenv(childTest) != "" }

func (s *suite) id() string { return fmt.Sprintf("%s#%d", s.name, s.ordinal) }

// runSkewChild is the child's part: the check that is asked for, and nothing
// else.
func (s *suite) runSkewChild() error {
	if os.Getenv(childTest) != s.id() {
		return nil
	}
	// A zone that is far from the parent's and, where the machine knows it, has
	// daylight saving: an expiry must not depend on it (EXPIRY-5).
	time.Local = time.FixedZone("skew", 5*3600+45*60)
	if zone, err := time.LoadLocation("America/St_Johns"); err == nil {
		time.Local = zone
	}
	st, err := s.open("set-up")
	if err != nil {
		return err
	}
	s.h, s.excuses = st.h, newExcuses(st.h)
	for _, id := range strings.Split(os.Getenv(childKnown), ",") {
		s.excuses.failed[id] = id != ""
	}
	s.close("", st)
	return cage.Leave(childFile, s.skewHere())
}

// skewInChild is the parent's part. Whatever ends the child early makes the
// check "not checked", with the child's last words.
func (s *suite) skewInChild() skewOutcome {
	var o skewOutcome
	ended, err := cage.Child{
		Args: s.childArgs(childTime), File: childFile,
		Env:    []string{childTest + "=" + s.id(), childKnown + "=" + strings.Join(s.excuses.any(), ",")},
		Limits: cage.Limits{Time: childTime},
	}.Run(s.ctx, &o)
	switch {
	case err != nil:
		return skewOutcome{NotChecked: err.Error()}
	case ended != nil:
		return skewOutcome{NotChecked: fmt.Sprintf("a worker with a wrong clock can't be made: its process ended early: %v", ended)}
	}
	return o
}

// childArgs restricts the child to this test, with the same settings.
func (s *suite) childArgs(timeout time.Duration) []string {
	args := []string{"-test.run=" + runPattern(s.name), "-test.count=1", "-test.timeout=" + timeout.String()}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && f.Name != "rapid.seed" {
			args = append(args, fmt.Sprintf("-%s=%s", f.Name, f.Value))
		}
	})
	if flag.Lookup("rapid.seed") != nil {
		args = append(args, fmt.Sprintf("-rapid.seed=%d", s.seed))
	}
	return args
}
