package target

import (
	"context"
	"database/sql"

	"github.com/redis/go-redis/v9"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/fence"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
	memlease "github.com/leasekit/lease/impl/memory"
	redislease "github.com/leasekit/lease/impl/redis"
)

// Client is a client of a store, with connections of its own. One of Redis and DB
// is set, for a store that is reached by connections.
type Client struct {
	Redis   redis.UniversalClient
	DB      *sql.DB
	Dialect sqllease.Dialect // of DB

	table  string
	memory *memlease.Store
}

// Service returns the leases of a namespace, which are kept apart from those of
// every other one. In a SQL database it makes sure that the table is there.
func (c *Client) Service(ctx context.Context, namespace string) (lease.Service, error) {
	switch {
	case c.Redis != nil:
		return redislease.New(c.Redis, &redislease.Options{Prefix: namespace}), nil
	case c.DB != nil:
		s, err := sqllease.New(c.DB, c.Dialect, &sqllease.Options{Table: c.table, Namespace: namespace})
		if err != nil {
			return nil, err
		}
		if err := s.Migrate(ctx); err != nil {
			return nil, oneLine(err)
		}
		return s, nil
	}
	return c.memory.Service(namespace), nil
}

// Fence returns a fenced resource of a namespace in the same store. In a SQL database
// its table is named after that of the leases, and made if it is not there; in memory it
// is a new one.
func (c *Client) Fence(ctx context.Context, namespace string) (fence.Resource, error) {
	switch {
	case c.Redis != nil:
		return redislease.NewFence(c.Redis, &redislease.FenceOptions{Prefix: namespace}), nil
	case c.DB != nil:
		f, err := sqllease.NewFence(c.DB, c.Dialect, &sqllease.FenceOptions{Table: c.FenceTable(), Namespace: namespace})
		if err != nil {
			return nil, err
		}
		if err := f.Migrate(ctx); err != nil {
			return nil, oneLine(err)
		}
		return f, nil
	}
	return &fence.Memory{}, nil
}

// FenceTable is the table of [Client.Fence] in a SQL database.
func (c *Client) FenceTable() string {
	if c.table == "" {
		return sqllease.DefaultFenceTable
	}
	return c.table + "_fence"
}

// Close closes the client's connections.
func (c *Client) Close() error {
	switch {
	case c.Redis != nil:
		return c.Redis.Close()
	case c.DB != nil:
		return c.DB.Close()
	}
	return nil
}
