package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/leasekit/lease"
	sqllease "github.com/leasekit/lease/impl/kysely-equivalent-sql"
)

// Whatever the settings of a session are, the answers are the same.

func TestPostgresSessions(t *testing.T) {
	mode := func(m pgx.QueryExecMode) func(*pgx.ConnConfig) {
		return func(cfg *pgx.ConnConfig) { cfg.DefaultQueryExecMode = m }
	}
	checkSessions(t, postgresServer(t), map[string]sqlClient{
		"as always":         {},
		"simple protocol":   {postgres: mode(pgx.QueryExecModeSimpleProtocol)},
		"exec":              {postgres: mode(pgx.QueryExecModeExec)},
		"cache of describe": {postgres: mode(pgx.QueryExecModeCacheDescribe)},
		"another time zone": {settings: map[string]string{"timezone": "Asia/Kathmandu"}},
		"a style of dates":  {settings: map[string]string{"datestyle": "SQL, DMY", "intervalstyle": "iso_8601", "bytea_output": "escape", "extra_float_digits": "-15"}},
		"generic plans":     {settings: map[string]string{"plan_cache_mode": "force_generic_plan"}},
		"sequential scans":  {settings: map[string]string{"enable_indexscan": "off", "enable_bitmapscan": "off", "enable_indexonlyscan": "off"}},
		"another encoding":  {settings: map[string]string{"client_encoding": "UTF8", "lc_messages": "C"}},
	})
}

func TestMariaDBSessions(t *testing.T) {
	for _, d := range []sqllease.Dialect{sqllease.MariaDB, sqllease.MySQL} {
		t.Run(d.String(), func(t *testing.T) {
			checkSessions(t, mariadbServer(t).as(d), map[string]sqlClient{
				"as always":             {},
				"matched rows":          {mysql: func(cfg *mysql.Config) { cfg.ClientFoundRows = true }},
				"interpolated":          {mysql: func(cfg *mysql.Config) { cfg.InterpolateParams = true }},
				"parsed times":          {mysql: func(cfg *mysql.Config) { cfg.ParseTime = true }},
				"no mode":               {settings: map[string]string{"sql_mode": "''"}},
				"strict":                {settings: map[string]string{"sql_mode": "'TRADITIONAL'"}},
				"ANSI":                  {settings: map[string]string{"sql_mode": "'ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE,PAD_CHAR_TO_FULL_LENGTH'"}},
				"ORACLE":                {settings: map[string]string{"sql_mode": "'ORACLE,EMPTY_STRING_IS_NULL'"}},
				"assigned at once":      {settings: map[string]string{"sql_mode": "'SIMULTANEOUS_ASSIGNMENT'"}},
				"unsigned subtraction":  {settings: map[string]string{"sql_mode": "'NO_UNSIGNED_SUBTRACTION,TIME_ROUND_FRACTIONAL'"}},
				"another time zone":     {settings: map[string]string{"time_zone": "'+05:45'"}},
				"a far time zone":       {settings: map[string]string{"time_zone": "'-12:00'"}},
				"another character set": {mysql: func(cfg *mysql.Config) { cfg.Collation = "latin1_swedish_ci" }},
			})
		})
	}
}

// checkSessions has a client with settings and one without share their leases, and
// their fenced values.
func checkSessions(t *testing.T, s *sqlServer, clients map[string]sqlClient) {
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			tab := s.table(t)
			svc := tab.service(t, c, "")
			if err := svc.Migrate(context.Background()); err != nil {
				t.Error(err)
			}
			checkLife(t, tab, svc, tab.service(t, sqlClient{}, ""))
			checkFence(t, tab.fence(t, c), tab.fence(t, sqlClient{}))
		})
	}
}

