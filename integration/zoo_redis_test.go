package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/leasetest"
)

func huntRedis(t *testing.T, m mutant) kill {
	t.Helper()
	pass, hit := m.replace()
	hook := &scriptHook{pass: pass, answer: m.answer}
	if m.cluster {
		srv := server.RedisCluster(t)
		connect := func(t testing.TB, _ string, dial dialer) redis.UniversalClient {
			client := clusterClient(t, srv, dial)
			client.AddHook(hook)
			return client
		}
		return tried(t, m, hit, func(t testing.TB) *leasetest.Harness {
			// What the suite itself does to a record goes by the same names.
			return redisHarness(t, srv, connect(t, "", nil), connect)
		})
	}
	srv := server.Redis(t)
	connect := func(t testing.TB, _ string, dial dialer) redis.UniversalClient {
		client := redisClient(t, srv, func(o *redis.Options) { o.Dialer = dial })
		client.AddHook(hook)
		return client
	}
	return tried(t, m, hit, func(t testing.TB) *leasetest.Harness {
		return redisHarness(t, srv, connect(t, "", nil), connect)
	})
}

// scriptHook replaces the scripts of a client, and what it sends with them.
type scriptHook struct {
	pass   func(text string) string
	answer func(text string, err error) []any
}

// noScript is the answer of a server that does not know the digest of a script,
// upon which the client sends the script itself.
type noScript struct{}

func (noScript) Error() string { return "NOSCRIPT No matching script. Please use EVAL." }
func (noScript) RedisError()   {}

// ProcessHook implements redis.Hook.
func (h *scriptHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		if args[0] == "evalsha" {
			return noScript{}
		}
		for i, arg := range args { // the script, the keys, the arguments
			switch text := arg.(type) {
			case string:
				if i > 0 {
					args[i] = h.pass(text)
				}
			case *string:
				args[i] = h.pass(*text)
			}
		}
		err := next(ctx, cmd)
		if h.answer != nil && args[0] == "eval" {
			if reply := h.answer(args[1].(string), err); reply != nil {
				cmd.SetErr(nil)
				cmd.(interface{ SetVal(any) }).SetVal(reply)
				return nil
			}
		}
		return err
	}
}

