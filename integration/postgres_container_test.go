package integration

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasekit/lease/integration/server"
)

// postgresEntry does of the official image's entry point what package server
// asks of it.
const postgresEntry = `#!/bin/sh
set -e
export PGDATA=/data/pg
if [ ! -e $PGDATA ]; then
	initdb -U postgres -A "$POSTGRES_HOST_AUTH_METHOD" $POSTGRES_INITDB_ARGS
	echo "host all all all $POSTGRES_HOST_AUTH_METHOD" >>$PGDATA/pg_hba.conf
	echo "listen_addresses = '*'" >>$PGDATA/postgresql.conf
fi
exec "$@"
`

// TestPostgresContainer starts a PostgreSQL in a container, moves its clock and
// crashes it. The image is made here, from what is installed on this machine.
func TestPostgresContainer(t *testing.T) {
	needContainers(t)
	binaries, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(binaries) == 0 {
		t.Fatalf("no PostgreSQL is installed as Debian does it: %v", err)
	}
	bin := binaries[len(binaries)-1]
	home, version := filepath.Dir(bin), filepath.Base(filepath.Dir(bin))
	const image = "leasekit-test/postgres:local"
	localImage{
		name: image,
		// The library of its JIT compiler, which it can do without, is larger
		// than all the rest.
		programs: []string{"/bin/sh", bin + "/postgres", bin + "/initdb", home + "/lib/plpgsql.so", home + "/lib/dict_snowball.so"},
		folders:  []string{"/usr/share/postgresql/" + version},
		open:     []string{"/data", "/var/run/postgresql"},
		texts: map[string]string{
			"/entry":      postgresEntry,
			"/etc/passwd": "root:x:0:0::/:/bin/sh\npostgres:x:999:999::/data:/bin/sh\n",
		},
		changes: []string{"ENV PATH=/bin:" + bin, "USER postgres", `ENTRYPOINT ["/entry"]`},
	}.make(t)
	t.Setenv("LEASE_TEST_POSTGRES_IMAGE", image)

	srv := server.StartPostgres(t, "synchronous_commit=on")
	if srv.Clock() == nil {
		t.Fatal(srv.WhyNoClock())
	}
	srv.Clock().Freeze(true)
	srv.Clock().Move(-10 * 365 * 24 * time.Hour)
	read := func() (now time.Time) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), srv.DSN())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if err := conn.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	want := srv.Clock().Now().Truncate(time.Microsecond)
	if got := read(); !got.Equal(want) {
		t.Errorf("the clock says %v, want %v", got, want)
	}
	srv.Restart(t)
	if got := read(); !got.Equal(want) {
		t.Errorf("after a crash the clock says %v, want %v", got, want)
	}
}
