package leasetest

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFailureText(t *testing.T) {
	c := Clause{
		ID: "EXCL-1", Level: Must,
		Sentence: "While a lease is live, Acquire by any other holder fails with ErrHeld, whatever the other one is called and however it asks.",
	}
	f := &Failure{
		Problem: `Acquire gave the key "k1" to "bob" under the token 2 while the lease of "alice", token 1, was live until 12:01:00.`,
		Found:   "the example: a key that is held",
		History: []Event{
			{Time: "2024-02-29 12:00:00.000", Worker: "A", Call: `Acquire("k1", "alice", 1m0s)`, Reply: "token 1"},
			{Time: "2024-02-29 12:00:59.999", Call: "the server clock moves by 59.999s"},
			{Time: "2024-02-29 12:00:59.999", Worker: "B", Call: `Acquire("k1", "bob", 1m0s)`, Reply: "token 2", Want: "ErrHeld"},
		},
		Repeat: "go test ./store -run '^TestStore$' -rapid.seed=7",
		Files:  []string{"/tmp/h.json", "/tmp/h.html"},
	}
	want := `EXCL-1 (MUST) is broken by TestStore

    While a lease is live, Acquire by any other holder fails with ErrHeld, whatever the other
    one is called and however it asks.

Acquire gave the key "k1" to "bob" under the token 2 while the lease of "alice", token 1, was
live until 12:01:00.
(found by the example: a key that is held)

    #  server clock (UTC)       worker  call                               reply
    1  2024-02-29 12:00:00.000  A       Acquire("k1", "alice", 1m0s)       token 1
    2  2024-02-29 12:00:59.999          the server clock moves by 59.999s
    3  2024-02-29 12:00:59.999  B       Acquire("k1", "bob", 1m0s)         token 2
                                                                           contract: ErrHeld

saved: /tmp/h.json
saved: /tmp/h.html

repeat: go test ./store -run '^TestStore$' -rapid.seed=7
`
	if got := trimmed(failureText("TestStore", c, f)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// trimmed leaves out what can't be seen: blanks at the end of a line.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func TestFailureTextWithoutHistory(t *testing.T) {
	c := Clause{ID: "TOKEN-11", Level: Should, Sentence: "Tokens keep rising across a failover."}
	f := &Failure{Problem: "Token 1 came after 2.", Found: "a failover", Repeat: "go test"}
	want := `TOKEN-11 (SHOULD) is broken by backend

    Tokens keep rising across a failover.

Token 1 came after 2.
(found by a failover)

repeat: go test
`
	if got := failureText("backend", c, f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestHistoryTableWithoutClock(t *testing.T) {
	got := historyTable([]Event{
		{Worker: "A", Call: `Get("k")`, Reply: "ErrNotHeld"},
		{Worker: "B", Call: `Acquire("k", "b", 1s)`, Reply: "token 1"},
	})
	want := `    #  server clock  worker  call                   reply
    1                A       Get("k")               ErrNotHeld
    2                B       Acquire("k", "b", 1s)  token 1
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestHistoryTableAlignsNames holds the columns to characters, not bytes.
func TestHistoryTableAlignsNames(t *testing.T) {
	lines := strings.Split(historyTable([]Event{
		{Worker: "A", Call: `Get("ключ")`, Reply: "token 1"},
		{Worker: "A", Call: `Get("k")`, Reply: "token 1"},
	}), "\n")
	column := func(line string) int {
		before, _, _ := strings.Cut(line, "token")
		return utf8.RuneCountInString(before)
	}
	if first, second := column(lines[1]), column(lines[2]); first != second {
		t.Errorf("the replies stand in the columns %d and %d, want the same", first, second)
	}
}

func TestWrapped(t *testing.T) {
	tests := []struct {
		text   string
		width  int
		indent string
		want   string
	}{
		{"", 10, "", ""},
		{"one", 10, "  ", "one"},
		{"one two", 10, "  ", "one two"},
		{"one two six", 11, "  ", "one two six"},
		{"one two six", 10, "  ", "one two\n  six"},
		{"one two six", 3, "> ", "one\n> two\n> six"},
		{"one two six", 1, "", "one\ntwo\nsix"},
		{"unbreakable", 4, "", "unbreakable"},
		{"a unbreakable b", 4, "", "a\nunbreakable\nb"},
		{"  one \n two\t", 10, "", "one two"},
	}
	for _, tt := range tests {
		if got := wrapped(tt.text, tt.width, tt.indent); got != tt.want {
			t.Errorf("wrapped(%q, %d, %q): got %q, want %q", tt.text, tt.width, tt.indent, got, tt.want)
		}
	}
}

func openNothing(testing.TB) *Harness { return nil }

// TestPackageOf wants the path under which go test finds the package: the one
// without _test, also for a function inside of another one.
func TestPackageOf(t *testing.T) {
	const here = "github.com/leasekit/lease/leasetest"
	inside := func(testing.TB) *Harness { return nil }
	for name, open := range map[string]func(testing.TB) *Harness{"a function": openNothing, "a closure": inside} {
		if got := packageOf(open); got != here {
			t.Errorf("%s: got %q, want %q", name, got, here)
		}
	}
	if got := packageOf(nil); got != "" {
		t.Errorf("nil: got %q, want nothing", got)
	}
}
