# Everything that a release contains or checks: licences, bills of materials, known
# vulnerabilities, binaries, archives, images. Included by Makefile; CONTRIBUTING.md has
# the order of the steps.

RELEASED    := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
PLATFORMS   ?= $(RELEASED)
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
# It compares paths with GOROOT, which -trimpath removes.
GO_LICENSES := GOFLAGS= $(GO) run github.com/google/go-licenses@v1.6.0
CYCLONEDX   := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
GORELEASER  := github.com/goreleaser/goreleaser/v2@v2.16.0
COSIGN      := github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3
COSIGN_BIN  := bin/cosign-$(lastword $(subst @, ,$(COSIGN)))/cosign
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
ZIZMOR      := zizmor==1.32.0
ZIZMOR_DIR  := bin/zizmor-$(lastword $(subst ==, ,$(ZIZMOR)))

# What a linked module may have. These licences ask for their text beside the binary. MPL-2.0 also asks
# for the source of its files: it is, unchanged, in the module proxy of Go.
LICENCES := 0BSD,Apache-2.0,BSD-2-Clause,BSD-3-Clause,CC0-1.0,ISC,MIT,MPL-2.0,Unlicense,Zlib
define NOTICES
Third-party notices
===================

The licences and notices of the modules that are linked into cmd/synthetic, of the Go standard library, and
of the npm packages that it embeds. A text that several share stands here once. Written by "make notices".
endef
export NOTICES

.PHONY: notices
notices: ## Write THIRD_PARTY_NOTICES; refuse the licences that are not in LICENCES
	$(GO_LICENSES) check $(PKG) --allowed_licenses=$(LICENCES)
	rm -rf bin/licences && $(GO_LICENSES) save $(PKG) --save_path=bin/licences
	rm -rf bin/licences/synthetic && cp -r internal/chart/third_party bin/licences/npm
	mkdir bin/licences/the-Go-standard-library && cp "$$($(GO) env GOROOT)/LICENSE" bin/licences/the-Go-standard-library
	$(GO) list -deps -f '{{with .Module}}{{.Path}} {{.Dir}}/THIRD_PARTY_LICENSES{{end}}' $(PKG) | sort -u | while read -r module texts; do \
		test ! -d $$texts || { mkdir -p bin/licences/$$module && cp -r $$texts bin/licences/$$module; }; done
	{ echo "$$NOTICES"; cd bin/licences && find . -type f '(' -iname '*LICEN[CS]E*' -o -iname 'NOTICE*' -o -iname 'COPYING*' ')' | LC_ALL=C sort | xargs sha256sum | \
		awk '!($$1 in of) {texts[++n] = $$1; file[$$1] = $$2} {of[$$1] = of[$$1] "\n" substr($$2, 3)} \
			END {for (i = 1; i <= n; i++) {print "\n" rule of[texts[i]] "\n" rule "\n"; while ((getline line <file[texts[i]]) > 0) {gsub(/[ \t\r\f]+$$/, "", line); print line}}}' \
			rule=-------------------------------------------------------------------------------- ; } >bin/notices
	mv bin/notices THIRD_PARTY_NOTICES

VULNDB ?= https://vuln.go.dev
.PHONY: vuln
vuln: ## Report known vulnerabilities; VULNDB=file:///DIR reads a copy of the database
	$(GO) run $(GOVULNCHECK) -db $(VULNDB) -show version ./...

# Writes the bill of materials of any binary: BINARY=FILE SBOM=FILE.
BINARY ?= $(BIN)
SBOM   ?= $(BINARY).cdx.json
.PHONY: sbom sbom-of
sbom: build sbom-of ## Write the bill of materials bin/synthetic.cdx.json
sbom-of:
	$(GO) run $(CYCLONEDX) bin -json -licenses -std -noserial -notimestamp -version $(VERSION) -output $(SBOM) $(BINARY)

.PHONY: binaries
binaries: ## Build bin/GOOS/GOARCH/synthetic for each of PLATFORMS
	for p in $(PLATFORMS); do \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -ldflags '$(LDFLAGS)' -o bin/$$p/synthetic $(PKG) || exit 1; \
	done

# An image is a binary in an empty root; see Dockerfile.
CONTAINER       ?= docker
IMAGE           ?= synthetic
IMAGE_PLATFORMS ?= linux/$(shell $(GO) env GOARCH)
comma           := ,
.PHONY: image
image: image-roots ## Build the container image with docker, or with CONTAINER=podman
	$(CONTAINER) build --platform=$(subst $() ,$(comma),$(IMAGE_PLATFORMS)) $(IMAGE_FLAGS) -f Dockerfile \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) -t $(IMAGE):$(VERSION) bin/image

