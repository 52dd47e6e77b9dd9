package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/leasekit/lease"
)

// Version is the version of the protocol that is spoken here.
const Version = 1

// longestLine is how many bytes one reply may have. The longest names, escaped,
// need some 8 kB.
const longestLine = 64 << 10

// The features that an adapter may claim in its hello.
const (
	featureNamespace = "namespace" // heeds the namespace of open
	featureNow       = "now"       // can read the server clock
	featureSeed      = "seed"      // can raise the counter of a key
)

// request is one line to an adapter. The fields depend on the op: those of a valid
// request may be empty strings, so none is left out for being empty.
type request struct {
	op     string
	fields map[string]any
}

// encode makes the line.
func (r request) encode(id int64) ([]byte, error) {
	line := map[string]any{"id": id, "op": r.op}
	for name, value := range r.fields {
		line[name] = value
	}
	text, err := json.Marshal(line)
	return append(text, '\n'), err
}

// reply is one line from an adapter.
type reply struct {
	ID     *int64     `json:"id"`
	Result string     `json:"result"`
	Text   string     `json:"text"`  // what went wrong, for people
	Lease  *wireLease `json:"lease"` // of acquire, renew and get
	Time   string     `json:"time"`  // of now: the server clock; of hello: the worker's own
	hello
}

// hello is what an adapter says of itself.
type hello struct {
	Version    int      `json:"version"`
	Name       string   `json:"name"`
	Features   []string `json:"features"`
	Resolution string   `json:"resolution"`
	MinTTL     string   `json:"minTTL"`
	MaxTTL     string   `json:"maxTTL"`
	ExpiryLag  string   `json:"expiryLag"`
}

// wireLease is a lease as it is written in the protocol.
type wireLease struct {
	Key     string `json:"key"`
	Holder  string `json:"holder"`
	Token   string `json:"token"`
	Expires string `json:"expires"`
}

func onWire(l lease.Lease) wireLease {
	return wireLease{l.Key, l.Holder, strconv.FormatInt(l.Token, 10), l.ExpiresAt.UTC().Format(time.RFC3339Nano)}
}

func (l wireLease) lease() (lease.Lease, error) {
	token, err := strconv.ParseInt(l.Token, 10, 64)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("the token %.40q is no int64 as a decimal string", l.Token)
	}
	expires, err := parseTime(l.Expires)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("the lease's expires: %w", err)
	}
	return lease.Lease{Key: l.Key, Holder: l.Holder, Token: token, ExpiresAt: expires}, nil
}

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.60q is no time as in RFC 3339, such as %q", text, "2024-01-02T03:04:05.678Z")
	}
	return t, nil
}

// figure reads one of the durations of a hello, in nanoseconds.
func figure(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("the hello's %s is %.40q, want nanoseconds as a decimal string", name, text)
	}
	return time.Duration(n), nil
}

// errorOf is the error that a result stands for; ok is false for a result that the
// protocol does not have.
func (r reply) errorOf() (err error, ok bool) {
	switch r.Result {
	case "ok":
		return nil, true
	case "held":
		return lease.ErrHeld, true
	case "lost":
		return lease.ErrLost, true
	case "not-held":
		return lease.ErrNotHeld, true
	case "invalid":
		return fmt.Errorf("%w: %s", lease.ErrInvalid, r.Text), true
	case "error":
		if r.Text == "" {
			return errors.New("the adapter gave no text with its error"), true
		}
		return errors.New(r.Text), true
	}
	return nil, false
}
