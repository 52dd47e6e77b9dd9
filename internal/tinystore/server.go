// Package tinystore is a store of leases behind a TCP port, in a few lines: what
// campaigns are tried on where no real server is to be had. Its faults are
// switched on one by one, to see whether a campaign finds them.
package tinystore

import (
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"sync"
	"time"
)

// Server is the store. Its address stays the same over restarts.
type Server struct {
	flaws Flaws
	now   func() time.Time

	mu       sync.Mutex
	addr     string
	listener net.Listener // nil: it is down
	conns    map[net.Conn]bool
	running  sync.WaitGroup

	records map[string]record // what answers are made from
	disk    map[string]record // what a crash leaves
	late    func()            // the write that is still owed to the disk
	writes  int
	scripts map[string]bool // the calls that it knows; the others it has to be told
	refused int             // requests by scripts that it did not know
}

// record is one key. It is never deleted, for it holds the counter.
type record struct {
	Holder  string
	Token   int64
	Counter int64
	End     int64 // in ms since 1970; 0: released
}

// request and reply are lines of JSON.
type request struct {
	Do      string
	Script  bool // the call is explained along
	Key     string
	Holder  string
	Token   int64
	TTL     time.Duration
	Fresh   bool      // the client believes not to hold the key
	Expires time.Time // as the client knows it
}

type reply struct {
	Answer string // "granted", "done", "held", "lost", "free", "unknown script"
	Holder string
	Token  int64
	End    int64
}

// Start makes a server on a free port and starts it. It goes by the clock now.
func Start(now func() time.Time, flaws Flaws) (*Server, error) {
	s := &Server{flaws: flaws, now: now, addr: "127.0.0.1:0", disk: map[string]record{}}
	return s, s.Start()
}

// Addr returns the server's address.
func (s *Server) Addr() string { return s.addr }

// Pid returns that of this process, in which the server runs.
func (s *Server) Pid() (int, error) { return os.Getpid(), nil }

// Start starts a server that was ended.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		return errors.New("the server runs already")
	}
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	s.addr, s.listener, s.conns = l.Addr().String(), l, map[net.Conn]bool{}
	s.records, s.scripts, s.late = maps.Clone(s.disk), map[string]bool{}, nil
	if s.flaws.FreesOnCrash {
		for key, r := range s.records {
			r.End = 0
			s.records[key] = r
		}
	}
	s.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			if s.listener != l {
				c.Close()
			} else {
				s.conns[c] = true
				s.running.Go(func() { s.serve(c) })
			}
			s.mu.Unlock()
		}
	})
	return nil
}

// Kill ends the server; what is not on its disk is lost.
func (s *Server) Kill() error { return s.end(false) }

// Stop ends the server in order.
func (s *Server) Stop() error { return s.end(true) }

func (s *Server) end(orderly bool) error {
	s.mu.Lock()
	if s.listener != nil {
		s.listener.Close()
		s.listener = nil
	}
	for c := range s.conns {
		c.Close()
	}
	if orderly {
		s.disk = maps.Clone(s.records)
	}
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// Forget lets the server forget all scripts.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = map[string]bool{}
}

// Forgotten is how many requests it did not know since.
func (s *Server) Forgotten() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	in, out := json.NewDecoder(c), json.NewEncoder(c)
	for {
		var q request
		if in.Decode(&q) != nil || out.Encode(s.answer(q)) != nil {
			return
		}
	}
}

func (s *Server) answer(q request) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.scripts[q.Do] && !q.Script {
		s.refused++
		return reply{Answer: "unknown script"}
	}
	s.scripts[q.Do] = true
	if s.late != nil {
		s.late()
		s.late = nil
	}
	r := s.records[q.Key]
	now := s.now().UnixMilli()
	live := now < r.End
	if s.flaws.DoubtsFarEnds && r.End-now > 6000 {
		live = false
	}
	own := live && r.Holder == q.Holder && r.Token == q.Token
	switch q.Do {
	case "acquire":
		switch {
		case live && r.Holder != q.Holder, live && q.Fresh && s.flaws.RefusesFresh:
			return reply{Answer: "held"}
		case !live, q.Fresh && s.flaws.NewTokenForFresh:
			r.Counter++
			r.Holder, r.Token = q.Holder, r.Counter
		}
		r.End = end(s.now(), q.TTL)
	case "renew":
		if !own || s.flaws.RenewsByExpiry && q.Expires.UnixMilli() != r.End {
			return reply{Answer: "lost"}
		}
		r.End = end(s.now(), q.TTL)
	case "release":
		if own {
			r.End = 0
			s.write(q.Key, r)
		}
		return reply{Answer: "done"}
	case "undo": // what only flawed clients ask for
		if live && r.Holder == q.Holder {
			r.End = 0
			s.write(q.Key, r)
		}
		return reply{Answer: "done"}
	default:
		if !live {
			return reply{Answer: "free"}
		}
	}
	if q.Do != "get" {
		s.write(q.Key, r)
	}
	return reply{"granted", r.Holder, r.Token, r.End}
}

// write changes a record, on disk as well.
func (s *Server) write(key string, r record) {
	before := s.records[key]
	s.records[key] = r
	s.writes++
	switch {
	case s.flaws.GrantLate:
		s.late = func() { s.disk[key] = r }
	case s.flaws.CounterLate && r.Counter != before.Counter:
		r.Counter, r.End = before.Counter, 0
		s.disk[key] = r
		s.late = func() { s.disk[key] = s.records[key] }
	case s.flaws.CounterInMemory && s.writes%10 != 0:
		r.Counter = s.disk[key].Counter
		s.disk[key] = r
	default:
		s.disk[key] = r
	}
}

// end is the first whole ms that is at least ttl after now.
func end(now time.Time, ttl time.Duration) int64 {
	at := now.Add(ttl)
	ms := at.UnixMilli()
	if at.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}
