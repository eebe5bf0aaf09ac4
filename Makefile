# The two commands a newcomer needs are "make demo" and "make test".

GO            ?= go
PKG           := ./cmd/synthetic
BIN           := bin/synthetic
CONFIG        ?= examples/synthetic.yml
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
# Tests that may run side by side mostly wait, so each package runs more of them than there are cores. "make
# test-long" starts even more at once, because one of them waits for three minutes.
WAITING   := -parallel 4

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
	$(GO) test $(TESTFLAGS) -short -p 3 $(WAITING) -timeout 8m ./...

.PHONY: test-long
test-long: ## Run the long simulations: the tests that "make test" skips or shortens
	files=$$(git grep -l 'testing[.]Short()' -- '*_test.go' ':!deploy/helm/test') && \
	tests=$$(awk '/^func /{name=$$2; sub(/[(].*/, "", name)} /testing[.]Short[(][)]/ && name ~ /^Test/ {print name}' $$files | sort -u | paste -sd'|') && \
	! awk '/^func /{name=$$2} /testing[.]Short[(][)]/ && name !~ /^Test/ {print FILENAME ": ask testing.Short() in the test itself, not in " name; bad=1} END {exit !bad}' $$files && \
	$(GO) test $(TESTFLAGS) -p 3 -parallel 10 -timeout 40m -run "^($$tests)$$" $$(printf './%s\n' $$files | sed 's|/[^/]*$$||' | sort -u)

# These packages compute, in one goroutine or in several that share nothing, or share data that tests of
# other packages share, too. Each package costs the link of a test binary.
PURE := docs/runbooks e2e internal/archtest internal/chart internal/config \
	internal/config/yamlform internal/dashboard internal/probe/answers/recall internal/probe/dialect \
	internal/probe/workload/trace internal/rules internal/sidecar/watch \
	internal/simulate/cluster internal/simulate/demo internal/sketch internal/slo internal/study/report \
	internal/study/runs tools/alertquality \
	tools/alertquality/worlds tools/calibrate tools/calibrate/replay \
	tools/testkit/promtest
# So do these tests, and some measure memory. Others simulate for long what shorter tests simulate, too.
PURE_TESTS := ^TestNoPartOfAKeyIsShown|TestRejectedReloadsKeepNothing|TestConversationsOfTheLoad|TestPresetsDifferAsMeasured|TestManySecretsAreForgotten|TestReportOfHostileNames|TestIncidentsShowAsOutcomes|TestProbeShowsNoPartOfAKey|TestNobodyIsPagedForWhatNeverWorked|TestSearchResumes|TestHostilePages
.PHONY: race
race: ## Run the tests of "make test" under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test $(TESTFLAGS) -race -short $(WAITING) -timeout 20m -skip '$(PURE_TESTS)' $$($(GO) list ./... $(PURE:%=| grep -v /%$$))

KILLS ?= 200

.PHONY: kill
kill: ## Kill the program KILLS times at random moments; 200 kills take four minutes
	$(GO) test $(TESTFLAGS) -timeout 30m -run TestKilledAnywhere -v ./cmd/synthetic -kills=$(KILLS)
	$(GO) test $(TESTFLAGS) -run TestKilledPagerRepeatsNothing -v ./internal/alerting -args -kills=$(KILLS)

.PHONY: e2e
e2e: build ## Probe real servers (installs them; see docs/background/e2e.md)
	e2e/run

.PHONY: e2e-real
e2e-real: ## Play faults on vLLM, LiteLLM, nginx and HAProxy (installs 6.5 GB): two hours; ARGS="-run Scenes/Limited"
	e2e/real/run $(ARGS)

.PHONY: generate
generate: write ## Write alerts/, dashboards/, the reference docs and the chart's copies
	$(MAKE) helm-schema notices

.PHONY: write
write: build
	./$(BIN) generate rules --config.file=$(CONFIG) --output.dir=alerts
	./$(BIN) generate dashboards --config.file=$(CONFIG) --output.dir=dashboards
	./$(BIN) generate docs docs
	rm -rf deploy/helm/synthetic/dashboards && cp -r dashboards deploy/helm/synthetic/dashboards

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
	$(GO) vet ./... && $(GO) vet -tags e2e,real ./e2e/...
	$(GO) run $(STATICCHECK) ./...

# Tests of the chart run without Go's test cache, which does not see the files that helm reads.
HELM_BIN  := bin/helm-$(lastword $(subst @, ,$(HELM)))
HELM4_BIN := bin/helm-$(lastword $(subst @, ,$(HELM4)))
$(HELM_BIN) $(HELM4_BIN): bin/helm-%:
	GOBIN=$(CURDIR)/bin $(GO) install $(filter %@$*,$(HELM) $(HELM4)) && mv bin/helm $@

.PHONY: e2e-kube
e2e-kube: ## Test the discovery of Kubernetes with its API server (compiles it; see docs/background/e2e.md)
	e2e/kube/run $(ARGS)

