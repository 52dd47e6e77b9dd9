package server

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared are the servers that all tests of the binary use together. Starting
// one takes a moment, and a suite opens many stores.
var shared struct {
	sync.Mutex
	main bool // Main will end them
	stop []func() error
}

// Main runs the tests, ends the servers that they started, and exits. It is the
// body of TestMain.
func Main(m *testing.M) {
	shared.Lock()
	shared.main = true
	shared.Unlock()
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	for _, stop := range shared.stop {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop a server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// keep makes Main call stop. The caller holds the lock of shared.
func keep(stop func() error) {
	shared.stop = append(shared.stop, stop)
}

// needMain fails a test whose binary would leave servers running.
func needMain(t testing.TB) {
	t.Helper()
	if !shared.main {
		t.Fatal("this test starts a server that nothing ends: add func TestMain(m *testing.M) { server.Main(m) } to the package")
	}
}
