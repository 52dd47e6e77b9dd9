package clock

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasekit/lease/internal/need"
)

// newClock makes a clock. Where there can't be one, the test is skipped; with
// LEASE_REQUIRE_SERVERS=1, as in CI, it fails.
func newClock(t *testing.T) *Clock {
	t.Helper()
	if err := Available(); err != nil {
		need.Missing(t, err.Error())
	}
	c, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// under prepares a program that goes by the clock.
func under(c *Clock, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), c.Env()...)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestDate(t *testing.T) {
	c := newClock(t)
	c.Freeze(true)
	for _, d := range []time.Duration{0, 1, -365 * 24 * time.Hour, 150 * 365 * 24 * time.Hour} {
		c.Move(d)
		text, err := under(c, "date", "+%s %N").Output()
		if err != nil {
			t.Fatal(err)
		}
		var s, ns int64
		if _, err := fmt.Sscan(string(text), &s, &ns); err != nil {
			t.Fatalf("date printed %q: %v", text, err)
		}
		if got, want := time.Unix(s, ns), c.Now(); !got.Equal(want) {
			t.Errorf("date says %v, want %v", got, want)
		}
	}
}

// probe is testdata/probe.c, built.
func probe(t *testing.T) string {
	t.Helper()
	compiler, err := findCompiler()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "probe")
	if text, err := exec.Command(compiler[0], append(compiler[1:], "-pthread", "-o", path, "testdata/probe.c")...).CombinedOutput(); err != nil {
		t.Fatalf("build the probe: %v\n%s", err, text)
	}
	return path
}

// talk starts a program that answers lines. It ends with its input.
func talk(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, line func() string) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(out)
	return in, func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("%s printed no further line: %v", cmd, lines.Err())
		}
		return lines.Text()
	}
}

// Every call that tells the time of day follows the clock, in a running program
// and in one that was forked from it; the monotonic clock does not.
func TestCalls(t *testing.T) {
	c := newClock(t)
	path := probe(t)
	for _, args := range [][]string{nil, {"fork"}} {
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			c.Reset()
			in, line := talk(t, under(c, path, args...))
			calls := []struct {
				name string
				unit time.Duration // it counts in
			}{
				// The kernel's coarse clock is that of its last tick, at 100 Hz or more.
				{"clock_gettime", 1}, {"the coarse clock", 10 * time.Millisecond}, {"gettimeofday", time.Microsecond},
				{"time", time.Second}, {"timespec_get", 1},
			}
			monotonic := int64(0)
			check := func(what string, exact bool) {
				t.Helper()
				before := c.Now()
				fmt.Fprintln(in)
				answer := strings.Fields(line())
				after := c.Now()
				if len(answer) != len(calls)+1 {
					t.Fatalf("the probe said %q", answer)
				}
				for n, call := range calls {
					got := unix(t, answer[n])
					from := before.Add(-call.unit + 1)
					if exact && n == 1 {
						from = before // one that stands has no ticks
					}
					if got.Before(from) || got.After(after) {
						t.Errorf("%s: %s says %v, want %v to %v", what, call.name, got.UTC(), from.UTC(), after.UTC())
					}
				}
				if now := unix(t, answer[len(calls)]).UnixNano(); monotonic != 0 && (now < monotonic || now > monotonic+int64(time.Hour)) {
					t.Errorf("%s: the monotonic clock went from %d to %d", what, monotonic, now)
				} else {
					monotonic = now
				}
			}
			check("at the start", false)
			c.Move(1000 * 24 * time.Hour)
			check("1000 days ahead", false)
			c.Move(-2000 * 24 * time.Hour)
			check("1000 days back", false)
			c.Freeze(true)
			stands := c.Now()
			check("standing", true)
			check("still standing", true)
			if now := c.Now(); now != stands {
				t.Errorf("the clock went from %v to %v while it stood", stands, now)
			}
			c.Freeze(true)
			if now := c.Now(); now != stands {
				t.Errorf("stopped again, the clock went from %v to %v", stands, now)
			}
			c.Move(1)
			check("1 ns on", true)
			c.Move(time.Date(2261, 12, 31, 0, 0, 0, 0, time.UTC).Sub(c.Now()))
			check("in 2261", true)
			c.Freeze(false)
			check("running on in 2261", false)
			c.Move(time.Unix(1, 0).Sub(c.Now()))
			check("in 1970", false)
			c.Reset()
			check("after Reset", false)
			if off := time.Until(c.Now()).Abs(); off > time.Minute {
				t.Errorf("after Reset the clock is %v off", off)
			}
		})
	}
}