// DialHook implements redis.Hook.
func (*scriptHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (*scriptHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// leaseName takes the name of a key apart: "{", the length of the prefix, ":", the
// prefix and the lease's name, "}", and what it is of the lease.
var leaseName = regexp.MustCompile(`^\{(\d+):([\s\S]*)\}([ln])$`)

// renamed has keys named in another way.
func renamed(name func(prefix, key, part string) string) func(string) string {
	return func(text string) string {
		found := leaseName.FindStringSubmatch(text)
		if found == nil {
			return text
		}
		n, err := strconv.Atoi(found[1])
		if err != nil || n > len(found[2]) {
			return text
		}
		return name(found[2][:n], found[2][n:], found[3])
	}
}

var redisMutants = []mutant{
	{
		name: "token-by-tostring", clause: "TOKEN-8", kinds: []string{"B125"},
		fault: "The token is made a text by Lua's tostring, which keeps 14 digits.",
		edit:  []string{"token = redis.call('GET', KEYS[2])", "token = tostring(count)"},
	},
	{
		name: "token-as-lua-number", clause: "TOKEN-8", kinds: []string{"S022"},
		fault: "The token is what INCR returned, which in Lua is a double.",
		edit:  []string{"token = redis.call('GET', KEYS[2])", "token = string.format('%.0f', count)"},
	},
	{
		name: "expire-of-0", clause: "EXCL-1", kinds: []string{"B056", "B060", "B127"},
		along: []string{"EXPIRY-2", "GET-1"}, nature: "a short lease is gone before its end, for every operation",
		fault: "Acquire expires the key after the whole seconds of the ttl, and EXPIRE 0 deletes it.",
		edit:  []string{"redis.call('PEXPIREAT', KEYS[1], expires)\nreturn 'granted ' .. token", "redis.call('EXPIRE', KEYS[1], math.floor(tonumber(ARGV[2]) / 1000))\nreturn 'granted ' .. token"},
	},
	{
		name: "release-deletes-counter", clause: "TOKEN-4", kinds: []string{"B001"},
		fault: "Release deletes the counter together with the lease.",
		edit:  []string{"redis.call('DEL', KEYS[1])", "redis.call('DEL', KEYS[1], KEYS[2])"},
	},
	{
		name: "counter-expires", clause: "TOKEN-5", kinds: []string{"B009", "B010"},
		fault: "The counter has an expiry too, a day after that of the lease, so that idle keys are collected.",
		edit:  []string{"redis.call('PEXPIREAT', KEYS[1], expires)\nreturn 'granted ' .. token", "redis.call('PEXPIREAT', KEYS[1], expires)\nredis.call('PEXPIREAT', KEYS[2], expires + 86400000)\nreturn 'granted ' .. token"},
	},
	{
		name: "live-while-it-exists", clause: "EXPIRY-2", kinds: []string{"B053"},
		fault: "A lease is live as long as its key exists, which Redis keeps through the ms of its expiry.",
		edit:  []string{"ms < lease.expires", "true"},
	},
	{
		name: "refusal-prolongs", clause: "EXCL-2",
		fault: "A refused Acquire writes its expiry before it looks at the holder.",
		edit:  []string{"  if lease.holder ~= ARGV[1] then", "  extend(expires)\n  if lease.holder ~= ARGV[1] then"},
	},
	{
		name: "holders-without-case", clause: "EXCL-6",
		fault: "Holders are compared without regard to case.",
		edit:  []string{"  if lease.holder ~= ARGV[1] then", "  if string.lower(lease.holder) ~= string.lower(ARGV[1]) then"},
	},
	{
		name: "release-by-holder", clause: "RELEASE-2", kinds: []string{"B015", "S011"},
		fault: "Release compares the holder and not the token.",
		edit:  []string{" and lease.token == ARGV[2] then", " then"},
	},
	{
		name: "tokens-compared-as-numbers", clause: "TOKEN-8", kinds: []string{"S022"},
		fault: "Renew compares tokens as Lua numbers, so that beyond 2^53 neighbours are equal.",
		edit:  []string{"lease.token ~= ARGV[2]", "tonumber(lease.token) ~= tonumber(ARGV[2])"},
	},
	{
		name: "clock-of-the-worker", clause: "EXPIRY-4", kinds: []string{"B042"},
		fault: "The time comes with the script, from the worker.",
		change: func(text string) string {
			return strings.ReplaceAll(text, "tonumber(t[1])", fmt.Sprintf("(tonumber(t[1]) + %d)", int(skew().Seconds())))
		},
	},
	{
		name: "errors-are-held", clause: "ERR-4", kinds: []string{"B073", "B074", "B145"},
		along: []string{"TOKEN-9", "ERR-9"}, nature: "a counter at its end and one of another type are errors of the server too",
		fault: "Every error of the server, and of reaching it, reads as held.",
		edit:  []string{"return 'held'", "return 'held' --"},
		answer: func(_ string, err error) []any {
			var answer redis.Error
			var dialing *net.OpError
			if errors.As(err, &answer) || errors.As(err, &dialing) && dialing.Op == "dial" {
				return []any{"held"}
			}
			return nil
		},
	},
	{
		name: "unknown-script-is-done", clause: "RELEASE-1", kinds: []string{"B103", "S029"},
		fault: "Release is sent by its digest alone, and a server that has forgotten the script passes for one that has run it.",
		edit:  []string{"return 'released'", "return 'unknown'", "redis.call('DEL', KEYS[1])", "writable()"},
		answer: func(text string, err error) []any {
			if err == nil && strings.Contains(text, "return 'unknown'") {
				return []any{"released"}
			}
			return nil
		},
	},
	{
		name: "prefix-and-name-joined", clause: "KEY-2", kinds: []string{"B121"},
		fault:  "The name of the key is prefix and lease name, one after the other.",
		change: renamed(func(prefix, key, part string) string { return "{" + prefix + key + "}" + part }),
	},
	{
		name: "suffix-of-another", clause: "ERR-7", kinds: []string{"B121", "S025"},
		fault: "The lease is kept under its bare name and the counter under that and \":token\", which is a lease's name too.",
		change: renamed(func(prefix, key, part string) string {
			if part == "n" {
				key += ":token"
			}
			return fmt.Sprintf("{%d:%s}%s", len(prefix), prefix, key)
		}),
	},
	{
		name: "empty-hash-tag", clause: "ERR-7", kinds: []string{"B104", "S024"}, cluster: true,
		fault:  "Only the lease's name is in the braces, so that for a name with a leading brace they are empty, and its two keys are on two nodes.",
		change: renamed(func(prefix, key, part string) string { return prefix + "{" + key + "}" + part }),
	},
}
