package integration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasekit/lease/integration/server"
	"github.com/leasekit/lease/internal/need"
	"github.com/leasekit/lease/leasetest"
)

// leasecheckBinary builds the command, which is in a module of its own that this one
// does not require.
func leasecheckBinary(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "leasecheck")
	out, err := exec.Command("go", "build", "-C", "../cmd", "-o", file, "./leasecheck").CombinedOutput()
	if err != nil {
		t.Fatalf("build leasecheck: %v: %s", err, out)
	}
	return file
}

// needed ends a test for what the error says is missing.
func needed(t *testing.T, err error, install string) {
	t.Helper()
	if err != nil {
		need.Missing(t, fmt.Sprintf("%v; install it (%s)", err, install))
	}
}

// adapterRun runs leasecheck on an adapter in dir, whose store stands in a variable of the
// environment, and returns the report and the exit code.
func adapterRun(t *testing.T, dir, command, env string, flags ...string) (*leasetest.Report, int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	args := append([]string{"run", "-checks", "10", "-report", file}, flags...)
	cmd := exec.Command(leasecheckBinary(t), append(args, "exec:"+command)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Fatalf("%v: %v: %s", err, readErr, out)
	}
	var r leasetest.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%s", out)
	}
	return &r, cmd.ProcessState.ExitCode()
}

// nodeFolder is a copy of the adapters in Node, with the packages they need.
func nodeFolder(t *testing.T) string {
	t.Helper()
	_, err := exec.LookPath("npm")
	if err == nil {
		_, err = exec.LookPath("node")
	}
	needed(t, err, "apt-get install nodejs npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../examples/node")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v: %s", err, out)
	}
	return dir
}

// TestNodeAdapters judges leases in Node, whose workers get clocks that are an hour fast
// and an hour slow: one that keeps the contract, the same with the clients' clocks
// deciding, and a package that many use.
func TestNodeAdapters(t *testing.T) {
	t.Parallel() // these wait for leases to expire, most of the time
	dir := nodeFolder(t)
	for _, c := range []struct {
		name, script string
		flags        []string
		code         int
		expiry4      leasetest.Verdict
	}{
		{"ioredis", "ioredis.js", nil, 0, leasetest.Pass},
		{"clients' clocks", "clientclock.js", nil, 1, leasetest.Fail},
		{"redlock", "redlock.js", []string{"-deviations", "deviations.redlock.txt"}, 0, leasetest.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, code := adapterRun(t, dir, "node "+c.script, redisURL(t), c.flags...)
			if code != c.code {
				t.Errorf("got the exit code %d, want %d: %s", code, c.code, told(r))
			}
			got, _ := r.Result("EXPIRY-4")
			if got.Verdict != c.expiry4 {
				t.Errorf("EXPIRY-4: got %s (%s), want %s", got.Verdict, got.Reason, c.expiry4)
			}
			if c.expiry4 == leasetest.Fail && (got.Failure == nil || !strings.Contains(got.FailureText(r.Backend), "clock 1 h ")) {
				t.Errorf("EXPIRY-4: got %+v, want the history of a worker with a wrong clock", got.Failure)
			}
		})
	}
}

// TestPythonAdapter judges a lease in Python in the same way.
func TestPythonAdapter(t *testing.T) {
	t.Parallel()
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} { // Debian's packages are of Debian's python3
		if exec.Command(p, "-c", "import redis").Run() == nil {
			python = p
			break
		}
	}
	err := error(nil)
	if python == "" {
		err = &exec.Error{Name: "python3 with redis-py", Err: exec.ErrNotFound}
	}
	needed(t, err, "apt-get install python3-redis")
	wantConformant(t, "../examples/python", python+" -B adapter.py", redisURL(t))
}

// TestJavaAdapter judges a lease in Java, on PostgreSQL.
func TestJavaAdapter(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("javac")
	needed(t, err, "apt-get install default-jdk-headless")
	driver := cmp.Or(os.Getenv("LEASE_TEST_JDBC_JAR"), "/usr/share/java/postgresql.jar") // where Debian puts it
	_, err = os.Stat(driver)
	needed(t, err, "apt-get install libpostgresql-jdbc-java, or name the jar in LEASE_TEST_JDBC_JAR")
	sources, err := filepath.Glob("../examples/java/*.java")
	if err != nil {
		t.Fatal(err)
	}
	classes := t.TempDir()
	if out, err := exec.Command("javac", append([]string{"-d", classes}, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v: %s", err, out)
	}
	wantConformant(t, classes, "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "+classes+":"+driver+" Adapter", "JDBC_URL="+jdbc(t, server.Postgres(t).Database(t)))
}

// jdbc is a DSN as JDBC has it.
func jdbc(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal("the URL of PostgreSQL is broken")
	}
	query := u.Query()
	query.Set("user", u.User.Username())
	if password, ok := u.User.Password(); ok {
		query.Set("password", password)
	}
	u.User, u.RawQuery = nil, query.Encode()
	return "jdbc:postgresql:" + strings.TrimPrefix(u.String(), u.Scheme+":")
}

func redisURL(t *testing.T) string { return "REDIS_URL=" + server.StartRedis(t).URL() }

// wantConformant wants an adapter to keep the contract, by wrong clocks too.
func wantConformant(t *testing.T, dir, command, env string) {
	t.Helper()
	r, code := adapterRun(t, dir, command, env)
	if got, _ := r.Result("EXPIRY-4"); code != 0 || got.Verdict != leasetest.Pass {
		t.Errorf("got the exit code %d and EXPIRY-4 %s (%s): %s", code, got.Verdict, got.Reason, told(r))
	}
}

// told is what of a report makes it red.
func told(r *leasetest.Report) string {
	var b strings.Builder
	b.WriteString(r.Summary())
	for _, c := range r.Clauses {
		if c.Failed(r.Strict) {
			b.WriteString("\n" + c.ID + ": " + string(c.Verdict) + " " + c.Reason + "\n" + c.FailureText(r.Backend))
		}
	}
	return b.String()
}
