package filelease

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/leasekit/lease"
)

// folderVariable tells a child of TestProcesses which folder to work on.
const folderVariable = "FILELEASE_TEST_FOLDER"

// TestProcesses lets several processes, which share nothing but a folder, take
// one key in turn. No token may be granted twice, and none may get lost. The
// suite has its workers in one process and does not see this.
func TestProcesses(t *testing.T) {
	const processes, grants = 4, 25
	if dir := os.Getenv(folderVariable); dir != "" {
		for _, token := range takeTurns(t, dir, grants) {
			fmt.Println("token", token)
		}
		return
	}
	dir := t.TempDir()
	replies := make(chan []byte)
	for range processes {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$")
		child.Env = append(os.Environ(), folderVariable+"="+dir)
		go func() {
			text, err := child.CombinedOutput()
			if err != nil {
				t.Errorf("run child: %v\n%s", err, text)
			}
			replies <- text
		}()
	}
	var got []int64
	for range processes {
		for line := range bytes.Lines(<-replies) {
			var token int64
			if n, _ := fmt.Sscanf(string(line), "token %d", &token); n == 1 {
				got = append(got, token)
			}
		}
	}
	slices.Sort(got)
	var want []int64
	for i := range int64(processes * grants) {
		want = append(want, i+1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("tokens %v, want each of 1 to %d once", got, len(want))
	}
}

// takeTurns takes and releases a key n times, and returns the tokens.
func takeTurns(t *testing.T, dir string, n int) (tokens []int64) {
	s := New(dir, time.Now)
	holder := fmt.Sprint("process ", os.Getpid())
	for len(tokens) < n {
		l, err := s.Acquire(t.Context(), "turn", holder, time.Hour)
		if errors.Is(err, lease.ErrHeld) {
			continue
		}
		if err != nil {
			t.Fatalf("acquire: %v", err)
		}
		tokens = append(tokens, l.Token)
		if err := s.Release(t.Context(), l); err != nil {
			t.Fatalf("release: %v", err)
		}
	}
	return tokens
}
