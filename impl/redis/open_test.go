package redislease

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
)

func TestOpen(t *testing.T) {
	st := newStore(t)
	st.RequireUserAuth("worker", "secret")
	s, err := Open("redis://worker:secret@"+st.Addr()+"/3?max_retries=5", &Options{Prefix: "p"})
	if err != nil {
		t.Fatal(err)
	}
	l := acquire(t, s, "job", "a", time.Minute)
	if !st.DB(3).Exists("{1:pjob}l") {
		t.Errorf("the lease is not in database 3:\n%s", st.Dump())
	}
	if st.CurrentConnectionCount() == 0 {
		t.Error("no connection is open, want one")
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := s.Renew(context.Background(), l, time.Minute); err == nil || isSentinel(err) {
		t.Errorf("Renew after Close: got %v, want an error that is no sentinel", err)
	}
}

func TestOpenWithWrongPassword(t *testing.T) {
	st := newStore(t)
	st.RequireAuth("secret")
	for _, url := range []string{
		"redis://" + st.Addr(),
		"redis://:hunter2@" + st.Addr(),
		"redis://hunter2:hunter2@" + st.Addr() + "/0",
	} {
		s, err := Open(url, nil)
		if err == nil {
			t.Errorf("Open(%q): no error", url)
			s.Close()
			continue
		}
		if !strings.Contains(err.Error(), st.Addr()) || strings.Contains(err.Error(), "hunter2") || isSentinel(err) {
			t.Errorf("Open(%q): the error %q must name %s and not the password", url, err, st.Addr())
		}
	}
}

// A server that knows neither HELLO nor AUTH repeats their arguments.
func TestOpenWithoutAuth(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			words := strings.Split(string(buf[:n]), "\r\n")
			fmt.Fprintf(c, "-ERR unknown command '%s', with args beginning with: '%s'\r\n", words[2], strings.Join(words[3:], "' '"))
		}
	}()
	_, err = Open("redis://worker:hunter2@"+l.Addr().String(), nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("got the error %v, want one that says what is unknown and not the password", err)
	}
}

func TestOpenUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	if _, err := Open("redis://u:hunter2@"+addr, nil); err == nil || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got the error %v, want one that names %s and not the password", err, addr)
	}
	addr, _ = blackHole(t)
	_, err = Open("redis://u:hunter2@"+addr+"?read_timeout=50ms", nil)
	if err == nil || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("server that does not answer: got the error %v, want one that names %s and not the password", err, addr)
	}
}

func TestOpenBrokenURL(t *testing.T) {
	for _, tt := range []struct{ url, host string }{
		{"", ""},
		{"db.example", ""},
		{"db.example:6379", ""},
		{"u:hunter2@db.example:6379", ""},
		{"http://u:hunter2@db.example:6379", "db.example:6379"},
		{"redis://u:hunter2@db.example:port", ""},
		{"redis://u:hunter2@db.example:6379/zero", "db.example:6379"},
		{"redis://u:hunter2@db.example:6379/0/1", "db.example:6379"},
		{"redis://u:hunter2@db.example:6379/hunter2", "db.example:6379"},
		{"redis://u:hunter2@db.example:6379?db=zero", "db.example:6379"},
		{"redis://u:hunter2@db.example:6379?dial_timeout=soon", "db.example:6379"},
		{"redis://u:hunter2@db.example:6379?colour=red", "db.example:6379"},
		{"redis://db.example:6379?password=hunter2", "db.example:6379"},
		{"redis://db.example:6379?pool_size=-1", "db.example:6379"},
		{"redis://db.example:6379?pool_size=99999999999", "db.example:6379"},
		{"redis://db.example:6379?min_idle_conns=99999999999", "db.example:6379"},
		{"redis://db.example:6379?max_idle_conns=99999999999", "db.example:6379"},
		{"redis://db.example:6379?max_active_conns=99999999999", "db.example:6379"},
		{"redis://db.example:6379?pipeline_pool_size=99999999999", "db.example:6379"},
		{"redis://db.example:6379?pool_size=2147483647", "db.example:6379"},
		{"redis:db.example:6379", ""},
		{"redis:u:hunter2@db.example:6379", ""},
		{"redis://u:hunter2:6379", ""},
		{"redis://u:hunter2%zz@db.example:6379", "db.example:6379"},
		{"redis://u:%zzhunter2@[::1]:6379", "[::1]:6379"},
		{"redis://u:hunter2/hunter2@db.example:6379", "db.example:6379"},
		{"redis://u:123/hunter2@db.example:6379", "db.example:6379"},
		{"redis://u:123/hunter2@db.example:6379/0", "db.example:6379"},
		{"redis://u:123?hunter2@db.example:6379", ""},
		{"redis://u:123#hunter2@db.example:6379", ""},
		{"redis://u:hunter2 @db.example:6379", "db.example:6379"},
		{"redis://u:hunter2\n@db.example:6379", "db.example:6379"},
		{"redis://:hunter2", ""},
		{"redis://u:hunter2", ""},
		{"unix://u:hunter2@", ""},
	} {
		s, err := Open(tt.url, nil)
		if err == nil {
			t.Errorf("Open(%q): no error", tt.url)
			s.Close()
			continue
		}
		text := err.Error()
		if !strings.Contains(text, tt.host) || !strings.Contains(text, "URL") {
			t.Errorf("Open(%q): the error %q does not name the host %q", tt.url, text, tt.host)
		}
		if strings.Contains(text, "hunter2") || strings.Contains(text, "123") {
			t.Errorf("Open(%q): the error %q has the password in it", tt.url, text)
		}
		if errors.Is(err, lease.ErrInvalid) {
			t.Errorf("Open(%q): got ErrInvalid, which is for arguments of calls", tt.url)
		}
	}
}

// ERR-6: Close ends a dial that is under way, here one that waits for the TLS
// handshake of a server that says nothing.
func TestCloseEndsDial(t *testing.T) {
	addr, accepted := blackHole(t)
	opts := &redis.Options{DialTimeout: time.Hour, TLSConfig: &tls.Config{ServerName: "db.example"}}
	closing, stop := context.WithCancel(context.Background())
	defer stop()
	dial := dialer(opts, closing)
	done := make(chan error)
	go func() {
		_, err := dial(context.Background(), "tcp", addr)
		done <- err
	}()
	<-accepted
	stop()
	if err := <-done; err == nil {
		t.Error("the dial gave a connection, want an error")
	}
}
