// Package archtest tests rules that span packages: imports between layers, and
// links in the docs.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// layers returns the layers of the module, lowest first. An entry names a package and
// all packages below it; the longest matching entry decides. A package may import
// packages of its own layer and of lower ones. A new folder directly under internal
// needs a place here; a new package inside a known folder does not.
func layers() [][]string {
	return [][]string{
		{"internal/archtest", "internal/atomicfile", "internal/bound", "internal/chart", "internal/config/yamlform", "internal/redact", "internal/sketch", "docs/runbooks", "examples"},
		{"internal/probe"},
		{"internal/load", "internal/slo", "internal/alerting"},
		{"internal/serverside"},
		{"internal/fleet"},
		{"internal/config"},
		{"internal/sidecar/", "internal/study"},
		{"internal/rules", "internal/dashboard"},
		{"internal/sidecar/status"},
		{"internal/sidecar"},
		{"internal/simulate"},
		{"cmd", "tools", "e2e"},
	}
}

// layerOf returns the index of the layer of the package named name, or -1.
func layerOf(name string) int {
	best, length := -1, 0
	for i, entries := range layers() {
		for _, entry := range entries {
			below := strings.HasPrefix(name, strings.TrimSuffix(entry, "/")+"/")
			if (name == entry || below) && len(entry) > length {
				best, length = i, len(entry)
			}
		}
	}
	return best
}

const module = "synthetic/"

// goPackage holds the fields of "go list -json" that the tests read.
type goPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "synthetic/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("reading the output of go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestImportsPointDown(t *testing.T) {
	pkgs := listPackages(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found only %d packages", len(pkgs))
	}
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module)
		layer := layerOf(name)
		if layer < 0 {
			t.Errorf("%s is in no layer: add its folder to layers()", name)
			continue
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok && layerOf(ours) > layer {
				t.Errorf("%s imports %s, which is in a higher layer", name, ours)
			}
		}
	}
}

// walls returns, for folders of the product, what they must not import: the sidecar and the study are apart, and
// neither is seen by the engine under both. Only commands and tools import both, and the simulated deployment.
func walls() map[string][]string {
	const sidecar, study, simulate = "internal/sidecar", "internal/study", "internal/simulate"
	return map[string][]string{
		"internal/sidecar": {study, simulate}, "internal/study": {sidecar, simulate, "internal/config"},
		"internal/rules": {study, simulate, "internal/config"}, "internal/dashboard": {study, simulate, "internal/config"},
		"internal/config": {sidecar, study, simulate, "internal/rules", "internal/dashboard", "internal/alerting"},
		"internal":        {simulate},
	}
}

func TestWalls(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for inside, forbidden := range walls() {
			if !within(name, inside) || within(name, "internal/simulate") {
				continue
			}
			for _, imported := range p.Imports {
				for _, wall := range forbidden {
					if within(strings.TrimPrefix(imported, module), wall) {
						t.Errorf("%s imports %s: %s must not import %s", name, imported, inside, wall)
					}
				}
			}
		}
	}
}

// within reports whether a package is in a folder.
func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
