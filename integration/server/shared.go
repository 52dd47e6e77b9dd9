package server

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared are the servers that all tests of the binary use together. Starting
// one takes a moment, and a suite opens many stores.
var shared struct {
	sync.Mutex
	main    bool // Main will end them
	started []*instance
}

// Main runs the tests, ends the servers that they started, and exits. It is the
// body of TestMain.
func Main(m *testing.M) {
	shared.Lock()
	shared.main = true
	shared.Unlock()
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	for _, i := range shared.started {
		logs, err := i.close(code != 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, "stop a server:", err)
			code = max(code, 1)
		}
		if logs != "" {
			fmt.Fprintf(os.Stderr, "the log of the shared %s is kept in %s\n", i.name, logs)
		}
	}
	os.Exit(code)
}

// share returns the server of a kind that the tests of this binary share, kept
// once it is there: the one that the environment names, unless named is nil, else
// a new one.
func share[S any](t testing.TB, kept **S, from source, named func(url string) (*S, error), start func(place) (*S, []*instance, error)) *S {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if *kept != nil {
		return *kept
	}
	if url := from.url(); url != "" && named != nil {
		s, err := named(url)
		if err != nil {
			t.Fatalf("the %s that %s names: %v", from.name, from.env, err)
		}
		*kept = s
		return s
	}
	at := from.place(t)
	if !shared.main {
		t.Fatal("this test starts a server that nothing ends: add func TestMain(m *testing.M) { server.Main(m) } to the package")
	}
	s, all, err := start(at)
	if err != nil {
		t.Fatal(err)
	}
	shared.started = append(shared.started, all...)
	*kept = s
	return s
}
