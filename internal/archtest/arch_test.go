// Package archtest holds what no single package can: the import graph (data
// flows one way, and so do imports) and the links of the docs.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for every package of ours, which other packages of ours it
// may import. A package that is missing here fails the test: place it first.
func allowed() map[string][]string {
	return map[string][]string{
		"internal/probe/workload": nil,
		"internal/probe/target":   nil,
		"internal/probe/stream":   nil,
		"internal/simulate":       {"internal/simulate/cluster"},
		"internal/sketch":         nil,
		"internal/archtest":       nil,
		"tools/testkit/promtest":  nil,
		"tools/splice":            nil,
		"internal/alerting":       nil,

		"tools/prompts":             {"internal/probe/workload"},
		"internal/simulate/cluster": nil,
		"tools/calibrate/replay":    {"internal/simulate/cluster"},
		"tools/calibrate":           {"internal/simulate/cluster", "tools/calibrate/replay", "tools/splice"},

		"internal/probe/wire": {"internal/probe/stream"},
		"tools/wirebench":     {"internal/probe/wire", "internal/probe/stream", "internal/probe", "internal/probe/target", "internal/probe/workload"},

		"internal/probe":           {"internal/probe/workload", "internal/probe/target", "internal/probe/stream", "internal/probe/wire"},
		"internal/probe/waterfall": {"internal/probe"},
		"internal/slo":             {"internal/probe"},

		"internal/sidecar/regression": {"internal/probe"},
		"internal/sidecar/metrics":    {"internal/probe", "internal/slo", "internal/sketch", "internal/sidecar/regression"},
		"internal/study/runfile":      {"internal/probe", "internal/slo", "internal/sketch"},
		"internal/study/report":       {"internal/study/runfile", "internal/study/figures", "internal/study/analysis", "internal/draw"},

		// Tests alone import it.
		"tools/testkit/reporttest": {"internal/probe", "internal/slo", "internal/study/runfile"},
		"internal/study/estimate":  {"internal/sketch"},
		"internal/study/figures":   {"internal/probe", "internal/slo", "internal/sketch", "internal/study/runfile", "internal/study/estimate"},
		"internal/study/analysis":  {"internal/study/runfile", "internal/study/figures"},
		"internal/draw":            nil,
		"internal/study/gate":      {"internal/study/figures", "internal/study/analysis"},

		"internal/study/baseline": {"internal/probe", "internal/sidecar/regression", "internal/study/runfile", "internal/study/figures"},

		"internal/load":           {"internal/probe", "internal/probe/target", "internal/probe/workload"},
		"internal/serverside":     {"internal/study/runfile", "internal/probe/target", "internal/probe/wire"},
		"internal/study/sweep":    {"internal/probe", "internal/study/runfile", "internal/serverside", "internal/slo", "internal/probe/target", "internal/probe/workload"},
		"internal/sidecar/status": {"internal/probe", "internal/slo", "internal/probe/waterfall"},
		"internal/rules":          {"internal/slo", "internal/sidecar/metrics", "internal/probe", "internal/sidecar/regression"},
		"internal/backtest":       {"internal/sidecar/metrics", "internal/probe", "internal/sidecar/regression", "internal/rules", "internal/slo"},
		// It writes docs/alert-quality.md.
		"tools/alertpage":    {"internal/backtest", "tools/splice"},
		"internal/dashboard": {"internal/slo", "internal/sidecar/metrics", "internal/probe", "internal/sidecar/regression", "internal/probe/workload"},
		// Tests alone import it.
		"tools/testkit/dashboardtest": {"internal/dashboard"},

		"internal/config": {"internal/backtest", "internal/study/baseline", "internal/sidecar/regression", "internal/study/runfile", "internal/study/sweep", "internal/load", "internal/slo", "internal/probe", "internal/probe/target", "internal/probe/workload"},
	}
}

const module = "synthetic/"

// pkg is what "go list -json" says of a package.
type pkg struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "synthetic/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("reading the output of go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestImportsGoOneWay(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found only %d packages", len(pkgs))
	}
	graph := allowed()
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(name, "cmd/") || name == "e2e" {
			continue // the top of the house may use every room
		}
		may, known := graph[name]
		if !known {
			t.Errorf("%s has no place in the import graph: add it to allowed()", name)
		}
		for _, imported := range p.Imports {
			ours, is := strings.CutPrefix(imported, module)
			if is && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s, which points the wrong way", name, ours)
			}
		}
	}
}

// TestSimulatedDeploymentStaysOutside pins that only tests and commands use
// the simulated deployment.
func TestSimulatedDeploymentStaysOutside(t *testing.T) {
	for _, p := range list(t) {
		if slices.Contains(p.Imports, module+"internal/simulate") && !strings.HasPrefix(p.ImportPath, module+"cmd/") {
			t.Errorf("%s imports the simulated deployment: only tests and commands may", p.ImportPath)
		}
	}
}
