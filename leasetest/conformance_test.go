package leasetest_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/leasekit/lease/internal/conformance/render"
	"github.com/leasekit/lease/leasetest"
)

// TestConformanceDocument fails when the clauses in CONFORMANCE.md are not
// those of the table.
func TestConformanceDocument(t *testing.T) {
	b, err := os.ReadFile("../CONFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	section, err := render.Section(leasetest.Clauses())
	if err != nil {
		t.Fatal(err)
	}
	want, err := render.Splice(got, section)
	if err != nil {
		t.Fatalf("CONFORMANCE.md: %v", err)
	}
	if got == want {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	n := 0
	for n < len(gotLines) && n < len(wantLines) && gotLines[n] == wantLines[n] {
		n++
	}
	t.Errorf("CONFORMANCE.md does not show the table of clauses: run go generate ./leasetest\nline %d: got  %q\nline %d: want %q",
		n+1, lineAt(gotLines, n), n+1, lineAt(wantLines, n))
}

// lineAt is the line with the index n, or a word for the end of the document.
func lineAt(lines []string, n int) string {
	if n >= len(lines) {
		return "(end of document)"
	}
	return lines[n]
}

// TestConformanceDescribesReport fails when a verdict or a field of the report
// is not described in CONFORMANCE.md.
func TestConformanceDescribesReport(t *testing.T) {
	b, err := os.ReadFile("../CONFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := chapter(t, string(b), "Verdicts")
	for _, v := range leasetest.Verdicts() {
		if !strings.Contains(verdicts, "\n| **"+string(v)+"** |") {
			t.Errorf("CONFORMANCE.md, Verdicts: no line for %q", v)
		}
	}
	report := chapter(t, string(b), "The report")
	for _, v := range []any{
		leasetest.Report{}, leasetest.Figures{}, leasetest.Result{}, leasetest.Failure{}, leasetest.Event{},
	} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && !strings.Contains(report, "`"+name+"`") {
				t.Errorf("CONFORMANCE.md, The report: the field `%s` of %T is not described", name, v)
			}
		}
	}
}

// chapter is the text of doc under the heading title, up to the next heading
// of the same depth.
func chapter(t *testing.T, doc, title string) string {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "\n## "+title+"\n")
	if !ok {
		t.Fatalf("CONFORMANCE.md has no heading %q", title)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}