.PHONY: image-roots
image-roots:
	$(MAKE) binaries PLATFORMS='$(IMAGE_PLATFORMS)'
	rm -rf bin/image
	for p in $(IMAGE_PLATFORMS); do \
		mkdir -p bin/image/$$p/usr/bin && \
		cp LICENSE THIRD_PARTY_NOTICES bin/image/$$p && cp bin/$$p/synthetic bin/image/$$p/usr/bin && \
		chmod -R go=u,go-w bin/image && mkdir -m 1777 bin/image/$$p/tmp || exit 1; \
	done

# Goreleaser uses the compiler flags of this file, so that it builds the same bytes as
# "make binaries".
export GITHUB_REPOSITORY ?= nobody/synthetic
goreleaser = LDFLAGS='$(LDFLAGS)' PATH="$(CURDIR)/$(dir $(COSIGN_BIN)):$$PATH" $(GO) run $(GORELEASER)

# Shell completion and the man page. The title that kingpin writes would contain all lines
# of --version.
TEXTS := bin/texts
.PHONY: release-texts texts
release-texts: build texts
texts:
	@mkdir -p $(TEXTS)
	$(BIN) --completion-script-bash > $(TEXTS)/synthetic.bash
	$(BIN) --completion-script-zsh > $(TEXTS)/_synthetic
	{ echo '.TH synthetic 1 "" "synthetic $(VERSION)"'; $(BIN) --help-man | sed '1,/^\.SH/{/^\.SH/!d}'; } | gzip -9n > $(TEXTS)/synthetic.1.gz

# It compiles nothing, since root often has no Go.
PREFIX    ?= /usr/local
INSTALLED := $(DESTDIR)$(PREFIX)
.PHONY: install
install: ## Install bin/synthetic, its systemd unit, man page and completion under PREFIX (/usr/local); DESTDIR is put before it
	@test -x $(BIN) || { echo 'There is no $(BIN): run "make build" first.'; exit 1; }
	$(MAKE) texts
	install -d $(addprefix $(INSTALLED)/,bin lib/systemd/system share/man/man1 share/bash-completion/completions share/zsh/site-functions)
	install -m 755 $(BIN) $(INSTALLED)/bin/synthetic
	sed 's|/usr/bin/synthetic|$(PREFIX)/bin/synthetic|' deploy/systemd/synthetic.service > $(TEXTS)/synthetic.service
	install -m 644 $(TEXTS)/synthetic.service $(INSTALLED)/lib/systemd/system/synthetic.service
	install -m 644 $(TEXTS)/synthetic.1.gz $(INSTALLED)/share/man/man1/synthetic.1.gz
	install -m 644 $(TEXTS)/synthetic.bash $(INSTALLED)/share/bash-completion/completions/synthetic
	install -m 644 $(TEXTS)/_synthetic $(INSTALLED)/share/zsh/site-functions/_synthetic

.PHONY: uninstall
uninstall: ## Remove what "make install" has installed
	rm -f $(addprefix $(INSTALLED)/,bin/synthetic lib/systemd/system/synthetic.service share/man/man1/synthetic.1.gz \
		share/bash-completion/completions/synthetic share/zsh/site-functions/_synthetic)

.PHONY: release-check
release-check: ## Check .goreleaser.yaml, build dist/ unsigned and compare with a build from an empty cache (compiles goreleaser: minutes)
	$(goreleaser) check
	$(goreleaser) release --snapshot --clean --skip=sign
	GOCACHE=$(CURDIR)/bin/cache $(MAKE) binaries PLATFORMS='$(RELEASED)'
	for p in $(RELEASED); do cmp bin/$$p/synthetic dist/synthetic_$${p%/*}_$${p#*/}_*/synthetic || exit 1; done

.PHONY: release
release: $(COSIGN_BIN) ## Build, sign and publish the checked-out tag; the release workflow runs this
	@awk '/^## /{on = $$2 == "$(VERSION:v%=%)"; next} on' CHANGELOG.md > bin/notes.md
	@test -s bin/notes.md || { echo 'CHANGELOG.md has no section "## $(VERSION:v%=%)": write it, and move the tag.'; exit 1; }
	$(goreleaser) release --clean --release-notes=bin/notes.md

$(COSIGN_BIN):
	GOBIN=$(CURDIR)/$(@D) $(GO) install $(COSIGN)

.PHONY: lint-workflows
lint-workflows: ## Lint .github/workflows (installs zizmor from PyPI into bin/)
	$(GO) run $(ACTIONLINT) -color
	test -x $(ZIZMOR_DIR)/bin/zizmor || { python3 -m venv $(ZIZMOR_DIR) && $(ZIZMOR_DIR)/bin/pip install -q --disable-pip-version-check '$(ZIZMOR)'; }
	$(ZIZMOR_DIR)/bin/zizmor --offline --persona=pedantic .github
