package redislease

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed check.lua
	checkLua string
	//go:embed record.lua
	recordLua string
	//go:embed acquire.lua
	acquireLua string
	//go:embed renew.lua
	renewLua string
	//go:embed release.lua
	releaseLua string
	//go:embed get.lua
	getLua string

	//go:embed fenced.lua
	fencedLua string
	//go:embed write.lua
	writeLua string
	//go:embed read.lua
	readLua string

	acquireScript = newScript(recordLua, acquireLua)
	renewScript   = newScript(recordLua, renewLua)
	releaseScript = newScript(recordLua, releaseLua)
	getScript     = newScript(recordLua, getLua)
	writeScript   = newScript(fencedLua, writeLua)
	readScript    = newScript(fencedLua, readLua)
)

// script is a Lua script and the digest by which Redis knows it once it has
// run. It stands in for redis.Script, whose commands a client may repeat. Both are
// texts, as arguments of a command.
type script struct {
	source, digest any
}

func newScript(record, proper string) *script {
	source := checkLua + "\n" + record + "\n" + proper
	sum := sha1.Sum([]byte(source))
	return &script{source: source, digest: hex.EncodeToString(sum[:])}
}

// once is a command that the client must not repeat by itself. By default
// go-redis sends a command up to four times when the connection broke. Had the
// first one been executed and its grant been released by another worker
// meanwhile, the repeated one would grant again: one call, two grants (ERR-2).
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// host is the Redis, or the cluster, on which scripts run, or one connection to
// it.
type host struct{ client processor }

// processor is what a client and a single connection of it have in common.
type processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

func newHost(client redis.UniversalClient) host {
	if v := reflect.ValueOf(client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return host{}
	}
	return host{client}
}

// call is a script with its keys and arguments, in the form in which go-redis wants
// a command. It keeps all of them together: on its own each would be an allocation,
// and another one as an any.
type call struct {
	script *script
	texts  [mostTexts]string
	all    [beforeKeys + mostTexts]any
	used   int       // of all
	wait   *replicas // that are to confirm what the script writes; nil: none
}

const (
	beforeKeys = 3 // EVALSHA, the digest and the number of keys
	mostTexts  = 6 // keys and arguments of one script
)

// newCall is a call on so many keys, which are the first of the texts and share a
// cluster slot; the script's arguments follow.
func newCall(sc *script, keys int, texts ...string) *call {
	c := &call{script: sc, used: beforeKeys + len(texts)}
	c.all[2] = keys
	copy(c.texts[:], texts)
	for i := range texts {
		c.all[beforeKeys+i] = &c.texts[i]
	}
	return c
}

// run makes a call. It returns when the reply is there or when the context ends,
// whichever is first.
//
// go-redis waits for a reply without looking at the context; at most, with
// ContextTimeoutEnabled, it heeds a deadline. The connection can't be closed
// from here, since it is the client's. So the exchange goes on in a goroutine
// until the client's own timeout, and gives its connection back in order. There
// are never more of these than connections in the pool; those that wait for a
// connection do look at the context.
//
// That has its price: three allocations, and a reply that wakes two goroutines
// instead of one. BenchmarkRedis (module integration) shows it, at most twice the
// time of a lone worker's call on loopback, and within the noise on a busy
// machine. A context that can't end needs no goroutine, and gets none.
func (h host) run(ctx context.Context, c *call) (reply, error) {
	if h.client == nil {
		return reply{}, errors.New("the redis client is nil")
	}
	if ctx.Done() == nil {
		return h.do(ctx, c)
	}
	type result struct {
		reply reply
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r, err := h.do(ctx, c)
		done <- result{r, err}
	}()
	select {
	case r := <-done:
		return r.reply, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done: // both at once: an answer is worth more
		return r.reply, r.err
	default:
		return reply{}, ctx.Err()
	}
}

// withoutArgs cuts from a server's error the arguments of a command that it does
// not know. A server without AUTH repeats the password in it, and a call makes
// connections too.
func withoutArgs(err error) error {
	var reply redis.Error
	if !errors.As(err, &reply) || !redis.HasErrorPrefix(err, "unknown command") {
		return err
	}
	text, _, _ := strings.Cut(reply.Error(), ",")
	return errors.New(text)
}

func (h host) do(ctx context.Context, c *call) (reply, error) {
	if c.wait != nil {
		return c.wait.confirmed(ctx, h, c)
	}
	return h.exchange(ctx, c)
}

// exchange sends a script by its digest, and by its text if Redis does not know
// it: after a restart, a failover or SCRIPT FLUSH.
//
// TRYAGAIN is what a cluster answers while it moves the slot to another node: it
// has executed nothing, since it can't tell a key that is missing from one that
// has not arrived yet. A slot moves in ms, as a rule, so that is waited for, a
// second and a bit at most.
func (h host) exchange(ctx context.Context, c *call) (reply, error) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		r, err := h.send(ctx, c, "evalsha", c.script.digest)
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			r, err = h.send(ctx, c, "eval", c.script.source)
		}
		if !redis.HasErrorPrefix(err, "TRYAGAIN") || wait > time.Second {
			return r, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return reply{}, err
		}
	}
}

func (h host) send(ctx context.Context, c *call, command, script any) (reply, error) {
	c.all[0], c.all[1] = command, script
	cmd := once{redis.NewCmd(ctx, c.all[:c.used]...)}
	cmd.SetFirstKeyPos(beforeKeys)
	if err := h.client.Process(ctx, cmd); err != nil {
		return reply{}, err
	}
	return newReply(cmd.Val())
}
