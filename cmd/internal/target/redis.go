package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// silence is called once, before the first client: the logger is a global of go-redis.
var silence = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

// silent takes what go-redis reports on standard error besides returning it: every
// dial that failed.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// The clients do what package redislease advises, and nothing behind its back: no
// repeated commands, no repeated dials, no commands but those asked for.

func openRedis(dsn string) (*Target, error) {
	u, err := parseURL(dsn)
	if err != nil {
		return nil, err
	}
	opts, err := redis.ParseURL(dsn)
	if err != nil {
		return nil, redisForm("redis://[user:password@]host:port[/db]")
	}
	name := u.Scheme + "://" + opts.Addr
	if opts.DB != 0 {
		name += fmt.Sprintf("/%d", opts.DB)
	}
	return &Target{Name: name, Kind: Redis, connect: func(ctx context.Context, o Options) (*Client, error) {
		opts := *opts
		opts.MaxRetries, opts.DialerRetries = -1, 1
		opts.DisableIdentity, opts.ContextTimeoutEnabled = true, true
		opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		setConns(&opts.PoolSize, o)
		if opts.Network != "unix" {
			opts.Dialer = dialer(o, opts.TLSConfig)
		}
		return redisClient(ctx, redis.NewClient(&opts))
	}}, nil
}

func openRedisCluster(dsn string) (*Target, error) {
	plain := strings.Replace(dsn, "+cluster", "", 1)
	u, err := parseURL(plain)
	if err != nil {
		return nil, err
	}
	opts, err := redis.ParseClusterURL(plain)
	if err != nil || strings.Trim(u.Path, "/") != "" { // a cluster has one database only
		return nil, redisForm("redis+cluster://[user:password@]host:port[?addr=host:port&addr=…]")
	}
	return &Target{Name: u.Scheme + "+cluster://" + u.Host, Kind: RedisCluster, connect: func(ctx context.Context, o Options) (*Client, error) {
		opts := *opts
		opts.MaxRetries, opts.DialerRetries = -1, 1
		opts.DisableIdentity, opts.ContextTimeoutEnabled = true, true
		opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		setConns(&opts.PoolSize, o)
		opts.Dialer = dialer(o, opts.TLSConfig)
		return redisClient(ctx, redis.NewClusterClient(&opts))
	}}, nil
}

func openRedisSentinel(dsn string) (*Target, error) {
	const form = "redis+sentinel://[user:password@]host:port[/db]?master_name=NAME[&addr=host:port…]"
	plain := strings.Replace(dsn, "+sentinel", "", 1)
	u, err := parseURL(plain)
	if err != nil {
		return nil, err
	}
	opts, err := redis.ParseFailoverURL(plain)
	if err != nil || opts.MasterName == "" {
		return nil, redisForm(form)
	}
	return &Target{Name: u.Scheme + "+sentinel://" + u.Host, Kind: RedisSentinel, connect: func(ctx context.Context, o Options) (*Client, error) {
		opts := *opts
		opts.MaxRetries, opts.DialerRetries = -1, 1
		opts.DisableIdentity, opts.ContextTimeoutEnabled = true, true
		setConns(&opts.PoolSize, o)
		opts.Dialer = dialer(o, opts.TLSConfig)
		return redisClient(ctx, redis.NewFailoverClient(&opts))
	}}, nil
}

// parseURL parses a URL with errors that can be shown: those of package url
// repeat the part that they stumbled over, which may be the password.
func parseURL(dsn string) (*url.URL, error) {
	u, err := url.Parse(dsn)
	// An "@" behind the host, or a fragment, comes from a password that was not
	// escaped: what was parsed as the host is then a part of it.
	if err != nil || strings.Contains(dsn, "#") || strings.Contains(u.Path, "@") || strings.Contains(u.RawQuery, "@") {
		return nil, fmt.Errorf("%w: it can't be parsed; characters such as / ? # @ %% in a password must be percent-encoded", ErrDSN)
	}
	if u.Opaque != "" || u.Host == "" && u.Scheme != "unix" {
		return nil, fmt.Errorf("%w: it has no host, want %s://host:port", ErrDSN, u.Scheme)
	}
	return u, nil
}

func redisForm(form string) error {
	return fmt.Errorf("%w: want %s, with the options of go-redis's URLs", ErrDSN, form)
}

func setConns(size *int, o Options) {
	if o.Conns > 0 {
		*size = o.Conns
	}
}

// dialer returns nil for the client's own one.
func dialer(o Options, conf *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	if o.Dial == nil || conf == nil {
		return o.Dial
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := o.Dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		conf := conf.Clone()
		if conf.ServerName == "" {
			conf.ServerName, _, _ = net.SplitHostPort(addr)
		}
		conn := tls.Client(raw, conf)
		if err := conn.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, raw.Close())
		}
		return conn, nil
	}
}

func redisClient(ctx context.Context, client redis.UniversalClient) (*Client, error) {
	silence()
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(adviseRedis(err), client.Close())
	}
	return &Client{Redis: client}, nil
}

// adviseRedis says what can be done about an error of a first command. A server
// without AUTH repeats the password in its error, which is cut off.
func adviseRedis(err error) error {
	text, _, _ := strings.Cut(err.Error(), ", with args beginning with")
	switch {
	case redis.HasErrorPrefix(err, "WRONGPASS"), redis.HasErrorPrefix(err, "NOAUTH"), redis.HasErrorPrefix(err, "ERR AUTH"),
		redis.HasErrorPrefix(err, "ERR invalid password"):
		return fmt.Errorf("%s: check the user and the password in the DSN", text)
	case isNetwork(err):
		return fmt.Errorf("%s: is the server running, and reachable from here?", text)
	}
	return oneLine(errors.New(text))
}

func isNetwork(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded)
}