// checkLife takes two workers through all that can happen to a lease.
func checkLife(t *testing.T, tab *sqlTable, a, b lease.Service) {
	t.Helper()
	ctx := context.Background()
	key := "jöb\\x41'\"`%s \t"
	const holder, other = "Ä", "ä"
	first := acquire(t, a, key, holder, time.Hour)
	if now := tab.now(t); first.ExpiresAt.Before(now.Add(59*time.Minute)) || first.ExpiresAt.After(now.Add(61*time.Minute)) {
		t.Errorf("expires at %v, want an hour after %v", first.ExpiresAt, now)
	}
	want := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
	}
	present := first
	for _, s := range []lease.Service{a, b} {
		if got, err := s.Get(ctx, key); err != nil || got != present {
			t.Errorf("Get: got %v, %v, want %v", got, err, present)
		}
		_, err := s.Acquire(ctx, key, other, time.Hour)
		want("Acquire by another holder", err, lease.ErrHeld)
		if got := acquire(t, s, key, holder, time.Hour); got.Token != first.Token {
			t.Errorf("Acquire by its holder: got %v, want the grant %v", got, first)
		}
		for range 3 {
			present, err = s.Renew(ctx, first, time.Hour)
			want("Renew", err, nil)
		}
		made := first
		made.Token++
		_, err = s.Renew(ctx, made, time.Hour)
		want("Renew of a made-up token", err, lease.ErrLost)
		made = first
		made.Holder = other
		_, err = s.Renew(ctx, made, time.Hour)
		want("Renew of a made-up holder", err, lease.ErrLost)
		want("Release of a made-up holder", s.Release(ctx, made), nil)
	}
	want("Release", a.Release(ctx, first), nil)
	want("Release again", b.Release(ctx, first), nil)
	_, err := b.Get(ctx, key)
	want("Get after Release", err, lease.ErrNotHeld)
	second := acquire(t, b, key, other, time.Hour)
	if second.Token <= first.Token {
		t.Errorf("token after Release: got %d, want more than %d", second.Token, first.Token)
	}
	_, err = a.Renew(ctx, first, time.Hour)
	want("Renew of the former grant", err, lease.ErrLost)
	want("Release of the former grant", a.Release(ctx, first), nil)
	_, err = a.Acquire(ctx, key, holder, time.Hour)
	want("Acquire of a held key", err, lease.ErrHeld)
}

// ERR-5: prepared statements that are gone are prepared again.
func TestPostgresDiscardAll(t *testing.T) {
	tab, ctx := postgresServer(t).table(t), context.Background()
	db := tab.open(t, sqlClient{})
	db.SetMaxOpenConns(1)
	svc, err := sqllease.New(db, sqllease.PostgreSQL, &sqllease.Options{Table: tab.name})
	if err != nil {
		t.Fatal(err)
	}
	l := lease.Lease{Key: "job", Holder: "a", Token: 1}
	for range 2 {
		for name, call := range map[string]func() error{
			"Acquire": func() error { _, err := svc.Acquire(ctx, "job", "a", time.Hour); return err },
			"Renew":   func() error { _, err := svc.Renew(ctx, l, time.Hour); return ignore(err, lease.ErrLost) },
			"Get":     func() error { _, err := svc.Get(ctx, "job"); return ignore(err, lease.ErrNotHeld) },
			"Release": func() error { return svc.Release(ctx, l) },
		} {
			if _, err := db.ExecContext(ctx, "DISCARD ALL"); err != nil {
				t.Fatal(err)
			}
			if err := call(); err != nil {
				t.Errorf("%s after DISCARD ALL: %v", name, err)
			}
		}
	}
}

