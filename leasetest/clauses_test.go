package leasetest

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// clausesPerGroup is the size of each group, in the order of CONFORMANCE.md.
var clausesPerGroup = []struct {
	group string
	size  int
}{
	{"EXCL", 6}, {"TOKEN", 11}, {"EXPIRY", 9}, {"RENEW", 7}, {"RELEASE", 4}, {"GET", 3},
	{"KEY", 3}, {"ARG", 4}, {"ERR", 9}, {"HOLD", 10}, {"FENCE", 5},
}

func TestClausesStandInOrder(t *testing.T) {
	var want []string
	for _, g := range clausesPerGroup {
		for n := 1; n <= g.size; n++ {
			want = append(want, g.group+"-"+strconv.Itoa(n))
		}
	}
	var got []string
	for _, c := range Clauses() {
		got = append(got, c.ID)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ids of the clauses:\ngot  %v\nwant %v", got, want)
	}
	if len(want) != 71 {
		t.Errorf("the test expects %d clauses, want the contract's 71", len(want))
	}
}

func TestClausesAreWhole(t *testing.T) {
	sentences := map[string]string{}
	for _, c := range Clauses() {
		for field, text := range map[string]string{"Sentence": c.Sentence, "Why": c.Why, "How": c.How} {
			if text == "" {
				t.Errorf("%s: %s is empty", c.ID, field)
			} else if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, ".)") {
				t.Errorf("%s: %s does not end in a full stop: %q", c.ID, field, text)
			}
		}
		for field, text := range map[string]string{
			"Sentence": c.Sentence, "Why": c.Why, "Source": c.Source, "How": c.How, "Needs": c.Needs,
		} {
			if strings.ContainsAny(text, "\n\t") || strings.TrimSpace(text) != text || strings.Contains(text, "  ") {
				t.Errorf("%s: %s is not one line with single blanks: %q", c.ID, field, text)
			}
		}
		if c.Source != "" && !regexp.MustCompile(`^https://[^/\s]+/\S+$`).MatchString(c.Source) {
			t.Errorf("%s: Source is %q, want an https address or nothing", c.ID, c.Source)
		}
		if other, ok := sentences[c.Sentence]; ok {
			t.Errorf("%s has the sentence of %s", c.ID, other)
		}
		sentences[c.Sentence] = c.ID
	}
}

func TestOnlyFailoverIsShould(t *testing.T) {
	for _, c := range Clauses() {
		want := Must
		if c.ID == "TOKEN-11" {
			want = Should
		}
		if c.Level != want {
			t.Errorf("%s: got level %q, want %q", c.ID, c.Level, want)
		}
	}
}

// TestNeedsNameFields holds the words of Needs to the harness: whoever reads
// them must find the field.
func TestNeedsNameFields(t *testing.T) {
	fields := map[string]bool{}
	for _, v := range []any{Harness{}, Clock{}, FenceHarness{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			fields[f.Name] = true
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(Worker{})) {
		fields["Worker."+f.Name] = true
	}
	fields["FenceHarness"] = true
	name := regexp.MustCompile(`[A-Z]\w*(\.\w+)?`)
	for _, c := range Clauses() {
		if c.Needs == "" {
			continue
		}
		names := name.FindAllString(c.Needs, -1)
		if len(names) == 0 {
			t.Errorf("%s: Needs %q names no field of Harness, Clock or Worker", c.ID, c.Needs)
		}
		for _, n := range names {
			if !fields[n] {
				t.Errorf("%s: Needs %q names %s, which is no field of Harness, Clock or Worker", c.ID, c.Needs, n)
			}
		}
	}
}
