# satchel. `make` lists the targets.
# The workspace has no module at its root, so every target loops over the modules.

GO       ?= go
# The modules, in the order of their dependencies.
MODULES  := core schema schema/migrator servers postgres adapters-service adapters-delayedjob adapters-kafka adapters-http \
            wiring postgrestest integration integration/destinations integration/consumer integration/documents integration/layouts examples/orders examples/snippets benchmarks benchmarks/peers
WITH     := $(GO) run ./servers/cmd/with
POSTGRES := -postgres -postgres-setting max_connections=300 -postgres-setting max_prepared_transactions=10
# Without a Java there is no Kafka to start: tests that want one then use a stand-in inside their own process, and say so.
KAFKA    := $(shell command -v java >/dev/null 2>&1 && echo -kafka)
# The linter is not a dependency of any module: it would bring hundreds along.
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(shell command -v golangci-lint || echo $(shell $(GO) env GOPATH)/bin/golangci-lint)

# The demo: how many orders, over how many relays, to which kind of destination.
ORDERS   ?= 20000
NODES    ?= 2
DEST     ?= service
SERVERS_kafka := -kafka
SERVERS_jobs  := -redis

.DEFAULT_GOAL := help
.PHONY: help build test test-container race demo bench bench-container bench-full fmt lint tools verify verify/core verify/tidy verify/docs verify/size \
        verify/schema verify/wire verify/deps verify/api cover

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z\/-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build every module by itself, without the workspace
	@for m in $(MODULES); do echo "== $$m"; (cd $$m && GOWORK=off $(GO) build -o /dev/null ./... && GOWORK=off $(GO) vet ./...) || exit 1; done

test: ## Run every test against real servers; finds or starts a PostgreSQL
	$(WITH) $(POSTGRES) -redis $(KAFKA) -- scripts/test $(MODULES)

race: ## The same under the race detector (needs a C compiler)
	$(WITH) $(POSTGRES) -redis $(KAFKA) -- scripts/test -race $(MODULES)

test-container: ## Tests and a tiny benchmark against PostgreSQL in a container (a Docker engine, or root to start one)
	scripts/docker scripts/test-container

demo: ## Orders through relays of which one is killed (ORDERS=20000 NODES=2 DEST=service|http|kafka|jobs)
	$(WITH) $(POSTGRES) $(SERVERS_$(DEST)) -- $(GO) run ./examples/orders demo -dest $(DEST) -orders $(ORDERS) -nodes $(NODES)

bench: ## Measure everything in one run, with the peers (under 6 minutes, 7 on slow processors); results in benchmarks/results
	cd benchmarks && GOWORK=off $(GO) run ./cmd/bench -peers

bench-container: ## The same against PostgreSQL in a container (a Docker engine, or root to start one); BENCH=-tiny for seconds
	scripts/docker sh -c 'image=$${SATCHEL_POSTGRES_IMAGE:-$$(scripts/postgres-image)} && cd benchmarks && \
		GOWORK=off exec $(GO) run ./cmd/bench -peers -container "$$image" -name container $(BENCH)'

bench-full: ## The same with ten million rows and every variant (about an hour, 20 GB of disk)
	cd benchmarks && GOWORK=off $(GO) run ./cmd/bench -full -peers

fmt: ## Format every file
	gofmt -s -w $(MODULES)

tools: ## Install the linter
	$(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

lint: ## Run the linter, which also enforces the arrows between modules
	@test -x "$(GOLANGCI)" || { echo "no golangci-lint: run make tools"; exit 1; }
	$(GOLANGCI) config verify
	$(GOLANGCI) run $(addsuffix /...,$(addprefix ./,$(MODULES)))

verify: verify/core verify/tidy verify/schema verify/wire verify/deps verify/api verify/docs verify/size ## Check what the code promises about itself

verify/core: ## core requires nothing
	@! grep -qE '^[[:space:]]*require' core/go.mod || { echo "core/go.mod requires something"; exit 1; }
	@! grep -qE '^[[:space:]]*require' schema/go.mod || { echo "schema/go.mod requires something"; exit 1; }

verify/tidy: ## go.mod and go.sum say what the code needs
	@for m in $(MODULES); do (cd $$m && GOWORK=off $(GO) mod tidy -diff) || { echo "$$m is not tidy"; exit 1; }; done

verify/schema: ## The migrations are as their checksums say, the generated layouts up to date
	cd schema && GOWORK=off $(GO) test ./...

verify/wire: ## The generated injectors are what wire generates
	cd wiring && GOWORK=off $(GO) tool wire diff ./...

verify/deps: ## Each module compiles in what deps/ lists, and nothing else
	scripts/verify-deps

verify/api: ## The exported API is compatible with the baseline in api/ (scripts/verify-api -update makes a new one)
	scripts/verify-api

verify/docs: ## Files, symbols and settings that the documents name exist
	scripts/verify-docs

verify/size: ## No hand-written file is longer than 300 lines
	@long=$$(git ls-files '*.go' | grep -v wire_gen.go | while read -r f; do n=$$(wc -l <"$$f"); [ $$n -le 300 ] || echo "$$f: $$n lines"; done); \
	 [ -z "$$long" ] || { echo "$$long"; exit 1; }

cover: ## Coverage of core
	cd core && GOWORK=off $(GO) test -coverprofile=/dev/null ./...
