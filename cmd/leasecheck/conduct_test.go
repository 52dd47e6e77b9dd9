package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// conductVar names how an adapter of this test binary behaves.
const conductVar = "LEASECHECK_TEST_CONDUCT"

// behaving is the target with an adapter of that conduct.
func behaving(t *testing.T, kind string, env ...string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("exec:%s=%s %s exec %s", conductVar, kind, strings.Join(env, " "), quoted(exe))
}

// line is a request or a reply.
type line = map[string]any

// say writes a reply.
func say(reply line) {
	text, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(text, '\n'))
}

// conducts are adapters that do as they should up to the op that is given, and then
// something else.
var conducts = map[string]struct {
	at string // op
	do func(request line)
}{
	"dies at once":        {"hello", func(line) { os.Exit(3) }},
	"dies in a call":      {"acquire", func(line) { os.Exit(4) }},
	"ends well too early": {"acquire", func(line) { os.Exit(0) }},
	"hangs":               {"acquire", func(line) { select {} }},
	"floods": {"acquire", func(r line) {
		for {
			say(line{"id": r["id"], "result": "held"})
		}
	}},
	"floods stderr": {"acquire", func(line) {
		for {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 200))
		}
	}},
	"answers twice":       {"acquire", func(r line) { say(granted(r, "1")); say(granted(r, "1")) }},
	"answers the former":  {"acquire", func(r line) { say(line{"id": r["id"].(float64) - 1, "result": "held"}) }},
	"answers the next":    {"acquire", func(r line) { say(line{"id": r["id"].(float64) + 1, "result": "held"}) }},
	"gives no id":         {"acquire", func(line) { say(line{"result": "held"}) }},
	"talks":               {"open", func(line) { fmt.Println("Connected to the store!") }},
	"has another version": {"hello", func(r line) { say(line{"id": r["id"], "result": "ok", "version": 99}) }},
	"writes a huge line":  {"acquire", func(line) { fmt.Println(strings.Repeat("x", 1<<20)) }},
	"writes one for ever": {"acquire", func(line) {
		for {
			fmt.Print(strings.Repeat("x", 1<<10))
		}
	}},
	"closes stdout":      {"acquire", func(line) { os.Stdout.Close(); select {} }},
	"talks to stderr":    {"acquire", func(line) { fmt.Fprintln(os.Stderr, "an answer"); select {} }},
	"has number tokens":  {"acquire", func(r line) { say(granted(r, 9007199254740993)) }},
	"has word tokens":    {"acquire", func(r line) { say(granted(r, "first")) }},
	"has vast tokens":    {"acquire", func(r line) { say(granted(r, "9223372036854775808")) }},
	"has vague times":    {"acquire", func(r line) { g := granted(r, "1"); g["lease"].(line)["expires"] = "soon"; say(g) }},
	"grants nothing":     {"acquire", func(r line) { say(line{"id": r["id"], "result": "ok"}) }},
	"has its own words":  {"acquire", func(r line) { say(line{"id": r["id"], "result": "maybe"}) }},
	"answers in a list":  {"acquire", func(line) { fmt.Println("[1, 2]") }},
	"reads nothing more": {"open", func(line) { select {} }},
}

func granted(r line, token any) line {
	return line{"id": r["id"], "result": "ok", "lease": line{
		"key": r["key"], "holder": r["holder"], "token": token, "expires": time.Now().Add(time.Hour).Format(time.RFC3339Nano),
	}}
}

// behave is the whole of an adapter: one of those above, or one that hands all on to
// the server at the address in kind.
func behave(kind string) {
	fmt.Fprintln(os.Stderr, "the adapter says hello on stderr")
	if addr, ok := strings.CutPrefix(kind, "proxy="); ok {
		proxy(addr)
		return
	}
	c, ok := conducts[strings.ReplaceAll(kind, "-", " ")]
	if !ok {
		panic("no conduct " + kind)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r line
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			panic(err)
		}
		switch {
		case r["op"] == c.at:
			c.do(r)
		case r["op"] == "hello":
			say(line{"id": r["id"], "result": "ok", "version": 1})
		default:
			say(line{"id": r["id"], "result": "ok"})
		}
	}
}

