package integration

import (
	"testing"

	"github.com/leasekit/lease/integration/server"
)

func TestMain(m *testing.M) { server.Main(m) }
