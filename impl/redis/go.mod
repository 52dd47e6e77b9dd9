module github.com/leasekit/lease/impl/redis

go 1.26

require github.com/leasekit/lease v0.0.0

replace github.com/leasekit/lease => ../..
