# What can be done here. Everything that is longer than a line is a script of
# its own, in tools/ and .ci/.

FUZZTIME ?= 20s
SEEDS ?= 20
SEED ?= 1
SOAK ?= 1m
DURATION ?= 2m

# Tests that run without -race instead: others run the same code of ours with it. Of
# the zoos a part is tried with it, and all without.
UNRACED := ^Test(ConformanceWithRollbackJournal|MySQLStatementsConformance|ExitCodes)$$

.DEFAULT_GOAL := help
.PHONY: help conform needs test zoo zoo-write soak chaos generate lint fuzz ratios bench ci

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

conform: ## run the conformance suite on the bundled backends; needs only Go and make
	@tools/conform

needs: ## install what make test needs and is missing: servers, a C compiler
	@tools/install-needs

test: needs ## run all tests of all modules, with -race and real servers
	LEASE_REQUIRE_SERVERS=1 CGO_ENABLED=1 go test -race -skip '$(UNRACED)' ./integration ./leasetest ./cmd/leasecheck work # the longest first
	LEASE_REQUIRE_SERVERS=1 go test -count=1 -run 'Zoo|$(UNRACED)' ./integration ./leasetest ./impl/kysely-equivalent-sql ./cmd/leasecheck

zoo: ## try the suite on its broken backends with SEEDS (20) seeds from SEED (1) on
	go test -count=1 -timeout=60m -run 'Zoo$$' -v ./leasetest -zoo.seed=$(SEED) -zoo.seeds=$(SEEDS)

zoo-write: ## write leasetest/KILLS.md and integration/KILLS.md, who is caught by what
	go test -count=1 -run Zoo ./leasetest -zoo.write
	LEASE_REQUIRE_SERVERS=1 go test -count=1 -run '^TestServerZoo$$' ./integration -zoo.write

soak: ## run the odd but correct backends for SOAK (1m), and count false alarms
	go test -count=1 -timeout=24h -run '^TestSoak$$' -v ./leasetest -zoo.soak=$(SOAK)

chaos: needs ## run campaigns of real faults on real servers for DURATION (2m) from seed SEED (1)
	LEASE_REQUIRE_SERVERS=1 go test -count=1 -timeout=24h -parallel=16 -run '^TestChaos$$' -v ./integration -chaos.duration=$(DURATION) -chaos.seed=$(SEED)

generate: ## write the generated files again
	go generate work

lint: ## gofmt, go vet, staticcheck, go mod tidy, stale generated files
	@.ci/run modules format vet staticcheck tidy generated

fuzz: ## run each fuzz test for FUZZTIME (20s)
	@FUZZTIME=$(FUZZTIME) tools/fuzz

ratios: ## print what calls cost on each server, as multiples of one raw round trip
	go test -run '^$$' -bench '^BenchmarkRatio$$' -benchtime 2000x ./integration

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem work

ci: ## everything that has to be green before a change goes in
	@.ci/run
