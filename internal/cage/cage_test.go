package cage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease/internal/cage"
)

// The test binary plays the programs that are caged.
func TestMain(m *testing.M) {
	switch os.Getenv("CAGE_TEST") {
	case "":
		os.Exit(m.Run())
	case "well":
	case "panic":
		panic("no more")
	case "talk":
		for range 1 << 20 {
			fmt.Println("noise")
		}
		fmt.Println("and out")
		os.Exit(5)
	case "hang":
		<-time.After(time.Hour)
	case "grow":
		var heap [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			heap = append(heap, b)
			runtime.KeepAlive(heap)
		}
	}
}

func run(t *testing.T, ctx context.Context, what string, limits cage.Limits) error {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "CAGE_TEST="+what)
	return cage.Run(ctx, cmd, limits)
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		what   string
		limits cage.Limits
		says   string
		is     error
	}{
		{what: "well", limits: cage.Limits{Time: time.Minute, Memory: 1 << 40}},
		{what: "panic", says: "panic: no more"},
		{what: "talk", says: "exit status 5: and out"},
		{what: "hang", limits: cage.Limits{Time: 50 * time.Millisecond}, says: "more than 50ms", is: cage.ErrTime},
		{what: "grow", limits: cage.Limits{Time: time.Minute, Memory: 200 << 20}, says: "of 200", is: cage.ErrMemory},
	} {
		if c.what == "grow" && runtime.GOOS != "linux" {
			continue
		}
		err := run(t, t.Context(), c.what, c.limits)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v, want nil", c.what, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: got %v, want an error that says %q and is %v", c.what, err, c.says, c.is)
		}
	}
}

func TestRunEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(t, ctx, "hang", cage.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that of the context", err)
	}
}
