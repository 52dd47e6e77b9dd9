// Package checkdocs tests that the documents at the root of the project speak
// of what is there: that links lead somewhere, and that the clauses, fields
// and make targets they name exist.
package checkdocs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leasekit/lease/leasetest"
)

// documents returns the texts of the documents at the root, by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CONFORMANCE.md", "DESIGN.md"} {
		docs[name] = text(t, name)
	}
	return docs
}

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// matches returns what the first group of pattern caught, each once.
func matches(doc, pattern string) []string {
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(doc, -1) {
		if !slices.Contains(found, m[1]) {
			found = append(found, m[1])
		}
	}
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	for name, doc := range documents(t) {
		for _, link := range matches(doc, `\]\(([^)\s]+)\)`) {
			path, anchor, _ := strings.Cut(link, "#")
			switch {
			case strings.Contains(link, "://"):
			case path != "":
				if _, err := os.Stat(filepath.Join("../..", path)); errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s links to %s, which does not exist", name, path)
				}
			case !slices.Contains(anchors(doc), anchor):
				t.Errorf("%s links to its heading #%s, which does not exist", name, anchor)
			}
		}
	}
}

// anchors are the names by which the headings of doc can be linked.
func anchors(doc string) []string {
	var names []string
	for _, heading := range matches(doc, `(?m)^#+ (.+)$`) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(heading)))
	}
	return names
}

func TestClausesExist(t *testing.T) {
	known := map[string]bool{}
	groups := map[string]bool{}
	for _, c := range leasetest.Clauses() {
		known[c.ID] = true
		group, _, _ := strings.Cut(c.ID, "-")
		groups[group] = true
	}
	for name, doc := range documents(t) {
		for _, id := range matches(doc, `\b([A-Z]+-\d+)\b`) {
			group, _, _ := strings.Cut(id, "-")
			if groups[group] && !known[id] {
				t.Errorf("%s names the clause %s, which does not exist", name, id)
			}
		}
	}
}

// An author of a backend reads README.md alone: it has to name all that a
// harness may offer, and all that may come back.
func TestReadmeIsComplete(t *testing.T) {
	readme := text(t, "README.md")
	for _, typ := range []reflect.Type{
		reflect.TypeFor[leasetest.Harness](), reflect.TypeFor[leasetest.Worker](), reflect.TypeFor[leasetest.Clock](),
		reflect.TypeFor[leasetest.FenceHarness](),
	} {
		for i := range typ.NumField() {
			field := typ.Field(i).Name
			if !regexp.MustCompile(`\b` + field + `\b`).MatchString(readme) {
				t.Errorf("README.md does not name the field %s of leasetest.%s", field, typ.Name())
			}
		}
	}
	for _, v := range leasetest.Verdicts() {
		if !strings.Contains(readme, "| "+string(v)+" |") {
			t.Errorf("README.md has no line for the verdict %q", v)
		}
	}
}

func TestMakeTargetsExist(t *testing.T) {
	targets := matches(text(t, "Makefile"), `(?m)^([a-z]+):`)
	for name, doc := range documents(t) {
		for _, target := range matches(doc, "(?m)(?:^|`)make ([a-z]+)") {
			if !slices.Contains(targets, target) {
				t.Errorf("%s speaks of make %s; there is %s", name, target, strings.Join(targets, ", "))
			}
		}
	}
}
