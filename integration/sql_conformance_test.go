package integration

import (
	"testing"

	"github.com/leasekit/lease"
	"github.com/leasekit/lease/leasetest"
)

// sqlHarness is a table for the suite; clients are made as c says.
func sqlHarness(t testing.TB, tab *sqlTable, c sqlClient) *leasetest.Harness {
	damage := map[string]func(t testing.TB, key string){}
	for way, set := range map[string]string{
		"a token of 0":      "token = 0",
		"a negative token":  "token = -1",
		"an expiry in s":    "expires = expires / 1000000",
		"an expiry in ns":   "expires = expires * 1000",
		"a negative expiry": "expires = -expires",
		"an empty holder":   "holder = " + tab.none,
		"a holder with NUL": "holder = " + tab.nul,
	} {
		damage[way] = func(t testing.TB, key string) {
			tab.do(t, "UPDATE {table} SET "+set+" WHERE name = {1}", []byte(key))
		}
	}
	for way, alter := range tab.alter {
		damage[way] = func(t testing.TB, _ string) { tab.do(t, "ALTER TABLE {table} "+alter) }
	}
	damage["the table gone"] = func(t testing.TB, _ string) { tab.do(t, "DROP TABLE {table}") }

	h := &leasetest.Harness{
		Connect: func(t testing.TB, w leasetest.Worker) lease.Service {
			c := c
			c.dial = w.Dial
			return tab.service(t, c, w.Namespace)
		},
		SeedToken: func(t testing.TB, key string, token int64) {
			tab.do(t, "INSERT INTO {table} (namespace, name, holder, token, expires) VALUES ("+tab.none+", {1}, 'seed', {2}, 0)", []byte(key), token)
		},
		Damage: damage,
		Block: func(t testing.TB, key string) (waiting func() bool, unblock func()) {
			before := tab.int(t, tab.waiting)
			unblock = tab.block(t, rolledBack, key)
			return func() bool { return tab.int(t, tab.waiting) > before }, unblock
		},
	}
	tab.setClock(t, h)
	return h
}
