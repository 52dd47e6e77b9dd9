package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// farewell is how long a worker may take to end by itself, once it has closed its
// stdout or its stdin was closed.
const farewell = 2 * time.Second

// worker is one process that speaks the protocol. Requests wait for each other: one
// request, one reply.
type worker struct {
	name    string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  *tail
	limit   time.Duration // of one reply
	hello   reply
	started time.Time     // right time, shortly before its hello
	ended   chan struct{} // closed when the process has ended
	status  error         // how it did; read it after ended

	turn sync.Mutex // held from a request to its reply

	mu      sync.Mutex
	last    int64        // id of the last request
	op      string       // of that
	waiting chan<- reply // for its reply; nil if none is due

	failing sync.Once
	failed  chan struct{} // closed when the worker has broken the protocol
	why     error         // how; read it after failed
	tell    func(error)   // is told that
}

// startWorker starts a process and waits for its hello.
func startWorker(name, text string, env []string, limit time.Duration, tell func(error)) (*worker, error) {
	w := &worker{
		name: name, cmd: command(text), stderr: &tail{}, limit: limit, tell: tell,
		ended: make(chan struct{}), failed: make(chan struct{}),
	}
	w.cmd.Env = append(os.Environ(), env...)
	w.cmd.Stderr = w.stderr
	w.cmd.WaitDelay = time.Second // for a grandchild that keeps stderr
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the adapter: %w", err)
	}
	w.cmd.Stdout = stdout
	if w.stdin, err = w.cmd.StdinPipe(); err == nil {
		err = w.cmd.Start()
	}
	stdout.Close()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("start the adapter: %w", err)
	}
	go func() {
		w.status = w.cmd.Wait()
		close(w.ended)
	}()
	go w.read(out)
	w.started = time.Now()
	r, err := w.ask(request{"hello", map[string]any{"version": Version}})
	if err != nil {
		return nil, err
	}
	if _, ok := r.errorOf(); !ok || r.Result != "ok" {
		return nil, w.fail(fmt.Errorf("answered hello with the result %.40q: %.200s", r.Result, r.Text))
	}
	if r.Version != Version {
		return nil, w.fail(fmt.Errorf("speaks version %d of the protocol, and leasecheck version %d", r.Version, Version))
	}
	w.hello = r
	return w, nil
}

// read takes the lines of the worker until there are no more.
func (w *worker) read(out *os.File) {
	defer out.Close()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		if err := w.take(lines.Bytes()); err != nil {
			w.fail(err)
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		w.fail(fmt.Errorf("wrote a line of more than %d bytes to its stdout", longestLine))
		return
	}
	// A process that ends closes its stdout a moment before.
	select {
	case <-w.ended:
		if w.status == nil {
			w.fail(errors.New("ended, with exit status 0"))
		} else {
			w.fail(fmt.Errorf("ended: %w", w.status))
		}
	case <-time.After(min(farewell, w.limit/2)): // before the limit says less
		w.fail(errors.New("closed its stdout"))
	}
}

// take hands a line to the request that waits for it.
func (w *worker) take(line []byte) error {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return fmt.Errorf("wrote the line %.200q, whose %s is a %s where the protocol has a %s", line, kind.Field, kind.Value, kind.Type)
		}
		return fmt.Errorf("wrote the line %.200q, which is no JSON object: %w", line, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case r.ID == nil:
		return fmt.Errorf("wrote the line %.200q, which has no id", line)
	case w.waiting == nil:
		return fmt.Errorf("wrote the line %.200q when no reply was due", line)
	case *r.ID != w.last:
		return fmt.Errorf("answered the request %d (%s) with the id %d", w.last, w.op, *r.ID)
	}
	w.waiting <- r
	w.waiting = nil
	return nil
}

// ask makes a request and waits for the reply.
func (w *worker) ask(req request) (reply, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	return w.exchange(req)
}

// exchange is ask for one who has the turn.
func (w *worker) exchange(req request) (reply, error) {
	answer := make(chan reply, 1)
	w.mu.Lock()
	w.last++
	w.op, w.waiting = req.op, answer
	id := w.last
	w.mu.Unlock()
	line, err := req.encode(id)
	if err != nil {
		return reply{}, fmt.Errorf("encode a request: %w", err)
	}
	timer := time.AfterFunc(w.limit, func() {
		w.fail(fmt.Errorf("did not answer the request %d (%s) within %v", id, req.op, w.limit))
	})
	defer timer.Stop()
	// A worker that does not read ends by the limit, and one that is gone by what
	// read sees.
	_, _ = w.stdin.Write(line)
	select {
	case r := <-answer:
		return r, nil
	case <-w.failed:
		return reply{}, w.why
	}
}

// call is ask for a caller who may give up. Then the reply is thrown away: what the
// worker was asked for may happen all the same.
func (w *worker) call(ctx context.Context, req request) (reply, error) {
	if err := ctx.Err(); err != nil {
		return reply{}, err
	}
	type outcome struct {
		reply
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		w.turn.Lock()
		defer w.turn.Unlock()
		if err := ctx.Err(); err != nil {
			done <- outcome{err: err}
			return
		}
		r, err := w.exchange(req)
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		if err := ctx.Err(); err != nil && o.err == nil {
			return reply{}, err
		}
		return o.reply, o.err
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
}

// fail ends a worker that has broken the protocol, and returns the error that says
// so: the first reason counts.
func (w *worker) fail(why error) error {
	w.failing.Do(func() {
		kill(w.cmd)
		<-w.ended // for the rest of its stderr
		w.why = fmt.Errorf("%s %w; %s", w.name, why, w.stderr)
		close(w.failed)
		w.tell(w.why)
	})
	<-w.failed
	return w.why
}

// end lets the worker end by itself, and sees to it that it does.
func (w *worker) end() {
	w.failing.Do(func() { // what it says from now on is not wrong any more
		w.why = fmt.Errorf("%s was ended", w.name)
		close(w.failed)
	})
	w.stdin.Close()
	select {
	case <-w.ended:
	case <-time.After(farewell):
	}
	kill(w.cmd) // what the shell may have left behind, too
	<-w.ended
}
