package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"sync"
)

// The events of a worker, in the order in which they come.
const (
	claimed    = "claimed"    // an attempt begins
	working    = "working"    // on a step, until the floor says go
	landed     = "landed"     // the data store has taken the result of a step
	refused    = "refused"    // it has not, because the token is stale
	superseded = "superseded" // the attempt is over without an end
	finished   = "finished"   // the run has all its results
)

// event is a line on the standard output of a worker.
type event struct {
	What    string
	Run     string
	Step    string `json:",omitempty"`
	Token   int64  `json:",omitempty"`
	Highest int64  `json:",omitempty"` // the token that has superseded this one
}

// supersedes says whether e is of a newer attempt at the run of other.
func (e event) supersedes(other event) bool { return e.Run == other.Run && e.Token > other.Token }

// pipes is the floorLine of a process: it writes events to its standard output, and its
// work is done when a line comes in.
type pipes struct {
	mu  sync.Mutex
	out *json.Encoder
	in  chan struct{}
}

func newPipes(in io.Reader, out io.Writer) *pipes {
	p := &pipes{out: json.NewEncoder(out), in: make(chan struct{})}
	go func() {
		for s := bufio.NewScanner(in); s.Scan(); {
			p.in <- struct{}{}
		}
		// Nobody watches any more.
		os.Exit(3)
	}()
	return p
}

func (p *pipes) say(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Encode(e)
}

func (p *pipes) work(e event) {
	e.What = working
	p.say(e)
	<-p.in
}