// proxy is an adapter whose store is in the process of the test.
func proxy(addr string) {
	conn, err := net.Dial("unix", addr)
	if err != nil {
		panic(err)
	}
	in, replies := bufio.NewScanner(os.Stdin), bufio.NewReader(conn)
	for in.Scan() {
		fmt.Fprintf(conn, "%s\n", in.Bytes())
		reply, err := replies.ReadBytes('\n')
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(reply)
	}
}

// keeper is the store behind the proxies, and what it does wrongly.
type keeper struct {
	hello      line // added to its hello
	refusesOwn bool // the holder's own Acquire is refused by its own lease
}

// target is the target whose adapters have their store in k.
func (k keeper) target(t *testing.T) string {
	t.Helper()
	// A socket's name may not be long.
	dir, err := os.MkdirTemp("", "lc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	store := memlease.New(nil)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go k.serve(t, conn, store)
		}
	}()
	return behaving(t, "proxy="+dir+"/s")
}

func (k keeper) serve(t *testing.T, conn net.Conn, store *memlease.Store) {
	defer conn.Close()
	var s lease.Service
	in := bufio.NewScanner(conn)
	for in.Scan() {
		var r line
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Error(err)
			return
		}
		reply := line{"id": r["id"], "result": "ok"}
		switch r["op"] {
		case "hello":
			reply["version"], reply["time"] = 1, time.Now().Format(time.RFC3339Nano)
			for name, value := range k.hello {
				reply[name] = value
			}
		case "open":
			s = store.Service(fmt.Sprint(len(r["store"].(string)), r["store"], r["namespace"]))
		case "now":
			reply["time"] = time.Now().Format(time.RFC3339Nano)
		case "close":
		default:
			k.call(t, s, r, reply)
		}
		text, err := json.Marshal(reply)
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(conn, "%s\n", text)
	}
}

// call makes a call on the store, and puts what it says into the reply.
func (k keeper) call(t *testing.T, s lease.Service, r, reply line) {
	ctx := t.Context()
	number := func(from line, name string) int64 {
		n, err := strconv.ParseInt(fmt.Sprint(from[name]), 10, 64)
		if err != nil && r["op"] != "release" {
			t.Error(err)
		}
		return n
	}
	held := func() lease.Lease {
		l := r["lease"].(line)
		return lease.Lease{Key: l["key"].(string), Holder: l["holder"].(string), Token: number(l, "token")}
	}
	var got lease.Lease
	var err error
	switch r["op"] {
	case "acquire":
		key, holder, ttl := r["key"].(string), r["holder"].(string), time.Duration(number(r, "ttl"))
		if k.refusesOwn && lease.CheckAcquire(key, holder, ttl) == nil {
			if _, err := s.Get(ctx, key); err == nil {
				reply["result"] = "held"
				return
			}
		}
		got, err = s.Acquire(ctx, key, holder, ttl)
	case "renew":
		got, err = s.Renew(ctx, held(), time.Duration(number(r, "ttl")))
	case "release":
		err = s.Release(ctx, held())
	default:
		got, err = s.Get(ctx, r["key"].(string))
	}
	for word, is := range map[string]error{"held": lease.ErrHeld, "lost": lease.ErrLost, "not-held": lease.ErrNotHeld, "invalid": lease.ErrInvalid} {
		if errors.Is(err, is) {
			reply["result"], reply["text"] = word, err.Error()
			return
		}
	}
	if err != nil {
		reply["result"], reply["text"] = "error", err.Error()
		return
	}
	if r["op"] != "release" {
		reply["lease"] = line{"key": got.Key, "holder": got.Holder, "token": strconv.FormatInt(got.Token, 10), "expires": got.ExpiresAt.Format(time.RFC3339Nano)}
	}
}
