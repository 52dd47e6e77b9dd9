package chaos

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the server that is killed and paused.
func TestMain(m *testing.M) {
	if addr := os.Getenv("CHAOS_TEST_SERVER"); addr != "" {
		serveLines(addr)
		return
	}
	os.Exit(m.Run())
}

// serveLines is the program of a server: it says where it listens, and answers
// lines until its input ends.
func serveLines(addr string) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s := &lines{Listener: l, wake: make(chan struct{}, 1)}
	fmt.Println(l.Addr())
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		go s.serve(c)
	}
}

// program is a server that runs as a process.
type program struct {
	t    *testing.T
	addr string
	cmd  *exec.Cmd
}

func newProgram(t *testing.T) *program {
	p := &program{t: t, addr: "127.0.0.1:0"}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill() })
	return p
}

func (p *program) Pid() (int, error) { return p.cmd.Process.Pid, nil }

func (p *program) Kill() error {
	p.cmd.Process.Kill()
	p.cmd.Wait()
	return nil
}

func (p *program) Stop() error {
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.cmd.Wait()
	return nil
}

func (p *program) Start() error {
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), "CHAOS_TEST_SERVER="+p.addr)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	p.addr = strings.TrimSpace(addr)
	return nil
}

// tryProgram is a link to a server that runs as a process.
func tryProgram(t *testing.T) (*tried, *program) {
	r, p := try(t), newProgram(t)
	r.server = p.addr
	r.dial()
	r.wantAnswer("a")
	return r, p
}

func TestKillAndRestart(t *testing.T) {
	for _, fault := range []func(Process, ...*Link) Fault{Kill, Restart} {
		r, p := tryProgram(t)
		f := fault(p, r.link)
		r.start(f)
		if got, err := r.in.ReadString('\n'); err == nil {
			t.Errorf("%s: the server still says %q", f.Name(), got)
		}
		if _, err := r.link.Dial(patient(t), "tcp", p.addr); err == nil {
			t.Errorf("%s: the server still accepts connections", f.Name())
		}
		if _, err := r.link.Dial(patient(t), "tcp", p.addr); err == nil {
			t.Errorf("%s: the server still accepts connections", f.Name())
		}
		r.heal(f, 2)
	}
}

// A process that is killed while nobody asks it anything was not hit.
func TestKillWithoutTraffic(t *testing.T) {
	r, p := tryProgram(t)
	f := Kill(p, r.link)
	r.start(f)
	r.heal(f, 0)
}

func TestPause(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are paused on Linux only")
	}
	r, p := tryProgram(t)
	f := Pause(p, r.link)
	r.start(f)
	r.say("b")
	awaitHit(t, f)
	r.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if got, err := r.in.ReadString('\n'); err == nil {
		t.Errorf("a paused server answers %q", got)
	}
	r.heal(f, 1)
}

func TestPauseStopsChildren(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are paused on Linux only")
	}
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var child int
	fmt.Sscan(line, &child)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	defer syscall.Kill(child, syscall.SIGKILL)

	f := Pause(&program{cmd: cmd})
	for _, want := range []string{"T", "S"} {
		if want == "T" {
			if err := f.Start(patient(t)); err != nil {
				t.Fatal(err)
			}
		} else if err := f.Heal(patient(t)); err != nil {
			t.Fatal(err)
		}
		for _, pid := range []int{cmd.Process.Pid, child} {
			awaitState(t, pid, want)
		}
	}
}

func awaitState(t *testing.T, pid int, want string) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for over := time.After(bound); ; {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if strings.HasPrefix(rest, want) {
			return
		}
		select {
		case <-again.C:
		case <-over:
			t.Fatalf("process %d is in state %.1s, want %s", pid, rest, want)
		}
	}
}