func unix(t *testing.T, ns string) time.Time {
	t.Helper()
	n, err := strconv.ParseInt(ns, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, n)
}

// A program that reads while the clock is set sees the old state or the new
// one: never the instant of the one with the mode of the other, which here
// would be in 1970 or decades ahead.
func TestChangeIsOneStep(t *testing.T) {
	c := newClock(t)
	in, line := talk(t, under(c, probe(t), "race"))
	line() // it has begun
	for range 20_000 {
		c.Freeze(true)
		c.Freeze(false)
	}
	in.Close()
	bounds := strings.Fields(line())
	for _, bound := range bounds {
		if at := unix(t, bound); time.Since(at).Abs() > time.Hour {
			t.Errorf("the program read %v", at.UTC())
		}
	}
}

// Nor does it go back when it is stopped or let go.
func TestFreezeDoesNotGoBack(t *testing.T) {
	c := newClock(t)
	last := c.Now()
	for n := range 1000 {
		c.Freeze(n%2 == 0)
		now := c.Now()
		if now.Before(last) {
			t.Fatalf("the clock went from %v back to %v", last, now)
		}
		last = now
	}
}

// A program waits as long as it means to, whatever clock it sees: MariaDB waits
// for row locks that way.
func TestWait(t *testing.T) {
	c := newClock(t)
	path := probe(t)
	for what, set := range map[string]func(){
		"as it is":               func() {},
		"a year back":            func() { c.Move(-365 * 24 * time.Hour) },
		"a year ahead":           func() { c.Move(365 * 24 * time.Hour) },
		"standing, a year back":  func() { c.Freeze(true); c.Move(-365 * 24 * time.Hour) },
		"standing, a year ahead": func() { c.Freeze(true); c.Move(365 * 24 * time.Hour) },
	} {
		c.Reset()
		set()
		const wait = 20 * time.Millisecond
		cmd := under(c, path, "wait", strconv.FormatInt(int64(wait), 10))
		stop := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		text, err := cmd.Output()
		stop.Stop()
		if err != nil {
			t.Errorf("%s: wait for %v: %v", what, wait, err)
			continue
		}
		if took := unix(t, strings.TrimSpace(string(text))).UnixNano(); took < int64(wait) {
			t.Errorf("%s: a wait for %v took %v", what, wait, time.Duration(took))
		}
	}
}

func TestMoveOutOfRange(t *testing.T) {
	c := newClock(t)
	for _, d := range []time.Duration{-1 << 63, 1<<63 - 1, -100 * 365 * 24 * time.Hour, 236 * 365 * 24 * time.Hour} {
		before := c.Now()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Move(%v) did not panic", d)
				}
			}()
			c.Move(d)
		}()
		if now := c.Now(); now.Before(before) || now.After(before.Add(time.Hour)) {
			t.Errorf("the refused Move(%v) moved the clock from %v to %v", d, before, now)
		}
	}
}

// The clock is that of the servers, also for a worker with a wrong one.
func TestNowInBubble(t *testing.T) {
	c := newClock(t)
	synctest.Test(t, func(t *testing.T) {
		now := c.Now()
		time.Sleep(100 * 24 * time.Hour)
		if later := c.Now(); later.Sub(now) > time.Hour || now.Year() < 2020 {
			t.Errorf("read in a bubble: %v, and later %v", now, later)
		}
	})
}

