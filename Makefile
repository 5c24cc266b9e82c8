# Entry points for developers. CMake builds (CMakePresets.json); each target here runs a script.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
BENCH_ARGS ?=
RUN_ARGS ?=
SEEDS ?= 100000
PODS ?= 20000
DISTRO ?= trixie
DISTRO_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help deps build run test test-arm64 test-distro test-cluster test-clients test-proto tables sim bench bench-real fuzz fuzz-merge lint format install coverage clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the packages needed to build, test and lint (Debian)
	@scripts/deps.sh build test lint
	@scripts/deps.sh --optional loops bindings

build: ## build the library, the program and the examples, in build/release
	@scripts/deps.sh build test
	@scripts/build.sh release kinformer kinformer_static kinformer_apiserver kinformer_apiserver_static kinformer_program kinformer_examples

run: ## build and run the demo: a simulated cluster, informers, injected faults (RUN_ARGS="--pods 20000")
	@scripts/deps.sh build test
	@scripts/build.sh release kinformer_program
	@scripts/run.sh $(RUN_ARGS)

test: ## build and run all tests: release, address + undefined, thread sanitizer
	@scripts/deps.sh build test
	@scripts/deps.sh --optional loops
	@scripts/test.sh release asan tsan

test-arm64: ## build for 64-bit ARM and run all tests under qemu: the NEON kernel
	@scripts/deps.sh build arm64
	@scripts/test_arm64.sh

test-distro: ## run all tests in a clean Debian DISTRO (trixie; bookworm, sid), as root (DISTRO_ARGS=release)
	@scripts/test_distro.sh $(DISTRO) $(DISTRO_ARGS)

test-cluster: ## build a control plane with Go 1.26, start it on loopback, and test informers and the sample-controller on it
	@scripts/deps.sh build test
	@scripts/test_cluster.sh

test-clients: ## test the embedded server with kubectl and clients in Go, JavaScript and Python
	@scripts/deps.sh build test
	@scripts/test_clients.sh

test-proto: ## compare the protobuf decoder with Go's, on published and random objects of every kind
	@scripts/deps.sh build test
	@scripts/test_proto.sh

tables: ## write the tables of protobuf from Kubernetes' Go types, with Go 1.26
	@scripts/tables.sh

sim: ## run the informer simulation for SEEDS (100000, or FROM-TO) on all cores
	@scripts/deps.sh build test
	@scripts/build.sh release sim_informer
	@scripts/sim.sh $(SEEDS)

bench: ## measure decoding, store, pipeline, informers, HTTP, bindings and the API server (BENCH_ARGS=--quick)
	@scripts/deps.sh build bench
	@scripts/build.sh bench
	@scripts/bench.sh $(BENCH_ARGS)

bench-real: ## measure first lists on a real control plane with PODS (20000), beside client-go and plain downloads; needs Go 1.26
	@scripts/deps.sh build bench
	@PODS=$(PODS) bench/real.sh

fuzz: ## run each fuzz target for FUZZ_SECONDS (60)
	@scripts/deps.sh build fuzz
	@scripts/build.sh fuzz
	@scripts/fuzz.sh run $(FUZZ_SECONDS)

fuzz-merge: ## add small inputs that reach new code to the fuzz corpus
	@scripts/deps.sh build fuzz
	@scripts/build.sh fuzz
	@scripts/fuzz.sh merge

lint: ## compile with gcc and clang -Werror; format, text, tidy, includes, headers, bindings, symbols, ABI
	@scripts/deps.sh build test lint
	@scripts/deps.sh --optional bindings
	@scripts/lint.sh

format: ## format all sources in place
	@scripts/deps.sh lint
	@scripts/format.sh

install: ## install program, headers and libraries under PREFIX (/usr/local); DESTDIR is supported
	@scripts/deps.sh build test
	@scripts/build.sh release kinformer kinformer_static kinformer_apiserver kinformer_apiserver_static kinformer_program
	@scripts/install.sh "$(DESTDIR)" "$(PREFIX)"

coverage: ## run the tests and write a line coverage report, build/coverage/report.txt
	@scripts/deps.sh build test coverage
	@scripts/coverage.sh

clean: ## remove build/
	@rm -rf build
