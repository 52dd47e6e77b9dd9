package chaos

import (
	"math"
	"time"

	"github.com/leasekit/lease/internal/history"
	"github.com/leasekit/lease/internal/model"
)

// redated are the grants that an Acquire may have made before the one that it answers:
// with another expiry, or over at once so that it made a second one. That is so as long
// as nobody has been told of a second grant of the key.
func redated(h history.History) []history.Call {
	second := time.Duration(math.MaxInt64) // when somebody was
	for _, c := range h.Calls {
		if c.Back == nil && c.Reply.Outcome == model.Granted && c.Reply.Token > 1 {
			second = min(second, c.Returned)
		}
	}
	var list []history.Call
	for _, c := range h.Calls {
		if c.Back == nil && c.Op.Kind == model.Acquire && c.Called <= second &&
			(c.Reply.Outcome == model.Granted || c.Reply.Outcome == model.Unknown) {
			c.Text, c.During, c.Perhaps = c.Text+", with another expiry at first", "", true
			c.Reply, c.ReplyTxt = model.Reply{}, "perhaps"
			list = append(list, c)
		}
	}
	return list
}