func TestGoverns(t *testing.T) {
	c, other := newClock(t), newClock(t)
	cmd := under(c, probe(t))
	in, line := talk(t, cmd)
	fmt.Fprintln(in)
	line()
	if err := c.Governs(cmd.Process.Pid); err != nil {
		t.Errorf("the program under the clock: %v", err)
	}
	if err := other.Governs(cmd.Process.Pid); err == nil {
		t.Error("a program under another clock passes for one under this clock")
	}
	if err := c.Governs(os.Getpid()); err == nil {
		t.Error("this process passes for one under the clock")
	}
}

// A program never runs on the wrong clock in silence.
func TestControlFileGone(t *testing.T) {
	c := newClock(t)
	if err := os.Remove(c.path); err != nil {
		t.Fatal(err)
	}
	cmd := under(c, "date")
	cmd.Stderr = nil
	text, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "LEASEKIT_CLOCK") {
		t.Errorf("got %q, %v, want a failure that names LEASEKIT_CLOCK", text, err)
	}
}

func TestFolderThatCantBePreloadedFrom(t *testing.T) {
	newClock(t)
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir); err == nil || !strings.Contains(err.Error(), "a b") {
		t.Errorf("got %v, want an error that names the folder", err)
	}
}

// Many processes may need the shim at once, on a machine that never had it.
func TestBuildAtOnce(t *testing.T) {
	newClock(t)
	cache := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			path, err := build(cache)
			if err != nil {
				t.Error(err)
				return
			}
			if info, err := os.Stat(path); err != nil || info.Size() == 0 {
				t.Errorf("built %v, %v", info, err)
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(cache); err != nil || len(left) != 1 {
		t.Errorf("the cache holds %v, %v, want one file", left, err)
	}
	// What is there is not built again.
	t.Setenv("CC", "/nonexistent")
	if _, err := build(cache); err != nil {
		t.Error(err)
	}
}

func TestNoCompiler(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the clock shim is for Linux")
	}
	for what, tt := range map[string]struct {
		cc   string
		want []string
	}{
		"none":           {"/nonexistent/cc", []string{"/nonexistent/cc", "set CC", "apt-get install gcc"}},
		"one that fails": {"false -m64", []string{"false -m64", "exit status 1"}},
	} {
		t.Setenv("CC", tt.cc)
		cache := t.TempDir()
		_, err := build(cache)
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want it to contain %q", what, err, want)
			}
		}
		if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v, want nothing", what, left, err)
		}
	}
}

// Available tells in one sentence, as somebody reads it who has never heard of
// the shim.
func TestUnavailable(t *testing.T) {
	const child = "LEASEKIT_TEST_UNAVAILABLE"
	if os.Getenv(child) != "" {
		_, err := New(t.TempDir())
		fmt.Printf("%v\n%v\n", Available(), err)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("the clock shim is for Linux")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestUnavailable$")
	cmd.Env = append(os.Environ(), child+"=1", "CC=/nonexistent", "XDG_CACHE_HOME="+t.TempDir())
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	lines := strings.Split(string(text), "\n")
	for _, line := range lines[:2] {
		for _, want := range []string{"the clock of a server can't be moved", "C compiler", "/nonexistent", "apt-get install"} {
			if !strings.Contains(line, want) {
				t.Errorf("got %q, want it to contain %q", line, want)
			}
		}
	}
}

// Without a cache folder of the user, one of the temporary folder serves, unless
// it may be somebody else's.
func TestCacheFolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the clock shim is for Linux")
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	t.Setenv("TMPDIR", t.TempDir())
	first, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := cacheFolder(); err != nil || again != first {
		t.Errorf("asked again: got %q, %v, want %q", again, err, first)
	}
	if err := os.Chmod(first, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := cacheFolder(); err == nil || !strings.Contains(err.Error(), first) {
		t.Errorf("with a folder that anyone may write to: got %v, want an error that names it", err)
	}
}
