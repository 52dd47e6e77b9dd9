package main

import (
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/leasetest"
)

// TestHostileAdapters wants every adapter that breaks the protocol told so, in bounded
// time, with what it did and the end of its stderr.
func TestHostileAdapters(t *testing.T) {
	kinds := map[string]string{
		"dies at once":        "ended: exit status 3",
		"dies in a call":      "ended: exit status 4",
		"ends well too early": "ended, with exit status 0",
		"hangs":               "did not answer the request",
		"floods":              "when no reply was due",
		"floods stderr":       "did not answer the request",
		"answers twice":       "when no reply was due",
		"answers the former":  "with the id",
		"answers the next":    "with the id",
		"gives no id":         "which has no id",
		"talks":               "which is no JSON object",
		"has another version": "speaks version 99",
		"writes a huge line":  "a line of more than",
		"writes one for ever": "a line of more than",
		"closes stdout":       "closed its stdout",
		"talks to stderr":     "did not answer the request",
		"has number tokens":   "whose lease.token is a number where the protocol has a string",
		"has word tokens":     `the token "first" is no int64`,
		"has vast tokens":     `the token "9223372036854775808" is no int64`,
		"has vague times":     `"soon" is no time`,
		"grants nothing":      "with ok and no lease",
		"has its own words":   `the result "maybe"`,
		"answers in a list":   "wrote the line",
		"reads nothing more":  "did not answer the request",
	}
	if len(kinds) != len(conducts) {
		t.Errorf("got %d expectations for %d conducts", len(kinds), len(conducts))
	}
	for kind, want := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			// Short only where it is waited for: a busy machine may let any reply wait.
			limit := 20 * time.Second
			if want == "did not answer the request" {
				limit = time.Second
			}
			began := time.Now()
			r, code := reported(t, behaving(t, strings.ReplaceAll(kind, " ", "-")), "-limit", limit.String())
			if took := time.Since(began); took > limit+time.Minute { // to start and to end processes
				t.Errorf("it took %v", took)
			}
			if code != exitNothing {
				t.Errorf("got the exit code %d, want %d", code, exitNothing)
			}
			if n := r.Totals[leasetest.Error]; n != len(leasetest.Clauses()) {
				t.Errorf("got %d errors, want one for each clause", n)
			}
			why := r.Clauses[0].Reason
			stderr := "the adapter says hello on stderr"
			if kind == "floods stderr" {
				stderr = "noise noise"
			}
			if kind == "talks to stderr" {
				stderr = "an answer"
			}
			// The second of two answers may come when the next request is out already.
			second := (kind == "answers twice" || kind == "floods") && strings.Contains(why, "with the id")
			if !second && !strings.Contains(why, want) || !strings.Contains(why, stderr) {
				t.Errorf("got the reason %q, want %q and %q in it", why, want, stderr)
			}
		})
	}
}
