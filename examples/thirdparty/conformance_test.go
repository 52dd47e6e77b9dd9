package filelease

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

func TestConformance(t *testing.T) { leasetest.Run(t, open) }

// open makes one empty folder. It is called many times.
func open(t testing.TB) *leasetest.Harness {
	dir := t.TempDir()
	clock := &testClock{now: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	return &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			if w.Namespace != "" {
				t.Skip("filelease has no namespaces: take a folder for each")
			}
			return New(dir, clock.Now)
		},
		Clock: &leasetest.Clock{Now: clock.Now, Move: clock.Move, Freeze: func(bool) {}},
		SeedToken: func(t testing.TB, key string, token int64) {
			seed := func(r *record, _ time.Time) error { r.Token = token; return nil }
			if _, err := New(dir, clock.Now).change(t.Context(), key, seed); err != nil {
				t.Fatalf("seed token of %q: %v", key, err)
			}
		},
		Damage: map[string]func(testing.TB, string){
			"empty":             rewrite(dir, func([]byte) []byte { return nil }),
			"half written":      rewrite(dir, func(text []byte) []byte { return text[:len(text)/2] }),
			"of another key":    rewrite(dir, replace(`"key":"`, `"key":"x`)),
			"newer schema":      rewrite(dir, replace(`"schema":1`, `"schema":2`)),
			"token is a string": rewrite(dir, replace(`"token":1`, `"token":"1"`)),
			"expiry is missing": rewrite(dir, replace(`"expires"`, `"until"`)),
			"folder, not file":  toFolder(dir),
		},
		Deviations: map[string]string{
			"TOKEN-8": "tokens end at 2^53-1, because records are JSON and many of its readers take numbers for doubles; after that Acquire is an error",
		},
		Unchecked: map[string]string{
			"KEY-2": "there are no namespaces: each service has a folder of its own",
			"ERR-4": "there is no connection to cut: the store is a folder",

			"EXPIRY-8": "flock(2) does not tell whether somebody waits for it",
			"TOKEN-10": "a folder crashes with its machine, which is more than a test may do",
			"EXPIRY-9": "a folder crashes with its machine, which is more than a test may do",
			"ERR-5":    "a folder crashes with its machine, which is more than a test may do",
		},
	}
}

// rewrite returns a way to damage a record: by change of its text.
func rewrite(dir string, change func([]byte) []byte) func(testing.TB, string) {
	return func(t testing.TB, key string) {
		text, err := os.ReadFile(path(dir, key))
		if err != nil {
			t.Fatalf("read record: %v", err)
		}
		damaged := change(text)
		if bytes.Equal(damaged, text) {
			t.Fatalf("damage record: nothing to change in %s", text)
		}
		if err := os.WriteFile(path(dir, key), damaged, 0o666); err != nil {
			t.Fatalf("damage record: %v", err)
		}
	}
}

func replace(old, by string) func([]byte) []byte {
	return func(text []byte) []byte { return bytes.Replace(text, []byte(old), []byte(by), 1) }
}

func toFolder(dir string) func(testing.TB, string) {
	return func(t testing.TB, key string) {
		if err := os.Remove(path(dir, key)); err != nil {
			t.Fatalf("remove record: %v", err)
		}
		if err := os.Mkdir(path(dir, key), 0o777); err != nil {
			t.Fatalf("put folder in place of record: %v", err)
		}
	}
}

// testClock is a server clock that stands still until it is moved.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time       { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *testClock) Move(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }
