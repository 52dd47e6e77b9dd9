package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/chaos"
	redislease "github.com/leasekit/lease/impl/redis"
	"github.com/leasekit/lease/integration/server"
)

// pair is a primary and its replica, which change roles.
type pair struct {
	servers [2]*server.RedisServer
	into    [2]*chaos.Link // by which the other one replicates
	via     [2]string      // the addresses of these links

	mu      sync.Mutex
	primary int // index of servers
}

// lag is how far the replica is behind.
const lag = 20 * time.Millisecond

func startPair(t *testing.T) *pair {
	t.Helper()
	first, others := server.StartRedisPair(t, 1)
	p := &pair{servers: [2]*server.RedisServer{first, others[0]}}
	for n, srv := range p.servers {
		link, err := chaos.NewLink("of replication")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { link.Close() })
		if p.via[n], err = link.Listen("tcp", srv.Addr()); err != nil {
			t.Fatal(err)
		}
		if err := chaos.Delay(link, lag).Start(patient(t)); err != nil {
			t.Fatal(err)
		}
		p.into[n] = link
	}
	if err := p.servers[1].Replicate(patient(t), p.via[0]); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) roles() (primary, replica int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.primary, 1 - p.primary
}

func (p *pair) turn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.primary = 1 - p.primary
}

// to lets a dialer reach whoever is the primary.
func (p *pair) to(dial chaos.Dial) chaos.Dial {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		primary, _ := p.roles()
		return dial(ctx, network, p.servers[primary].Addr())
	}
}

// failover kills the primary and promotes the replica; healing brings the old
// primary back as a replica. It hits the calls that the new one answers.
func (p *pair) failover() chaos.Kind {
	return chaos.Kind{Name: "store/failover", On: chaos.OnStore, Loses: "TOKEN-11", Make: func(s chaos.Scene, _ *rand.Rand) chaos.Fault {
		old, next := p.roles()
		kill := chaos.Kill(p.servers[old].Process(), s.Links...)
		// Killing takes a moment, in which the replica would catch up.
		cut := chaos.Cut(p.into[old])
		other := chaos.Answered(s.Links) // by the new primary
		return &chaos.Store{
			Title: "store/failover",
			Can:   kill.Available,
			Begin: func(ctx context.Context) error {
				if err := errors.Join(cut.Start(ctx), kill.Start(ctx)); err != nil {
					return err
				}
				if err := p.servers[next].Promote(ctx); err != nil {
					return err
				}
				p.turn()
				other.Begin()
				return nil
			},
			End: func(ctx context.Context) error {
				other.End()
				if err := errors.Join(cut.Heal(ctx), kill.Heal(ctx)); err != nil {
					return err
				}
				return p.servers[old].Replicate(ctx, p.via[next])
			},
			Count: other.Hits,
		}
	}}
}

// switchover lets the two change roles in order, by FAILOVER.
func (p *pair) switchover() chaos.Kind {
	return chaos.Kind{Name: "store/switchover", On: chaos.OnStore, Loses: "TOKEN-11", Make: func(s chaos.Scene, _ *rand.Rand) chaos.Fault {
		old, next := p.roles()
		other := chaos.Answered(s.Links) // by the new primary
		return &chaos.Store{
			Title: "store/switchover",
			Begin: func(ctx context.Context) error {
				client := redis.NewClient(&redis.Options{Addr: p.servers[old].Addr()})
				defer client.Close()
				if err := client.Do(ctx, "failover").Err(); err != nil {
					return fmt.Errorf("fail over: %w", err)
				}
				again := time.NewTicker(time.Millisecond)
				defer again.Stop()
				for {
					info, err := client.Info(ctx, "replication").Result()
					if err != nil {
						return fmt.Errorf("fail over: %w", err)
					}
					if strings.Contains(info, "role:slave\r\n") && strings.Contains(info, "master_failover_state:no-failover\r\n") {
						p.turn()
						other.Begin()
						return nil
					}
					select {
					case <-again.C:
					case <-ctx.Done():
						return fmt.Errorf("fail over: %w", ctx.Err())
					}
				}
			},
			End: func(ctx context.Context) error {
				other.End()
				return p.servers[old].Replicate(ctx, p.via[next])
			},
			Count: other.Hits,
		}
	}}
}

// target is the pair for campaigns, with a prefix of its own.
func (p *pair) target(name string, o redislease.Options) chaos.Target {
	o.Prefix = freshPrefix()
	target := chaos.Target{
		Name: name,
		Connect: func(dial chaos.Dial) (lease.Service, func() error, error) {
			client := redis.NewClient(chaosRedis("primary:0", p.to(dial), nil))
			return redislease.New(client, &o), client.Close, nil
		},
		Match:     isScript,
		TakesBack: o.Replicas > 0,
		Faults:    []chaos.Kind{p.failover(), p.switchover()},
	}
	if c := p.servers[0].Clock(); c != nil {
		target.Clock = c
	}
	return target
}
