package leasetest_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/leasekit/lease/leasetest"
	"github.com/leasekit/lease/leasetest/internal/zoo"
)

// brokenFile has, for each clause, a backend of the zoo that breaks it and what the
// suite says of it. leasecheck explain shows that. make zoo-write writes it again.
const brokenFile = "../cmd/leasecheck/broken.json"

// brokenExample is an entry of that file.
type brokenExample struct {
	Name    string             `json:"name"`
	Fault   string             `json:"fault"`
	Source  string             `json:"source,omitempty"`
	Failure *leasetest.Failure `json:"failure"`
}

// TestZooExamples wants an example of each clause that the zoo has a broken backend
// for, and the backend to be there still.
func TestZooExamples(t *testing.T) {
	first := map[string]zoo.Animal{}
	for _, a := range zoo.Broken() {
		if _, ok := first[a.Clause]; !ok {
			first[a.Clause] = a
		}
	}
	if *writeKills {
		writeBroken(t, first)
	}
	text, err := os.ReadFile(brokenFile)
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]brokenExample
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	for id, a := range first {
		if got := kept[id]; got.Name != a.Name || got.Fault != a.Fault || got.Failure == nil {
			t.Errorf("%s has the example %q (%s), want %q (%s): run make zoo-write", id, got.Name, got.Fault, a.Name, a.Fault)
		}
	}
	if len(kept) != len(first) {
		t.Errorf("got %d examples, want %d: run make zoo-write", len(kept), len(first))
	}
}

func writeBroken(t *testing.T, animals map[string]zoo.Animal) {
	t.Helper()
	kept := map[string]brokenExample{}
	for id, a := range animals {
		c, _ := judged(t, a, 1).Result(id)
		if c.Failure == nil {
			t.Fatalf("%s is not failed by %s", a.Name, id)
		}
		c.Failure.Repeat, c.Failure.Files = "", nil // of this machine
		kept[id] = brokenExample{a.Name, a.Fault, a.Source, c.Failure}
	}
	text, err := json.MarshalIndent(kept, "", "  ")
	if err == nil {
		err = os.WriteFile(brokenFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
