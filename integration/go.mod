module github.com/leasekit/lease/integration

go 1.26.0

require (
	github.com/leasekit/lease v0.0.0
	github.com/leasekit/lease/impl/redis v0.0.0
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace (
	github.com/leasekit/lease => ..
	github.com/leasekit/lease/impl/redis => ../impl/redis
)
