// Package history judges concurrent histories: it asks porcupine whether the
// calls on one key can be put into a sequential order that the reference model
// allows, each taking effect between its call and its reply.
package history

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/leasekit/lease/internal/model"
)

// MaxUnknown is how many calls of unknown outcome a history may have: each
// doubles the work of the judge, because its effect may come at any later
// moment or never.
const MaxUnknown = 4

// Call is one call on the key and its reply.
type Call struct {
	Worker   int           `json:"worker"`
	Text     string        `json:"call"`
	ReplyTxt string        `json:"reply"`
	Op       model.Op      `json:"op"`
	Reply    model.Reply   `json:"outcome"`
	Window   model.Window  `json:"serverClock"` // read before the call and after the reply
	Called   time.Duration `json:"called"`      // since the history began, on a monotonic clock
	Returned time.Duration `json:"returned"`

	// Back makes this no call but a step of the server clock back, if it is not
	// nil. Then only Called and Returned count besides.
	Back *Back `json:"clockStepsBack,omitempty"`

	// Perhaps makes this a call that took effect between Called and Returned, or not
	// at all. Its outcome is unknown.
	Perhaps bool `json:"perhaps,omitempty"`

	// During names the faults that were on when the call was made. The judge does
	// not look at it.
	During string `json:"during,omitempty"`
}

// Back is a step of the server clock back: from Most at the latest, to Now at the
// earliest.
type Back struct {
	Most time.Time `json:"most"`
	Now  time.Time `json:"now"`
}

// History is what several workers did with one key, in any order.
type History struct {
	Key   string      `json:"key"`
	Rules model.Rules `json:"rules"`
	Max   int64       `json:"maxToken"` // greatest token granted before the history began
	Calls []Call      `json:"calls"`
}

// Verdict is the judge's answer.
type Verdict string

// The verdicts. Unknown means that the judge ran out of time.
const (
	Ok      Verdict = "ok"
	Illegal Verdict = "illegal"
	Unknown Verdict = "unknown"
)

// Judge says whether h is linearizable.
func Judge(h History, timeout time.Duration) Verdict {
	return judge(h.model(), h.operations(), timeout)
}

func judge(m porcupine.Model, ops []porcupine.Operation, timeout time.Duration) Verdict {
	switch porcupine.CheckOperationsTimeout(m, ops, timeout) {
	case porcupine.Ok:
		return Ok
	case porcupine.Illegal:
		return Illegal
	}
	return Unknown
}

// Save writes h as JSON, and porcupine's picture of it as HTML, into dir. It
// returns the two files.
func Save(h History, dir, name string, timeout time.Duration) ([]string, error) {
	return save(h, h.model(), h.operations(), dir, name, timeout)
}

func save(h any, m porcupine.Model, ops []porcupine.Operation, dir, name string, timeout time.Duration) ([]string, error) {
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode history: %w", err)
	}
	data, picture := filepath.Join(dir, name+".json"), filepath.Join(dir, name+".html")
	if err := os.WriteFile(data, text, 0o644); err != nil {
		return nil, fmt.Errorf("write history: %w", err)
	}
	_, info := porcupine.CheckOperationsVerbose(m, ops, timeout)
	if err := porcupine.VisualizePath(m, info, picture); err != nil {
		return []string{data}, fmt.Errorf("draw history: %w", err)
	}
	return []string{data, picture}, nil
}

// Shorten leaves out calls from an illegal history as long as what is left
// stays illegal. Leaving out a call that changed something may itself make a
// history illegal, so only calls that changed nothing are left out: refused
// ones, and Gets.
func Shorten(h History, timeout time.Duration) History {
	h.Calls = shorten(h.Calls, changesNothing, func(calls []Call) bool {
		q := h
		q.Calls = calls
		return Judge(q, timeout) == Illegal
	})
	return h
}

func shorten[C any](calls []C, changesNothing func(C) bool, illegal func([]C) bool) []C {
	for i := 0; i < len(calls); {
		fewer := append(append([]C(nil), calls[:i]...), calls[i+1:]...)
		if changesNothing(calls[i]) && illegal(fewer) {
			calls = fewer
		} else {
			i++
		}
	}
	return calls
}

func changesNothing(c Call) bool {
	if c.Back != nil {
		return false
	}
	switch c.Reply.Outcome {
	case model.Held, model.Lost, model.NotHeld:
		return true
	}
	return c.Op.Kind == model.Get
}

// operations is the history in porcupine's terms. Intervals are closed there:
// a call and a reply at the same instant count as concurrent.
func (h History) operations() []porcupine.Operation {
	ops := make([]porcupine.Operation, 0, len(h.Calls))
	for _, c := range h.Calls {
		returned := int64(c.Returned)
		if c.Reply.Outcome == model.Unknown && c.Back == nil && !c.Perhaps {
			returned = math.MaxInt64 // it may take effect at any later moment
		}
		ops = append(ops, porcupine.Operation{ClientId: c.Worker, Input: c, Output: c, Call: int64(c.Called), Return: returned})
	}
	return ops
}

// forever is later than any server clock of the contract.
var forever = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

func (h History) model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{model.State{Max: h.Max}} },
		Step: func(state, in, _ any) []any {
			c := in.(Call)
			if c.Back != nil {
				return anySlice(h.Rules.SteppedBack(state.(model.State), c.Back.Most, c.Back.Now))
			}
			w := c.Window
			if c.Reply.Outcome == model.Unknown && !c.Perhaps {
				w.Hi = forever
			}
			return anySlice(h.Rules.Step(state.(model.State), c.Op, c.Reply, w))
		},
		DescribeOperation: func(in, _ any) string {
			c := in.(Call)
			return c.Text + " → " + c.ReplyTxt
		},
		DescribeState: func(state any) string { return describe(state.(model.State)) },
	}
	return m.ToModel()
}

func anySlice(states []model.State) []any {
	list := make([]any, len(states))
	for i, s := range states {
		list[i] = s
	}
	return list
}

func describe(s model.State) string {
	if !s.Held {
		return fmt.Sprintf("free, tokens up to %d", s.Max)
	}
	return fmt.Sprintf("%s token %d until %s", s.Holder, s.Token, s.EndHi.Format("15:04:05.000000"))
}
