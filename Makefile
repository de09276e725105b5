# Everything starts here: "make help" lists the targets. The only prerequisites are
# Go, git and make; whatever else is needed is built from Go modules.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
DATE    ?= $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)

# Everything is compiled without cgo, as a release is: once, then, and smaller, as with cgo
# kustomize's loader of Go plugins would make the linker keep every symbol.
export CGO_ENABLED := 0

# The minor version of Kubernetes that tests and demos run on: make test K8S=1.36.
# Empty is the one of hack/controlplane/kubernetes/go.mod; others are in versions/ beside it.
K8S ?=
export CONTROLPLANE_KUBERNETES := $(K8S)

# Only the race detector needs cgo, and so a C compiler. A machine without one runs the tests all the same.
RACE := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)

ANALYSIS     := $(GO) tool -modfile=hack/tools/analysis/go.mod
PICTURE      := $(GO) run ./hack/picture bin/kubectl-workspace docs/describe.svg 15 'describe alice-notebook'
CONTROLPLANE := $(GO) -C hack/controlplane run .
PACKAGES      = $(shell $(GO) list ./... | grep -v '/test')
PURE         := pkg/diagnose pkg/diagnose/causes pkg/facts pkg/secretmount pkg/controller

stage = @printf '\n==> %s\n'

.DEFAULT_GOAL := help
.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/kubectl-workspace
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/kubectl-workspace ./cmd/kubectl-workspace

.PHONY: demo
demo: build controlplane ## Show what the plugin does, on a control plane of its own
	$(stage) 'demo'
	@hack/demo/demo.sh

.PHONY: test
test: test-unit test-controlplane test-e2e ## Run every test; K8S=1.36 does so on another Kubernetes

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane
	$(stage) 'unit tests$(if $(RACE),, (no C compiler: without the race detector))'
	$(if $(RACE),CGO_ENABLED=1 )$(GO) test $(RACE) $(PACKAGES)

.PHONY: test-controlplane
test-controlplane: controlplane ## Test the launcher of the control plane
	$(stage) 'tests of the control plane'
	$(GO) -C hack/controlplane test ./...
	cd hack/controlplane/kubernetes && $(GO) test -vet=off -trimpath ./node

.PHONY: test-e2e
test-e2e: controlplane ## Test the binary on a real API server, scheduler and kubelet
	$(stage) 'end-to-end tests'
	$(GO) test -timeout 30m -parallel 8 ./test/...

.PHONY: test-parity
test-parity: controlplane ## Of these, only the recordings of the controller
	$(stage) 'parity with the recordings, live'
	$(GO) test -timeout 30m -parallel 8 -run 'TestReconcile(Cases|Sequences)' ./test

.PHONY: lint
lint: ## Run the linters
	$(stage) 'lint (building the linter takes some minutes the first time)'
	$(GO) tool -modfile=hack/tools/golangci-lint/go.mod golangci-lint run ./...
	$(stage) 'functions that nothing reaches'
	@dead=$$($(ANALYSIS) deadcode -test ./...) && [ -z "$$dead" ] || { echo "$$dead"; exit 1; }

.PHONY: vuln
vuln: ## Look for known vulnerabilities (needs the internet: the Go vulnerability database)
	$(ANALYSIS) govulncheck ./...

.PHONY: cover
cover: ## Print the coverage of each package; the pure ones must reach 90 %
	@GO='$(GO)' hack/coverage.sh 90 $(PURE)

.PHONY: generate
generate: build ## Regenerate deepcopy functions, CRDs, and what is generated in docs
	hack/crdgen/generate.sh
	$(GO) run ./hack/docgen markdown docs/reference
	$(GO) run ./hack/docgen schemas docs/schemas
	$(PICTURE)
	$(GO) test ./pkg/diagnose/causes -run TestDocument -update

.PHONY: generate-check
generate-check: build ## Fail if something generated is stale
	$(stage) 'generated files'
	hack/crdgen/generate.sh --check
	$(GO) run ./hack/docgen --check markdown docs/reference
	$(GO) run ./hack/docgen --check schemas docs/schemas
	$(subst picture bin,picture --check bin,$(PICTURE))
	$(GO) mod tidy -diff

.PHONY: crd-compare
crd-compare: ## Compare our CRDs with published ones: make crd-compare PUBLISHED=DIR
	@test -n '$(PUBLISHED)' || { echo 'usage: make crd-compare PUBLISHED=DIR' >&2; exit 2; }
	$(GO) run ./hack/crddiff --ours pkg/api/crds --published '$(PUBLISHED)'

.PHONY: controlplane
controlplane:
	$(stage) 'control plane (built from Go modules; minutes the first time)'
	$(CONTROLPLANE) build

.PHONY: cluster-up
cluster-up: ## Start a control plane and leave it running; prints how to use it
	@$(CONTROLPLANE) up --crds $(CURDIR)/pkg/api/crds

.PHONY: cluster-down
cluster-down: ## Stop the control plane of cluster-up
	@$(CONTROLPLANE) down

.PHONY: startup
startup: build controlplane ## Compare the start-up time with kubectl's
	@hack/startup/run.sh

.PHONY: completion
completion: build controlplane ## Compare the completion of Workspaces with kubectl's own of Pods
	@hack/completion/run.sh

.PHONY: latency
latency: build controlplane ## Compare describe with kubectl describe pod on a slow link
	@hack/latency/run.sh

.PHONY: bench
bench: ## Run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./pkg/cluster ./pkg/diagnose/causes

.PHONY: release-check
release-check: ## Build a release without publishing it, and again elsewhere to compare; ALL=1 compares all platforms
	@GO='$(GO)' hack/release/check.sh

.PHONY: krew-test
krew-test: controlplane ## Install what release-check made with the real krew, and use it
	$(stage) 'krew (install, use, complete, uninstall)'
	@test -d dist/krew || { echo 'nothing to install yet: make release-check' >&2; exit 1; }
	KUBECTL_WORKSPACE_TEST_DIST=$(CURDIR)/dist $(GO) test -count=1 -v -run '^TestKrew' ./test

.PHONY: release
release: ## Make and publish the release of a tag; only .github/workflows/release.yaml does it
	@test -n '$(CI)' || { echo 'releases are made by CI, from a tag; make release-check tries one' >&2; exit 1; }
	$(GO) tool -modfile=hack/tools/goreleaser/go.mod goreleaser release --clean

.PHONY: release-extras
release-extras: licenses
	rm -rf bin/release/man
	$(GO) run ./hack/docgen man bin/release/man
	gzip -9nf bin/release/man/*
	$(GO) run ./cmd/kubectl-workspace completion install --quiet --dir bin/release

.PHONY: licenses
licenses: ## Check the licences of everything that the binaries contain
	$(GO) build -C hack/release -o ../../bin/release/release .
	bin/release/release licenses bin/release

.PHONY: size
size: ## Show what makes the binary as large as it is
	@GO='$(GO)' hack/release/size.sh

.PHONY: clean
clean: ## Remove what was built here (not the control plane in the user's cache)
	rm -rf bin dist
