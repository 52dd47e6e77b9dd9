module github.com/leasekit/lease/examples/thirdparty

go 1.26

require github.com/leasekit/lease v0.0.0

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/leasekit/lease => ../..
