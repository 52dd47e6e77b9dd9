package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lines is a server that answers each line that it gets, and keeps it.
type lines struct {
	net.Listener
	mu   sync.Mutex
	got  []string
	wake chan struct{} // gets a value, if there is room, with each line
}

func newLines(t *testing.T) *lines {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &lines{Listener: l, wake: make(chan struct{}, 1)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *lines) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, strings.TrimSpace(line))
		n := len(s.got)
		s.mu.Unlock()
		select {
		case s.wake <- struct{}{}:
		default:
		}
		fmt.Fprintf(c, "answer %d to %s", n, line)
	}
}

func (s *lines) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.got, " ")
}

// await waits until the server has got these lines, in one of these orders.
func (s *lines) await(t *testing.T, want ...string) {
	t.Helper()
	for over := time.After(bound); !slices.Contains(want, s.all()); {
		select {
		case <-s.wake:
		case <-over:
			t.Fatalf("the server got %q, want %q", s.all(), want)
		}
	}
}

// bound is how long what has to happen may take.
const bound = 10 * time.Second

// patient is a context for what must not hang.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	return ctx
}

// tried is a link to a server, with one client.
type tried struct {
	t *testing.T
	*lines
	server string // its address
	link   *Link
	conn   net.Conn
	in     *bufio.Reader
}

func try(t *testing.T) *tried {
	t.Helper()
	s := newLines(t)
	l, err := NewLink("test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() { l.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(bound):
			t.Error("Close does not return")
		}
		if n := l.Counts().Open; n != 0 {
			t.Errorf("%d connections are open after Close", n)
		}
	})
	r := &tried{t: t, lines: s, server: s.Addr().String(), link: l}
	r.dial()
	return r
}

func (r *tried) dial() {
	r.t.Helper()
	c, err := r.link.Dial(patient(r.t), "tcp", r.server)
	if err != nil {
		r.t.Fatalf("dial: %v", err)
	}
	r.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(bound))
	r.conn, r.in = c, bufio.NewReader(c)
}

func (r *tried) say(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, line+"\n"); err != nil {
		r.t.Fatalf("say %s: %v", line, err)
	}
}

// ask says a line and returns the answer to it.
func (r *tried) ask(line string) (string, error) {
	r.t.Helper()
	r.say(line)
	got, err := r.in.ReadString('\n')
	return strings.TrimSpace(got), err
}

func (r *tried) wantAnswer(line string) {
	r.t.Helper()
	if got, err := r.ask(line); err != nil || !strings.HasSuffix(got, " to "+line) {
		r.t.Fatalf("ask %s: got %q, %v", line, got, err)
	}
}

func (r *tried) wantNone(line string) error {
	r.t.Helper()
	got, err := r.ask(line)
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		r.t.Fatalf("ask %s: got %q, %v, want a broken connection", line, got, err)
	}
	return err
}

func (r *tried) start(f Fault) {
	r.t.Helper()
	if err := f.Available(); err != nil {
		r.t.Fatalf("%s is not available: %v", f.Name(), err)
	}
	if err := f.Start(patient(r.t)); err != nil {
		r.t.Fatalf("start %s: %v", f.Name(), err)
	}
}

// heal heals the fault, which must have hit so often, and makes sure that new
// connections work.
func (r *tried) heal(f Fault, hits int) {
	r.t.Helper()
	if f.Hits() != hits {
		r.t.Errorf("%s hit %d times, want %d", f.Name(), f.Hits(), hits)
	}
	if err := f.Heal(patient(r.t)); err != nil {
		r.t.Fatalf("heal %s: %v", f.Name(), err)
	}
	r.dial()
	r.wantAnswer("healed")
}

func TestLink(t *testing.T) {
	r := try(t)
	r.wantAnswer("a")
	r.wantAnswer("b")
	want := Counts{Dials: 1, Requests: 2, Replies: 2, Open: 1}
	if got := r.link.Counts(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A client that can't be given a Dial goes through the link as well.
func TestLinkListen(t *testing.T) {
	r := try(t)
	addr, err := r.link.Listen("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	r.conn, r.in = c, bufio.NewReader(c)
	r.wantAnswer("a")
	if got := r.link.Counts(); got.Open != 2 || got.Replies != 1 {
		t.Errorf("got %+v, want 2 connections and 1 reply", got)
	}
	f := Cut(r.link)
	r.start(f)
	r.wantBroken("b")
	r.heal(f, 0)
}

// awaitHit waits until a fault has met traffic.
func awaitHit(t *testing.T, f Fault) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for over := time.After(bound); f.Hits() == 0; {
		select {
		case <-again.C:
		case <-over:
			t.Fatalf("%s hits nothing", f.Name())
		}
	}
}

// wantBroken allows that not even the request can be sent.
func (r *tried) wantBroken(line string) {
	r.t.Helper()
	io.WriteString(r.conn, line+"\n")
	if got, err := r.in.ReadString('\n'); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		r.t.Fatalf("ask %s: got %q, %v, want a broken connection", line, got, err)
	}
}

// Several faults of a link act together, and each ends by itself.
func TestLinkWithSeveralFaults(t *testing.T) {
	r := try(t)
	refused, slow, hole := Cut(r.link), Drip(r.link, 1, time.Millisecond), BlackHole(r.link)
	r.start(slow)
	r.start(hole)
	r.say("a")
	awaitHit(t, hole)
	if got := r.all(); got != "" {
		t.Errorf("the server got %q through a black hole", got)
	}
	hole.Heal(patient(t))
	r.await(t, "a")
	awaitHit(t, slow)
	r.start(refused)
	slow.Heal(patient(t))
	if _, err := r.link.Dial(patient(t), "tcp", r.server); !errors.Is(err, errRefused) {
		t.Errorf("dial: got %v, want %v", err, errRefused)
	}
	refused.Heal(patient(t))
	r.dial()
	r.wantAnswer("b")
}

func TestLinkServerEnds(t *testing.T) {
	r := try(t)
	r.wantAnswer("a")
	r.Close()
	if _, err := r.link.Dial(patient(t), "tcp", r.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial a server that is down: got %v, want a refusal", err)
	}
	if got := r.link.Counts(); got.Refused != 1 {
		t.Errorf("got %+v, want 1 refused connection", got)
	}
}
