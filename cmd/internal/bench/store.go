package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"

	"github.com/leasekit/lease/cmd/internal/benchreport"
	"github.com/leasekit/lease/cmd/internal/target"
)

// store is a target that is measured: what the run keeps there, and who makes calls.
type store struct {
	target  *target.Target
	client  *target.Client
	prefix  string // of all keys in a Redis; the namespace elsewhere
	tables  []string
	service lease.Service
	fence   fence.Resource
	floor   floor
	peers   []peer
	config  *Config

	serverTime serverTime
}

// openStore connects to t. The name is one that no other run has: of lower-case
// letters and digits.
func openStore(ctx context.Context, c *Config, t *target.Target, name string) (_ *store, err error) {
	table := "leasebench_" + name
	// Two of the locks of a worker may be under way at once.
	client, err := t.Connect(ctx, &target.Options{Conns: 2*max(c.Workers, 4) + 2, Table: table})
	if err != nil {
		return nil, err
	}
	s := &store{config: c, target: t, client: client, prefix: "leasebench:" + name + ":"}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if client.DB != nil {
		s.tables = []string{table + "_floor", table, client.FenceTable()}
	}
	if s.service, err = client.Service(ctx, s.prefix); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if s.fence, err = client.Fence(ctx, s.prefix); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if s.floor, err = newFloor(ctx, client, table+"_floor"); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	s.serverTime = newServerTime(ctx, client, t, s.tables)
	if client.Redis != nil && c.Peers {
		s.peers = peers(client.Redis, s.prefix)
	}
	return s, nil
}

// roundTrip is the median time of a few bare round trips.
func (s *store) roundTrip(ctx context.Context) (time.Duration, error) {
	h := benchreport.NewHistogram()
	for range 20 {
		start := time.Now()
		if err := s.floor(ctx, write, "round-trip"); err != nil {
			return 0, fmt.Errorf("%s: %w", s.target.Name, err)
		}
		benchreport.Record(h, time.Since(start))
	}
	return time.Duration(h.ValueAtQuantile(50)), nil
}

// close removes what the run has left in the store, and closes the connections.
func (s *store) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var err error
	switch {
	case s.client.DB != nil:
		for _, table := range s.tables {
			if _, dropErr := s.client.DB.ExecContext(ctx, "DROP TABLE IF EXISTS "+table); dropErr != nil {
				err = errors.Join(err, fmt.Errorf("drop the table %s: %w", table, dropErr))
			}
		}
	case s.client.Redis != nil:
		if removeErr := s.removeKeys(ctx); removeErr != nil {
			err = fmt.Errorf("remove the keys with %q in their names: %w", s.prefix, removeErr)
		}
	}
	return errors.Join(err, s.client.Close())
}

// removeKeys removes what the calls may have made, by name: to look for it would
// take a walk through the whole database.
func (s *store) removeKeys(ctx context.Context) error {
	const batch = 1000
	for names := range slices.Chunk(s.redisKeys(), batch) {
		pipe := s.client.Redis.Pipeline()
		for _, name := range names {
			pipe.Del(ctx, name)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// redisKeys are the names in Redis of all keys of all workloads, as package redislease
// documents them, and as the peers make them.
func (s *store) redisKeys() []string {
	var names []string
	for _, w := range s.config.Workloads {
		for _, key := range keysOf(s.config, w) {
			both := fmt.Sprintf("{%d:%s%s}", len(s.prefix), s.prefix, key)
			names = append(names, both+"l", both+"n", both+"f")
			for _, p := range s.peers {
				names = append(names, s.prefix+p.name+":"+key)
			}
		}
	}
	return names
}

// runName makes a name for what this process keeps in a store.
func runName(random string) string { return strings.ToLower(random[:12]) }
