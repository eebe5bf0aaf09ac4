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
		"internal/workload": nil,
		"internal/target":   nil,
		"internal/stream":   nil,
		"internal/simulate": {"internal/simulate/cluster"},
		"internal/sketch":   nil,
		"internal/archtest": nil,
		"internal/promtest": nil,
		"internal/splice":   nil,
		"internal/alerting": nil,

		"internal/workload/prompts":   {"internal/workload"},
		"internal/simulate/cluster":   nil,
		"internal/simulate/replay":    {"internal/simulate/cluster"},
		"internal/simulate/calibrate": {"internal/simulate/cluster", "internal/simulate/replay", "internal/splice"},

		"internal/wire":      {"internal/stream"},
		"internal/wirebench": {"internal/wire", "internal/stream", "internal/probe", "internal/target", "internal/workload"},

		"internal/probe":     {"internal/workload", "internal/target", "internal/stream", "internal/wire"},
		"internal/waterfall": {"internal/probe"},
		"internal/slo":       {"internal/probe"},

		"internal/regression": {"internal/probe"},
		"internal/metrics":    {"internal/probe", "internal/slo", "internal/sketch", "internal/regression"},
		"internal/runfile":    {"internal/probe", "internal/slo", "internal/sketch"},
		"internal/report":     {"internal/runfile", "internal/report/study", "internal/report/analysis", "internal/report/picture"},

		// Tests alone import it.
		"internal/report/reporttest": {"internal/probe", "internal/slo", "internal/runfile"},
		"internal/report/estimate":   {"internal/sketch"},
		"internal/report/study":      {"internal/probe", "internal/slo", "internal/sketch", "internal/runfile", "internal/report/estimate"},
		"internal/report/analysis":   {"internal/runfile", "internal/report/study"},
		"internal/report/picture":    nil,
		"internal/report/gate":       {"internal/report/study", "internal/report/analysis"},

		"internal/expected": {"internal/probe", "internal/regression", "internal/runfile", "internal/report/study"},

		"internal/schedule":   {"internal/probe", "internal/target", "internal/workload"},
		"internal/serverside": {"internal/runfile", "internal/target"},
		"internal/sweep":      {"internal/probe", "internal/runfile", "internal/serverside", "internal/slo", "internal/target", "internal/workload"},
		"internal/status":     {"internal/probe", "internal/slo", "internal/waterfall"},
		"internal/rules":      {"internal/slo", "internal/metrics", "internal/probe", "internal/regression"},
		"internal/backtest":   {"internal/metrics", "internal/probe", "internal/regression", "internal/rules", "internal/slo"},
		// It writes docs/alert-quality.md.
		"internal/backtest/page": {"internal/backtest", "internal/splice"},
		"internal/dashboard":     {"internal/slo", "internal/metrics", "internal/probe", "internal/regression", "internal/workload"},
		// Tests alone import it.
		"internal/dashboard/dashboardtest": {"internal/dashboard"},

		"internal/config": {"internal/backtest", "internal/expected", "internal/regression", "internal/runfile", "internal/sweep", "internal/schedule", "internal/slo", "internal/probe", "internal/target", "internal/workload"},
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
