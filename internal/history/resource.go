package history

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// Write is one write of a key of a protected resource, or a read of it. Its reply
// is definite.
type Write struct {
	Client   int           `json:"client"`
	Read     bool          `json:"read"`
	Token    int64         `json:"token"` // of a write; of a read, the token that it shows
	Value    string        `json:"value"`
	Refused  bool          `json:"refused"` // the write was refused as stale
	Called   time.Duration `json:"called"`  // since the history began, on a monotonic clock
	Returned time.Duration `json:"returned"`
}

// Resource is what several clients did with one key of a protected resource, in
// any order. It begins with a key that was never written.
type Resource []Write

// JudgeResource says whether h is linearizable: whether the writes and reads can be
// put into an order in which each write is refused exactly if a higher token was
// accepted before it, and each read shows the last one that was accepted.
func JudgeResource(h Resource, timeout time.Duration) Verdict {
	return judge(resourceModel, h.operations(), timeout)
}

// SaveResource is Save for a resource.
func SaveResource(h Resource, dir, name string, timeout time.Duration) ([]string, error) {
	return save(h, resourceModel, h.operations(), dir, name, timeout)
}

// ShortenResource is Shorten for a resource: it leaves out reads and refused
// writes.
func ShortenResource(h Resource, timeout time.Duration) Resource {
	return shorten(h, func(w Write) bool { return w.Read || w.Refused }, func(h []Write) bool {
		return JudgeResource(h, timeout) == Illegal
	})
}

func (h Resource) operations() []porcupine.Operation {
	ops := make([]porcupine.Operation, 0, len(h))
	for _, w := range h {
		ops = append(ops, porcupine.Operation{ClientId: w.Client, Input: w, Output: w, Call: int64(w.Called), Return: int64(w.Returned)})
	}
	return ops
}

// written is the state of the key: what was accepted last.
type written struct {
	token int64
	value string
}

var resourceModel = porcupine.Model{
	Init: func() any { return written{} },
	Step: func(state, in, _ any) (bool, any) {
		now, w := state.(written), in.(Write)
		switch {
		case w.Read:
			return now == written{w.Token, w.Value}, now
		case w.Refused:
			return w.Token < now.token, now
		}
		return w.Token >= now.token, written{w.Token, w.Value}
	},
	DescribeOperation: func(in, _ any) string {
		w := in.(Write)
		switch {
		case w.Read:
			return fmt.Sprintf("read → %q, token %d", w.Value, w.Token)
		case w.Refused:
			return fmt.Sprintf("write %q with token %d → stale", w.Value, w.Token)
		}
		return fmt.Sprintf("write %q with token %d → accepted", w.Value, w.Token)
	},
	DescribeState: func(state any) string {
		now := state.(written)
		return fmt.Sprintf("%q, token %d", now.value, now.token)
	},
}
