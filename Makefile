# The two commands a newcomer needs are "make demo" and "make test".

GO            ?= go
PKG           := ./cmd/synthetic
BIN           := bin/synthetic
CONFIG        ?= examples/synthetic.yml
REFERENCE     := docs/reference
EXAMPLE       := 004-kv-vs-rr
STATICCHECK   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
HELM          := helm.sh/helm/v3/cmd/helm@v3.22.0
HELM4         := helm.sh/helm/v4/cmd/helm@v4.3.1

# All builds use the same flags, so that nothing is compiled twice; only the race
# detector needs its own. "make lint" runs go vet for everything. Releases use the same
# flags, too, and have the same bytes on every machine.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath -buildvcs=false $(filter-out -trimpath -buildvcs=false,$(GOFLAGS))
TESTFLAGS := -vet=off -ldflags='-s -w'

VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
REVISION  := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
BRANCH    := $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null || echo unknown)
COMMON    := github.com/prometheus/common/version
LDFLAGS   := -s -w -X $(COMMON).Version=$(VERSION) -X $(COMMON).Revision=$(REVISION) -X $(COMMON).Branch=$(BRANCH)

.DEFAULT_GOAL := help
include release.mk

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 18

.PHONY: build
build: ## Build bin/synthetic
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) $(PKG)

.PHONY: demo
demo: build ## Probe an embedded simulated deployment; needs nothing but Go
	./$(BIN) demo

.PHONY: test
test: ## Run the tests, a few minutes with the first build; needs nothing but Go
	$(GO) test $(TESTFLAGS) -short -timeout 5m ./...

.PHONY: test-long
test-long: ## Run the long simulations, too: the packages in which "make test" skips tests
	$(GO) test $(TESTFLAGS) -timeout 40m $$(git grep -l 'testing[.]Short()' -- '*_test.go' | sed 's|/[^/]*$$||; s|^|./|' | sort -u)

# These packages compute in one goroutine, so they cannot have races, and would take the
# longest under the detector.
PURE := internal/backtest tools/alertquality tools/alertquality/worlds internal/rules internal/sidecar/baseline internal/dashboard internal/slo \
	internal/study/report internal/study/figures internal/study/stats \
	internal/simulate/cluster internal/probe/workload/trace internal/config/yamlform tools/notices
.PHONY: race
race: ## Run the tests of "make test" under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test $(TESTFLAGS) -race -short -timeout 20m $$($(GO) list ./... $(PURE:%=| grep -v /%$$))

KILLS ?= 200

.PHONY: kill
kill: ## Kill the program KILLS times at random moments; 200 kills take four minutes
	$(GO) test $(TESTFLAGS) -timeout 30m -run TestKilledAnywhere -v ./cmd/synthetic -kills=$(KILLS)

.PHONY: e2e
e2e: build ## Probe real servers (installs them; see docs/background/e2e.md)
	e2e/run

.PHONY: e2e-shards
e2e-shards: build ## Sweep with four processes, one of which is killed or stopped: five minutes
	E2E_SYNTHETIC=$(CURDIR)/$(BIN) $(GO) test -tags e2e -count=1 -timeout 15m -v -run 'TestSweepShard|TestTenThousandStreams' ./e2e

.PHONY: generate
generate: build ## Write alerts/, dashboards/, the reference docs and the chart's copies
	./$(BIN) generate rules --config.file=$(CONFIG) --output.dir=alerts
	./$(BIN) generate grafana --config.file=$(CONFIG) --output.dir=alerts/grafana
	./$(BIN) generate dashboards --config.file=$(CONFIG) --output.dir=dashboards
	for file in config plan; do \
		./$(BIN) generate reference $$file --output.dir=$(REFERENCE) && \
		./$(BIN) generate schema $$file --output.dir=docs || exit 1; \
	done
	./$(BIN) generate metrics --output.dir=$(REFERENCE)
	rm -rf deploy/helm/synthetic/dashboards && cp -r dashboards deploy/helm/synthetic/dashboards
	$(MAKE) helm-schema notices