.PHONY: helm-tools
helm-tools: $(HELM_BIN) $(HELM4_BIN) ## Compile Helm 3 and 4

.PHONY: helm-lint
helm-lint: build $(HELM_BIN) $(HELM4_BIN) ## Lint and render the chart with Helm 3 and 4, and decode the result with the types of Kubernetes
	for helm in $(HELM_BIN) $(HELM4_BIN); do \
		for values in deploy/helm/synthetic/ci/*-values.yaml examples/kubernetes/*-values.yaml; do \
			./$$helm lint --quiet --strict --kube-version=1.31.0 -f $$values deploy/helm/synthetic || exit 1; \
		done; \
	done
	@test -z "$$(gofmt -l deploy)" || { gofmt -l deploy; echo 'Run gofmt -w on these files.'; exit 1; }
	cd deploy/helm/test && $(GO) vet ./... && \
		HELM=$(CURDIR)/$(HELM_BIN) HELM4=$(CURDIR)/$(HELM4_BIN) SYNTHETIC=$(CURDIR)/$(BIN) $(GO) test -vet=off -count=1 -timeout=30m ./...

.PHONY: helm-schema
helm-schema: ## Copy the schema of the configuration into the chart's values.schema.json
	cd deploy/helm/test && $(GO) test . -run SchemaKnowsTheConfiguration -update

.PHONY: studies
studies: calibrate ## Run the plans of plans/ in virtual time; writes bin/studies, the example in docs/studies and what "calibrate" writes. STUDY=003-bench runs only that one
	$(GO) test ./cmd/synthetic -run 'TestStudies/$(STUDY)' -count=1 -timeout 60m -args -studies=$(CURDIR)/bin/studies
	@! test -d bin/studies/$(EXAMPLE) || cp bin/studies/$(EXAMPLE)/report.md bin/studies/$(EXAMPLE)/*.svg docs/studies/$(EXAMPLE)/

.PHONY: demo-baseline
demo-baseline: ## Learn the baseline with which the demo starts; half a minute
	$(GO) test ./internal/simulate/demo -run TestLearnBaseline -count=1 -timeout 30m -args -learn=$(CURDIR)/internal/simulate/demo/baseline.json

# Inputs that reach new code are kept and varied. This compiles everything once more. A run of a few
# hundred inputs gains nothing from it: GUIDED= leaves it out.
GUIDED ?= -fuzz=.
.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME (default 10m); FUZZ=Run selects those with Run in their names
	@mkdir -p bin/fuzzing && rm -f bin/fuzzing/*.test
	dirs=$$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u) && \
	$(GO) test $(TESTFLAGS) -c $(GUIDED) -o bin/fuzzing/ $$(printf './%s\n' $$dirs) && \
	for dir in $$dirs; do \
		binary=$(CURDIR)/bin/fuzzing/$${dir##*/}.test; \
		for name in $$($$binary -test.list '^Fuzz.*$(FUZZ)'); do \
			echo "$$dir $$name"; \
			(cd $$dir && $$binary -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(or $(FUZZTIME),10m) \
				-test.fuzzminimizetime 1s -test.fuzzcachedir $(CURDIR)/bin/fuzzing/inputs/$$dir </dev/null) || exit 1; \
		done; \
	done

.PHONY: starvation
starvation: ## Stop the prober again and again, in outages and for ten hours of virtual time
	$(GO) test $(TESTFLAGS) -timeout 30m -run 'TestHoursOfStalls|TestOutagesPageDespiteStalls' ./internal/sidecar -args -stall-hours=10

.PHONY: bench
bench: build ## Measure the CPU time of a token, beside plain net/http, and of targets, and write the tables of docs/background/performance.md: half an hour on Linux; ARGS="-runs 3 -only '1000 x 20/s'" for less
	$(GO) run ./tools/bench -write docs/background/performance.md $(ARGS)

.PHONY: bench-check
bench-check: build ## Fail if a token costs more, beside plain net/http, than the goals of docs/background/performance.md allow: at most eight minutes
	$(GO) run ./tools/bench -check -for 12s -only 'in memory,1000 x 20/s'

.PHONY: peers
peers: build ## Measure the accuracy of five load testing tools and write the table of docs/background/other-tools.md (installs 12 GB; Linux): 40 minutes to an hour; ARGS="-runs 1 -only '256 streams'" for less
	tools/peers/run -write docs/background/other-tools.md $(ARGS)

.PHONY: alert-quality
alert-quality: ## Score the alert rules on eight simulated deployments, and write the tables of docs/background/alert-quality.md and README.md: at most half an hour on two cores
	$(GO) run ./tools/alertquality -healthy-days 12 -faulty-days 6 -faults 24 -write docs/background/alert-quality.md -readme README.md $(ARGS)

.PHONY: calibrate
calibrate: ## Run every plan of plans/ with six seeds, without HTTP, and compare it with its published report; writes the table of docs/background/simulation.md
	$(GO) run ./tools/calibrate
