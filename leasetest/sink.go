package leasetest

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/leasekit/lease/fence"
)

// sink is a protected resource that the holders of a concurrent check write to,
// each under the token it was granted: a judge that needs no times of calls. While
// a lease lives, its holder's write is never refused and never written over,
// whatever late writers do. Otherwise two held the key at once, or their tokens
// have the wrong order.
type sink struct {
	resource fence.Memory
	key      string

	mu     sync.Mutex
	grants []*sinkGrant
}

// sinkGrant is a grant whose holder writes to the sink.
type sinkGrant struct {
	acquired recorded
	value    string // its number in grants
	ending   bool   // its release was begun

	// What the holder found in place of its own write, while its lease lived.
	other   *sinkGrant
	highest int64 // the token there
	both    bool  // the other's release had not begun
}

// hold lets the holder of a grant write, and look at what is there then.
func (s *sink) hold(ctx context.Context, acquired recorded) *sinkGrant {
	g := &sinkGrant{acquired: acquired}
	s.mu.Lock()
	g.value = strconv.Itoa(len(s.grants))
	s.grants = append(s.grants, g)
	s.mu.Unlock()

	s.write(ctx, g)
	runtime.Gosched() // let others in, who have no business here
	value, token, err := s.resource.Read(ctx, s.key)
	if err != nil || token == 0 || value == g.value {
		return g
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := strconv.Atoi(value)
	if err != nil {
		return g
	}
	g.other, g.highest, g.both = s.grants[n], token, !s.grants[n].ending
	return g
}

// write writes as the holder of a grant, in time or late. Whether it is refused
// shows in what is there afterwards; a token that is none is judged elsewhere.
func (s *sink) write(ctx context.Context, g *sinkGrant) {
	_ = s.resource.Write(ctx, s.key, g.acquired.a.lease.Token, g.value)
}

// end notes that the holder of a grant begins to release it.
func (s *sink) end(g *sinkGrant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.ending = true
}

// judge returns the first holder who met another in the sink while its lease
// lived, and whether both held the key at once; nil if there is none.
func (s *sink) judge() (g *sinkGrant, both bool) {
	for _, g := range s.grants {
		if g.other != nil {
			// Who asked when the other had been granted already came second.
			return g, g.both || g.other.acquired.called > g.acquired.returned
		}
	}
	return nil, false
}

// String says what the holder met.
func (g *sinkGrant) String() string {
	token := g.acquired.a.lease.Token
	if g.highest > token {
		return fmt.Sprintf("the holder of a live lease with the token %d is refused by what the lease protects, which has seen the token %d", token, g.highest)
	}
	return fmt.Sprintf("what the holder of a live lease wrote with the token %d is written over by another holder, with the same token", token)
}
