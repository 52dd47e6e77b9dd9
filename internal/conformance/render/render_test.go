package render

import (
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

func TestSectionWritesEveryField(t *testing.T) {
	got, err := Section([]leasetest.Clause{
		{ID: "GET-1", Level: leasetest.Must, Sentence: "the sentence", Why: "the reason", Source: "https://example.org/1", How: "the check", Needs: "the need"},
		{ID: "ARG-7", Level: leasetest.Should, Sentence: "another", Why: "another reason", How: "Not by Run: no time."},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `| group | clauses | checked | what it is about |
| --- | ---: | ---: | --- |
| [GET](#get--reading) | 1 | 1 | reading |
| [ARG](#arg--arguments) | 1 | 0 | arguments |
| all | 2 | 1 | |

### GET – reading

What anyone can see of a key without changing it.

#### GET-1

**MUST** – the sentence

- Why: the reason
- Source: <https://example.org/1>
- Checked by: the check
- Needs: the need

### ARG – arguments

What every backend accepts, and what it refuses before it touches the store.

#### ARG-7

**SHOULD** – another

- Why: another reason
- Checked by: *not by Run* – no time.

`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSectionRefusesDisorder(t *testing.T) {
	for name, ids := range map[string][]string{
		"no group":         {"GET-1", "NEW-1"},
		"group in 2 parts": {"GET-1", "ARG-1", "GET-2"},
	} {
		var clauses []leasetest.Clause
		for _, id := range ids {
			clauses = append(clauses, leasetest.Clause{ID: id})
		}
		last := ids[len(ids)-1]
		if got, err := Section(clauses); err == nil {
			t.Errorf("%s: got a section, want an error about %s:\n%s", name, last, got)
		} else if !strings.Contains(err.Error(), last) {
			t.Errorf("%s: error %q does not name %s", name, err, last)
		}
	}
}

func TestSplice(t *testing.T) {
	const head, tail = "# Title\n\nbefore\n", "\nafter\n"
	doc := head + Begin + "\nold\n" + End + "\n" + tail
	got, err := Splice(doc, "new\n\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := head + Begin + "\n\nnew\n\n" + End + "\n" + tail; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	again, err := Splice(got, "new\n\n")
	if err != nil || again != got {
		t.Errorf("spliced again: got %v and\n%s\nwant no change", err, again)
	}

	for name, bad := range map[string]string{
		"no markers":       head + tail,
		"no end":           head + Begin + "\nold\n",
		"end before begin": End + "\n" + Begin + "\n",
	} {
		if got, err := Splice(bad, "new\n"); err == nil {
			t.Errorf("%s: got no error, and:\n%s", name, got)
		}
	}
}
