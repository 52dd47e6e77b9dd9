package redislease

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"errors"

	"github.com/redis/go-redis/v9"
)

var (
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

	acquireScript = newScript(acquireLua)
	renewScript   = newScript(renewLua)
	releaseScript = newScript(releaseLua)
	getScript     = newScript(getLua)
)

// script is a Lua script and the digest by which Redis knows it once it has
// run. It stands in for redis.Script, whose commands a client may repeat.
type script struct {
	source, digest string
}

func newScript(proper string) *script {
	source := recordLua + "\n" + proper
	sum := sha1.Sum([]byte(source))
	return &script{source: source, digest: hex.EncodeToString(sum[:])}
}

// once is a command that the client must not repeat by itself. By default
// go-redis sends a command up to four times when the connection broke. Had the
// first one been executed and its grant been released by another worker
// meanwhile, the repeated one would grant again: one call, two grants (ERR-2).
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// run runs a script on the lease key. It returns when the reply is there or
// when the context ends, whichever is first.
//
// go-redis waits for a reply without looking at the context; at most, with
// ContextTimeoutEnabled, it heeds a deadline. The connection can't be closed
// from here, since it is the client's. So the exchange goes on in a goroutine
// until the client's own timeout, and gives its connection back in order. There
// are never more of these than connections in the pool; those that wait for a
// connection do look at the context.
//
// That has its price, for the reply wakes two goroutines instead of one. On
// loopback and two cores, in medians of BenchmarkRedis (module integration), a
// lone worker's call took 1.7 to 2 times as long, a call of eight workers 1.1 to
// 1.4 times; over a network the same few tens of µs weigh less. A context that
// can't end needs no goroutine, and gets none.
func (s *Service) run(ctx context.Context, sc *script, key string, args ...string) (reply, error) {
	if s.client == nil {
		return nil, errors.New("the redis client is nil")
	}
	if ctx.Done() == nil {
		return s.exchange(ctx, sc, key, args)
	}
	type result struct {
		reply reply
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r, err := s.exchange(ctx, sc, key, args)
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
		return nil, ctx.Err()
	}
}

// exchange sends a script by its digest, and by its text if Redis does not know
// it: after a restart, a failover or SCRIPT FLUSH.
func (s *Service) exchange(ctx context.Context, sc *script, key string, args []string) (reply, error) {
	r, err := s.send(ctx, "evalsha", sc.digest, key, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		return s.send(ctx, "eval", sc.source, key, args)
	}
	return r, err
}

func (s *Service) send(ctx context.Context, command, script, key string, args []string) (reply, error) {
	const firstKey = 3
	hash, counter := s.names.of(key)
	all := make([]any, firstKey, firstKey+2+len(args))
	all[0], all[1], all[2] = command, script, "2"
	all = append(all, hash, counter)
	for _, a := range args {
		all = append(all, a)
	}
	cmd := once{redis.NewCmd(ctx, all...)}
	cmd.SetFirstKeyPos(firstKey)
	if err := s.client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.StringSlice()
}
