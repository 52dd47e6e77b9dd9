package chaos

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
	"time"
)

func TestDelay(t *testing.T) {
	r := try(t)
	const by = 20 * time.Millisecond
	f := Delay(r.link, by)
	r.start(f)
	began := time.Now()
	r.wantAnswer("a")
	if took := time.Since(began); took < 2*by {
		t.Errorf("an answer took %v, want at least %v", took, 2*by)
	}
	r.heal(f, 2)
}

func TestCut(t *testing.T) {
	r := try(t)
	r.wantAnswer("a")
	f := Cut(r.link)
	r.start(f)
	r.wantBroken("b")
	if _, err := r.link.Dial(patient(t), "tcp", r.Addr().String()); !errors.Is(err, errRefused) {
		t.Errorf("dial: got %v, want a refusal", err)
	}
	r.heal(f, 1)
	r.await(t, "a healed")
}

func TestBlackHole(t *testing.T) {
	r := try(t)
	f := BlackHole(r.link)
	r.start(f)
	r.say("a")
	r.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if got, err := r.in.ReadString('\n'); err == nil {
		t.Errorf("got %q through a black hole", got)
	}
	r.conn.Close() // gives up, and its request arrives all the same
	awaitHit(t, f)
	if got := r.all(); got != "" {
		t.Errorf("the server got %q through a black hole", got)
	}
	r.heal(f, 1)
	r.await(t, "a healed", "healed a")
}

func TestBlackHoleHoldsDials(t *testing.T) {
	r := try(t)
	f := BlackHole(r.link)
	r.start(f)
	done := make(chan struct{})
	go func() { r.dial(); close(done) }()
	awaitHit(t, f)
	f.Heal(patient(t))
	<-done
	r.wantAnswer("a")
}

func TestDeaf(t *testing.T) {
	r := try(t)
	f := Deaf(r.link)
	r.start(f)
	r.say("a")
	r.await(t, "a")
	awaitHit(t, f)
	f.Heal(patient(t))
	if got, err := r.in.ReadString('\n'); err != nil || got != "answer 1 to a\n" {
		t.Errorf("after healing: got %q, %v", got, err)
	}
	r.heal(f, 1)
}

func TestPartition(t *testing.T) {
	r, other := try(t), try(t)
	f := Partition(r.link)
	r.start(f)
	other.wantAnswer("a")
	r.say("b")
	awaitHit(t, f)
	if got := r.all(); got != "" {
		t.Errorf("the server got %q through a partition", got)
	}
	r.heal(f, 1)
}

func TestReset(t *testing.T) {
	r := try(t)
	r.wantAnswer("a")
	f := Reset(r.link)
	r.start(f)
	if err := r.wantNone("b"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset connection", err)
	}
	r.heal(f, 1)
	r.await(t, "a healed")
}

func TestHalfOpen(t *testing.T) {
	r := try(t)
	r.wantAnswer("a")
	f := HalfOpen(r.link)
	r.start(f)
	old, in := r.conn, r.in
	r.say("b")
	awaitHit(t, f)
	r.dial()
	r.wantAnswer("c")
	f.Heal(patient(t))
	if _, err := in.ReadString('\n'); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after healing: got %v, want a reset connection", err)
	}
	old.Close()
	r.heal(f, 1)
	r.await(t, "a c healed")
}

func TestDrip(t *testing.T) {
	r := try(t)
	f := Drip(r.link, 3, time.Millisecond)
	r.start(f)
	began := time.Now()
	r.wantAnswer("abcdef")
	if took := time.Since(began); took < 7*time.Millisecond {
		t.Errorf("7 and 18 bytes in drops of 3, one each ms, took %v", took)
	}
	r.heal(f, 2)
}

func TestLoseReply(t *testing.T) {
	r := try(t)
	f := LoseReply(r.link, Aim{Nth: 2, Match: func(b []byte) bool { return !bytes.HasPrefix(b, []byte("hello")) }})
	r.start(f)
	r.wantAnswer("hello")
	r.wantAnswer("a")
	r.wantAnswer("hello")
	r.wantNone("b")
	r.await(t, "hello a hello b")
	r.dial()
	r.wantAnswer("c")
	r.heal(f, 1)
}

func TestLate(t *testing.T) {
	r := try(t)
	f := Late(r.link, Aim{Nth: 1})
	r.start(f)
	r.wantNone("a")
	r.dial()
	r.wantAnswer("b")
	r.await(t, "b")
	r.heal(f, 1)
	r.await(t, "b a healed")
}

func TestRepeat(t *testing.T) {
	r := try(t)
	f := Repeat(r.link, Aim{Nth: 1})
	r.start(f)
	r.wantNone("a")
	r.await(t, "a a")
	r.heal(f, 1)
	if got := r.link.Counts().Doubled; got != 1 {
		t.Errorf("%d doubled requests, want 1", got)
	}
}

func TestReplay(t *testing.T) {
	r := try(t)
	f := Replay(r.link, Aim{Nth: 1})
	r.start(f)
	r.wantNone("a")
	r.dial()
	r.wantAnswer("b")
	r.await(t, "a b")
	r.heal(f, 1)
	r.await(t, "a b a healed")
}

// A call that has run out of time heals its fault whatever the link is at.
func TestHealedMeanwhile(t *testing.T) {
	for name, fault := range map[string]func(*Link, Aim) Fault{"late": Late, "repeat": Repeat, "replay": Replay} {
		t.Run(name, func(t *testing.T) {
			r := try(t)
			var f Fault
			f = fault(r.link, Aim{Match: func([]byte) bool {
				if err := f.Heal(patient(t)); err != nil {
					t.Error(err)
				}
				return true
			}})
			r.start(f)
			r.wantAnswer("a")
			if got := f.Hits(); got != 0 {
				t.Errorf("%d hits of a fault that was healed before, want 0", got)
			}
		})
	}
}

func TestCutRequest(t *testing.T) {
	r := try(t)
	f := CutRequest(r.link, 4)
	r.start(f)
	r.wantAnswer("a")
	r.wantNone("bcd")
	r.heal(f, 1)
	r.await(t, "a healed")
}

func TestCutReply(t *testing.T) {
	r := try(t)
	f := CutReply(r.link, 4)
	r.start(f)
	r.say("a")
	got, err := r.in.ReadString('\n')
	if got != "answ" || err == nil {
		t.Errorf("got %q, %v, want 4 bytes and the end", got, err)
	}
	r.heal(f, 1)
	r.await(t, "a healed")
}
