package integration

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// redisTarget is a Redis for campaigns, which do to it what they like. Of its
// client's settings, change makes others.
func redisTarget(name string, srv *server.RedisServer, admin *redis.Client, o redislease.Options, change func(*redis.Options)) chaos.Target {
	o.Prefix = freshPrefix()
	target := chaos.Target{
		Name: name,
		Connect: func(dial chaos.Dial) (lease.Service, func() error, error) {
			client := redis.NewClient(chaosRedis(srv.Addr(), dial, change))
			return redislease.New(client, &o), client.Close, nil
		},
		Match:  isScript,
		Faults: append(chaos.ProcessKinds(srv.Process()), redisFaults(admin)...),
	}
	if c := srv.Clock(); c != nil {
		target.Clock = c
	}
	return target
}

// freshPrefix separates a campaign from others on a server of its own: nothing
// has to be removed.
func freshPrefix() string { return "chaos-" + rand.Text() + ":" }

// chaosRedis are the settings of a client that is put through a campaign: those
// of redislease.Open.
func chaosRedis(addr string, dial chaos.Dial, change func(*redis.Options)) *redis.Options {
	o := &redis.Options{
		Addr: addr, Dialer: dial,
		MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if change != nil {
		change(o)
	}
	return o
}

// isScript tells the requests of calls from what go-redis says of itself.
func isScript(request []byte) bool { return bytes.Contains(bytes.ToLower(request), []byte("\r\neval")) }

// redisFaults are what can be done to a Redis in its own language.
func redisFaults(admin *redis.Client) []chaos.Kind {
	do := func(ctx context.Context, args ...any) error { return admin.Do(ctx, args...).Err() }
	kind := func(name string, of func(rnd *mathrand.Rand) *chaos.Store) chaos.Kind {
		return chaos.Kind{Name: name, On: chaos.OnStore, Make: func(_ chaos.Scene, rnd *mathrand.Rand) chaos.Fault {
			f := of(rnd)
			f.Title = name
			return f
		}}
	}
	// errors are the answers of a kind that the server has given since Begin.
	errors := func(f *chaos.Store, code string) *chaos.Store {
		begin, before := f.Begin, 0
		f.Begin = func(ctx context.Context) error {
			before = redisErrors(admin, code)
			return begin(ctx)
		}
		f.Count = func() int { return redisErrors(admin, code) - before }
		return f
	}
	set := func(name string, on, off string) func(*mathrand.Rand) *chaos.Store {
		return func(*mathrand.Rand) *chaos.Store {
			return &chaos.Store{
				Begin: func(ctx context.Context) error { return do(ctx, "config", "set", name, on) },
				End:   func(ctx context.Context) error { return do(ctx, "config", "set", name, off) },
			}
		}
	}
	return []chaos.Kind{
		kind("store/script-flush", func(*mathrand.Rand) *chaos.Store {
			return errors(&chaos.Store{Begin: func(ctx context.Context) error { return do(ctx, "script", "flush") }}, "NOSCRIPT")
		}),
		kind("store/client-kill", func(*mathrand.Rand) *chaos.Store {
			killed := 0
			return &chaos.Store{
				Begin: func(ctx context.Context) (err error) {
					killed, err = admin.Do(ctx, "client", "kill", "type", "normal", "skipme", "yes").Int()
					return err
				},
				Count: func() int { return killed },
			}
		}),
		kind("store/no-memory", func(rnd *mathrand.Rand) *chaos.Store { return errors(set("maxmemory", "1", "0")(rnd), "OOM") }),
		kind("store/no-replicas", func(rnd *mathrand.Rand) *chaos.Store {
			return errors(set("min-replicas-to-write", "1", "0")(rnd), "NOREPLICAS")
		}),
	}
}

// redisErrors counts the errors that the server has answered.
func redisErrors(admin *redis.Client, code string) int {
	stats, err := admin.Info(context.Background(), "errorstats").Result()
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(stats, "errorstat_"+code+":count=")
	if !found {
		return 0
	}
	digits, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic(fmt.Sprintf("Redis counts %q errors", digits))
	}
	return n
}
