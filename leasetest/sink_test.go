package leasetest

import (
	"context"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// holderGrant is a grant with a token, asked for at one time and answered at another.
func holderGrant(token int64, called, returned time.Duration) recorded {
	return recorded{a: answer{lease: lease.Lease{Token: token}}, called: called, returned: returned}
}

func TestSink(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		run   func(s *sink)
		found bool
		both  bool
	}{
		"one after the other, and late writes": {func(s *sink) {
			for n := range time.Duration(5) {
				g := s.hold(ctx, holderGrant(int64(n)+1, 10*n, 10*n+5))
				s.end(g)
				s.write(ctx, g)
				if n > 0 {
					s.write(ctx, s.grants[n-1])
				}
			}
		}, false, false},
		"a lower token for a later grant": {func(s *sink) {
			s.end(s.hold(ctx, holderGrant(7, 0, 9)))
			s.end(s.hold(ctx, holderGrant(6, 1, 12)))
		}, true, false},
		"a lower token while the other holds on": {func(s *sink) {
			s.hold(ctx, holderGrant(2, 0, 5))
			s.hold(ctx, holderGrant(1, 1, 6))
		}, true, true},
		"no token": {func(s *sink) { s.hold(ctx, holderGrant(0, 0, 1)) }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{key: "k"}
			c.run(s)
			g, both := s.judge()
			if (g != nil) != c.found || both != c.both {
				t.Errorf("got %v, both at once: %v; want found: %v, both: %v", g, both, c.found, c.both)
			}
		})
	}
}