# The Grafana must allow anonymous access with the role Viewer.
CHROMIUM ?= chromium --headless=new --hide-scrollbars $(if $(filter 0,$(shell id -u)),--no-sandbox)
.PHONY: screenshots
screenshots: ## Write pictures of the dashboards in the Grafana at GRAFANA_URL into docs/img
	@test -n "$(GRAFANA_URL)" || { echo 'Name a Grafana with the dashboards: make screenshots GRAFANA_URL=http://127.0.0.1:3000'; exit 1; }
	for board in slo-overview target-detail fleet prober-health; do \
		$(CHROMIUM) --window-size=1440,1800 --virtual-time-budget=30000 --screenshot=docs/img/grafana-$$board.png \
			"$(GRAFANA_URL)/d/synthetic-$$board?kiosk&theme=light&from=now-30m&to=now" || exit 1; \
	done

GENERATED := alerts dashboards docs deploy/helm plans THIRD_PARTY_NOTICES
.PHONY: check-generated
check-generated: generate ## Fail if a generated file is stale
	@git diff --exit-code --stat -- $(GENERATED) || \
		{ echo 'Generated files are stale: run "make generate" and commit the result.'; exit 1; }
	@test -z "$$(git status --porcelain -- $(GENERATED))" || \
		{ git status --porcelain -- $(GENERATED); echo 'Generated files are not committed.'; exit 1; }

.PHONY: lint
lint: ## gofmt, go vet and staticcheck
	@test -z "$$(gofmt -l cmd internal tools e2e)" || { gofmt -l cmd internal tools e2e; echo 'Run gofmt -w on these files.'; exit 1; }
	$(GO) vet ./... && $(GO) vet -tags e2e ./e2e/...
	$(GO) run $(STATICCHECK) ./...

# Tests of the chart run without Go's test cache, which does not see the files that helm reads.
HELM_BIN  := bin/helm-$(lastword $(subst @, ,$(HELM)))
HELM4_BIN := bin/helm-$(lastword $(subst @, ,$(HELM4)))
$(HELM_BIN) $(HELM4_BIN): bin/helm-%:
	GOBIN=$(CURDIR)/bin $(GO) install $(filter %@$*,$(HELM) $(HELM4)) && mv bin/helm $@