// A write would stay uncommitted, and its row locked.
func TestMariaDBAutocommit(t *testing.T) {
	for _, d := range []sqllease.Dialect{sqllease.MariaDB, sqllease.MySQL} {
		tab, ctx := mariadbServer(t).as(d).table(t), context.Background()
		good := tab.service(t, sqlClient{}, "")
		svc := tab.service(t, sqlClient{settings: map[string]string{"autocommit": "0"}}, "")
		l := acquire(t, good, "job", "a", time.Hour)
		for name, call := range map[string]func() error{
			"Acquire":               func() error { _, err := svc.Acquire(ctx, "new", "a", time.Hour); return err },
			"Acquire by its holder": func() error { _, err := svc.Acquire(ctx, "job", "a", time.Hour); return err },
			"refused Acquire":       func() error { _, err := svc.Acquire(ctx, "job", "b", time.Hour); return err },
			"Renew":                 func() error { _, err := svc.Renew(ctx, l, time.Hour); return err },
			"Release":               func() error { return svc.Release(ctx, l) },
			"Get":                   func() error { _, err := svc.Get(ctx, "job"); return err },
		} {
			err := call()
			wantError(t, name+" without autocommit", err)
			if err != nil && !strings.Contains(err.Error(), "autocommit") {
				t.Errorf("%s without autocommit: the error %q does not say so", name, err)
			}
			if got, err := good.Renew(ctx, l, time.Hour); err != nil {
				t.Errorf("Renew after %s without autocommit: got %v, %v", name, got, err)
			}
		}
		if _, err := good.Get(ctx, "new"); !errors.Is(err, lease.ErrNotHeld) {
			t.Errorf("Get of a key whose Acquire failed: got %v, want ErrNotHeld", err)
		}
	}
}

func TestPostgresContention(t *testing.T) { checkContention(t, postgresServer(t)) }
func TestMariaDBContention(t *testing.T)  { checkContention(t, mariadbServer(t)) }
func TestMySQLStatementsContention(t *testing.T) {
	checkContention(t, mariadbServer(t).as(sqllease.MySQL))
}

// checkContention looks at ERR-7: sessions in conflict get definite answers, also
// for keys that were never taken.
func checkContention(t *testing.T, s *sqlServer) {
	const workers, rounds = 8, 15
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		tab, ctx := s.table(t), context.Background()
		var all sync.WaitGroup
		var mu sync.Mutex
		tokens := map[string]map[int64]string{}
		for w := range workers {
			svc := tab.service(t, s.isolated(level), "")
			holder := fmt.Sprint("worker-", w)
			all.Go(func() {
				for i := range rounds {
					key := fmt.Sprint("job", i/5)
					l, err := svc.Acquire(ctx, key, holder, time.Hour)
					if errors.Is(err, lease.ErrHeld) {
						continue
					}
					if err != nil {
						t.Errorf("%s: Acquire: %v", level, err)
						continue
					}
					mu.Lock()
					if tokens[key] == nil {
						tokens[key] = map[int64]string{}
					}
					if before, twice := tokens[key][l.Token]; twice {
						t.Errorf("%s: token %d of %q was granted to %s and to %s", level, l.Token, key, before, holder)
					}
					tokens[key][l.Token] = holder
					mu.Unlock()
					if _, err := svc.Renew(ctx, l, time.Hour); err != nil {
						t.Errorf("%s: Renew: %v", level, err)
					}
					if _, err := svc.Get(ctx, key); err != nil {
						t.Errorf("%s: Get: %v", level, err)
					}
					if err := svc.Release(ctx, l); err != nil {
						t.Errorf("%s: Release: %v", level, err)
					}
				}
			})
		}
		all.Wait()
	}
}

// Processes that start at once all find the table.
func TestPostgresMigrateAtOnce(t *testing.T) { checkMigrateAtOnce(t, postgresServer(t)) }
func TestMariaDBMigrateAtOnce(t *testing.T)  { checkMigrateAtOnce(t, mariadbServer(t)) }

func checkMigrateAtOnce(t *testing.T, s *sqlServer) {
	tab, ctx := s.table(t), context.Background()
	var services []*sqllease.Service
	for range 8 {
		services = append(services, tab.service(t, sqlClient{}, ""))
	}
	for range 5 {
		tab.do(t, "DROP TABLE {table}")
		var all sync.WaitGroup
		for _, svc := range services {
			all.Go(func() {
				if err := svc.Migrate(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	acquire(t, services[0], "job", "a", time.Hour)
}
