package integration

import (
	"fmt"
	"os"
	"testing"

	"github.com/leasekit/lease/integration/server"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(sqliteFile); file != "" {
		if err := serveSQLite(file, os.Getenv(sqliteAddr)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	server.Main(m)
}