.PHONY: helm-lint
helm-lint: build $(HELM_BIN) $(HELM4_BIN) ## Lint and render the chart with Helm 3 and 4, and decode the result with the types of Kubernetes
	for helm in $(HELM_BIN) $(HELM4_BIN); do \
		for values in deploy/helm/synthetic/ci/*-values.yaml examples/kubernetes/*-values.yaml; do \
			./$$helm lint --quiet --strict --kube-version=1.30.0 -f $$values deploy/helm/synthetic || exit 1; \
		done; \
	done
	@test -z "$$(gofmt -l deploy)" || { gofmt -l deploy; echo 'Run gofmt -w on these files.'; exit 1; }
	cd deploy/helm/test && $(GO) vet ./... && \
		HELM=$(CURDIR)/$(HELM_BIN) HELM4=$(CURDIR)/$(HELM4_BIN) SYNTHETIC=$(CURDIR)/$(BIN) $(GO) test -vet=off -count=1 ./...

.PHONY: e2e-kube
e2e-kube: image-roots $(HELM_BIN) ## Install the chart in a cluster of Kubernetes' own servers (compiles them; needs root; see docs/background/e2e-kube.md)
	HELM=$(CURDIR)/$(HELM_BIN) SYNTHETIC_IMAGE=$(CURDIR)/bin/image/$(IMAGE_PLATFORMS) e2e/kube/run $(ARGS)

.PHONY: helm-schema
helm-schema: ## Copy the schema of the configuration into the chart's values.schema.json
	cd deploy/helm/test && $(GO) test . -run SchemaKnowsTheConfiguration -update

.PHONY: studies
studies: ## Run the plans of plans/ in virtual time; writes bin/studies and the example in docs/studies. STUDY=003-bench runs only that one
	$(GO) test ./cmd/synthetic -run 'TestStudies/$(STUDY)' -count=1 -timeout 60m -args -studies=$(CURDIR)/bin/studies
	@! test -d bin/studies/$(EXAMPLE) || cp bin/studies/$(EXAMPLE)/report.md bin/studies/$(EXAMPLE)/*.svg docs/studies/$(EXAMPLE)/

.PHONY: demo-quality
demo-quality: ## Measure the delay of every alert of the demo, and 200 hours without a fault, into bin/demo-quality.md: 45 minutes of CPU
	@mkdir -p bin
	$(GO) test ./internal/simulate/demo -run 'TestDemoQuality|TestHealthyDemo|TestDrafterOff' -count=1 -timeout 5h -parallel 1 \
		-args -quality=$(CURDIR)/bin/demo-quality.md -quality.seeds=200

.PHONY: demo-baselines
demo-baselines: ## Learn the baselines with which the demo starts; about two minutes
	$(GO) test ./internal/simulate/demo -run TestLearnBaselines -count=1 -timeout 30m -args -learn=$(CURDIR)/internal/simulate/demo/baselines.json

.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME (default 10m); FUZZ=Run selects those with Run in their names
	@mkdir -p bin
	$(GO) test $(TESTFLAGS) -list '^Fuzz.*$(FUZZ)' $$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,') > bin/fuzz || { cat bin/fuzz; exit 1; }
	awk '/^Fuzz/ { names[++n] = $$1 } /^ok/ { for (i = 1; i <= n; i++) print $$2, names[i]; n = 0 }' bin/fuzz | \
		while read -r package name; do \
			echo "$$package $$name"; \
			$(GO) test $(TESTFLAGS) $$package -run '^$$' -fuzz "^$$name\$$" -fuzztime $(or $(FUZZTIME),10m) -fuzzminimizetime 1s </dev/null || exit 1; \
		done

.PHONY: siege
siege: build ## Run every attack of tools/soak with 50 targets each; about eight minutes
	$(GO) run ./tools/soak -siege

.PHONY: starvation
starvation: build ## Let targets fail while the program is stopped, has little CPU or a busy host: a quarter of an hour. CELLS='TLS-*/quota *' selects some
	$(GO) run ./tools/soak -campaign -each $(or $(EACH),7m) -cells '$(or $(CELLS),*/*)'

.PHONY: soak
soak: build ## Run the program against failing deployments for DURATION (default 20m, at least 2m); SEED=2 selects other faults, STALLS=1 stalls the program
	$(GO) run ./tools/soak -duration $(or $(DURATION),20m) -seed $(or $(SEED),1) $(if $(STALLS),-stalls)

.PHONY: bench
bench: ## Run the benchmarks of docs/background/performance.md
	$(GO) test ./internal/probe -run '^$$' -bench Path -benchtime 100000x -cpu 1
	$(GO) test ./internal/sidecar/metrics ./internal/probe/stream ./internal/simulate/... -run '^$$' -bench . -benchmem

# worlds: every simulated deployment, with 2 seeds of 30 days without faults and 30 with
# faults, so 120 days each. compare and fleet are shorter.
QUALITY := bin/alert-quality
.PHONY: alert-quality
alert-quality: ## Score the alert rules on simulated deployments into bin/alert-quality: an hour of CPU; docs/background/alert-quality.md
	$(GO) build -o bin/alertquality ./tools/alertquality
	bin/alertquality run --seed=101 --seeds=2 --workers=2 --no-compare --model=all --scrape-interval=30s --output.dir=$(QUALITY)/worlds
	bin/alertquality run --seed=101 --seeds=1 --days=14 --workers=2 --model=typical --model=weekend --scrape-interval=30s --output.dir=$(QUALITY)/compare
	bin/alertquality run --seed=101 --seeds=1 --days=4 --warm-up=10 --workers=2 --no-compare --model=all --fleet=100 --conversations-per-minute=1 --scrape-interval=1m --evaluation-interval=1m --output.dir=$(QUALITY)/fleet
	bin/alertquality tables $(QUALITY)

.PHONY: calibrate
calibrate: ## Compare the simulated deployments with their benchmark reports; writes the tables of docs/background/simulation.md
	$(GO) run ./tools/calibrate
