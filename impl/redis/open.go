package redislease

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// mostConns bounds the sizes in a URL; no server takes as many.
const mostConns = 1 << 20

// OpenTimeout is how long [Open] waits for the server's first answer.
const OpenTimeout = 5 * time.Second

// Open returns a service on the Redis server at rawURL, with connections of its
// own, which [Service.Close] closes. The URL is one of
//
//	redis://[[user]:password@]host[:port][/db][?option=value&…]
//	rediss://…                         the same with TLS
//	unix://[[user]:password@]/path/to/socket[?db=n&option=value&…]
//
// with the options of redis.ParseURL, except max_retries, which has no effect.
//
// Open asks the server once, for at most [OpenTimeout], so that a wrong
// password or address shows at once. Its errors name the server and never
// contain the password.
func Open(rawURL string, o *Options) (*Service, error) {
	client, close, err := connect(rawURL)
	if err != nil {
		return nil, err
	}
	s := New(client, o)
	s.close = close
	return s, nil
}

// connect opens a client of its own, and returns what closes it.
func connect(rawURL string) (client *redis.Client, close func() error, err error) {
	opts, err := parseURL(rawURL)
	if err != nil {
		return nil, nil, fmt.Errorf("open redis: %w", err)
	}
	// Nothing that happens behind the caller's back: no repeated commands, no
	// repeated dials, no commands but the ones asked for on a new connection.
	opts.MaxRetries = -1
	opts.DialerRetries = 1
	opts.DisableIdentity = true
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	opts.ContextTimeoutEnabled = true

	closing, stopDials := context.WithCancel(context.Background())
	opts.Dialer = dialer(opts, closing)

	client = redis.NewClient(opts)
	close = sync.OnceValue(func() error {
		stopDials()
		return client.Close()
	})
	if err := ping(client); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open redis at %s: %w", opts.Addr, withoutArgs(err)), close())
	}
	return client, close, nil
}

// ping waits for an answer no longer than OpenTimeout, although the client
// would: it waits for each step of making a connection.
func ping(client *redis.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), OpenTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- client.Ping(ctx).Err() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no answer within %v: %w", OpenTimeout, ctx.Err())
	}
}

// dialer makes connections as go-redis does, and gives up when closing ends:
// go-redis finishes a dial in the background even when nobody waits for it.
func dialer(opts *redis.Options, closing context.Context) func(context.Context, string, string) (net.Conn, error) {
	timeout := opts.DialTimeout
	if timeout == 0 {
		timeout = 5 * time.Second
	}
	plain := &net.Dialer{Timeout: max(timeout, 0)}
	dial := plain.DialContext
	if opts.TLSConfig != nil {
		dial = (&tls.Dialer{NetDialer: plain, Config: opts.TLSConfig}).DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(closing, cancel)()
		return dial(ctx, network, addr)
	}
}

// parseURL is redis.ParseURL with errors that can be shown: those of package
// url and of go-redis repeat the part of the URL they stumbled over, which may
// be the password.
func parseURL(raw string) (*redis.Options, error) {
	u, err := url.Parse(raw)
	// An "@" behind the host, or a fragment, comes from a password that was not
	// escaped: what was parsed as the host is then a part of it.
	if err != nil || strings.Contains(raw, "#") || strings.Contains(u.Path, "@") {
		return nil, brokenURL(raw, "it can't be parsed; characters such as / ? # @ % in a password must be percent-encoded")
	}
	// go-redis would take the default host for "redis:host:6379", and a password
	// for a host in "redis://user:password:6379".
	if u.Opaque != "" || !strings.HasPrefix(u.Host, "[") && strings.Count(u.Host, ":") > 1 {
		return nil, brokenURL(raw, "it is not of the form scheme://user:password@host:port")
	}
	opts, err := redis.ParseURL(raw)
	if err == nil {
		// redis.NewClient panics, or takes a minute, on sizes like these.
		for name, n := range map[string]int{
			"pool_size":          opts.PoolSize,
			"min_idle_conns":     opts.MinIdleConns,
			"max_idle_conns":     opts.MaxIdleConns,
			"max_active_conns":   opts.MaxActiveConns,
			"pipeline_pool_size": opts.PipelinePoolSize,
		} {
			if n < -1 || n > mostConns {
				return nil, brokenURL(raw, name+" is out of range")
			}
		}
		if opts.PoolSize < 0 {
			return nil, brokenURL(raw, "pool_size is out of range")
		}
		return opts, nil
	}
	if strings.Contains(u.RawQuery, "@") {
		return nil, brokenURL(raw, "an option is invalid")
	}
	// Find out what is wrong on a URL that has no password.
	u.User = nil
	if u.Scheme != "unix" {
		u.Path, u.RawPath = "", ""
	}
	if _, err := redis.ParseURL(u.String()); err != nil {
		return nil, brokenURL(raw, err.Error())
	}
	return nil, brokenURL(raw, "the path is not the number of a database")
}

func brokenURL(raw, reason string) error {
	if host := hostOf(raw); host != "" {
		return fmt.Errorf("the URL for host %s is broken: %s", host, reason)
	}
	return fmt.Errorf("the URL is broken: %s", reason)
}

var plainHost = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.%]+\])(:[0-9]{1,5})?$`)

// hostOf returns the host in a URL that may be broken, or "" if it is not
// certain which part of it is the host.
func hostOf(raw string) string {
	_, rest, ok := strings.Cut(raw, "://")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at >= 0 && strings.ContainsAny(rest[:at], "?#") {
		return ""
	}
	rest = rest[at+1:]
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if !plainHost.MatchString(rest) {
		return ""
	}
	return rest
}
