// Package archtest holds what no single package can: the import graph (data
// flows one way, and so do imports) and the links of the docs.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for every package of ours, which other packages of ours it
// may import. A package that is missing here fails the test: place it first.
func allowed() map[string][]string {
	return map[string][]string{
		"internal/bound":           nil,
		"internal/jsonscan":        nil,
		"internal/probe/stream":    {"internal/jsonscan"},
		"internal/probe/target":    nil,
		"internal/probe/workload":  {"internal/trace"},
		"internal/probe/api":       {"internal/probe/stream", "internal/probe/target", "internal/probe/workload"},
		"internal/probe/wire":      {"internal/bound", "internal/probe/stream"},
		"internal/probe/garble":    nil,
		"internal/probe/lag":       nil,
		"internal/probe/contract":  {"internal/probe/workload"},
		"internal/probe":           {"internal/bound", "internal/canary", "internal/probe/api", "internal/probe/contract", "internal/probe/garble", "internal/probe/lag", "internal/probe/stream", "internal/probe/target", "internal/probe/wire", "internal/probe/workload"},
		"internal/probe/waterfall": {"internal/probe"},

		"internal/load": {"internal/bound", "internal/probe", "internal/probe/workload"},

		"internal/minutes": nil,
		"internal/sketch":  nil,
		"internal/turnlog": {"internal/jsonscan", "internal/probe", "internal/unpack"},
		"internal/slo":     {"internal/probe", "internal/probe/lag"},

		"internal/sidecar/regression": {"internal/atomicfile", "internal/minutes", "internal/probe", "internal/probe/lag", "internal/probe/workload"},
		"internal/sidecar/door":       {"internal/bound"},
		"internal/sidecar/history":    {"internal/atomicfile", "internal/probe"},
		"internal/sidecar/backfill":   {"internal/probe", "internal/sidecar/metrics", "internal/sidecar/regression"},
		"internal/sidecar/turns":      {"internal/atomicfile", "internal/probe", "internal/sidecar/sink", "internal/turnlog"},
		"internal/sidecar/models":     {"internal/probe/target"},
		"internal/sidecar/discovery":  {"internal/probe/target"},

		"internal/sidecar/discovery/kubernetes": nil,

		"internal/sidecar/tracing":  {"internal/bound", "internal/probe", "internal/probe/target", "internal/sidecar/sink"},
		"internal/sidecar/sink":     {"internal/probe", "internal/probe/workload", "internal/sidecar/regression", "internal/slo"},
		"internal/sidecar/siblings": {"internal/probe", "internal/sidecar/regression", "internal/sidecar/sink"},
		"internal/webpage":          {"internal/draw"},
		"docs/runbooks":             nil,
		"internal/sidecar/status": {
			"internal/canary", "internal/draw", "internal/minutes", "internal/probe", "internal/probe/garble", "internal/probe/waterfall", "internal/probe/workload", "internal/rules", "internal/sidecar/regression",
			"internal/sidecar/discovery", "internal/sidecar/siblings", "internal/sidecar/sink", "internal/slo", "internal/webpage", "internal/markdown", "docs/runbooks",
		},
		"internal/sidecar/metrics": {
			"internal/bound", "internal/canary", "internal/probe", "internal/probe/garble", "internal/probe/lag", "internal/probe/target", "internal/probe/workload", "internal/serverside",
			"internal/sidecar/discovery", "internal/sidecar/models", "internal/sidecar/regression", "internal/sidecar/siblings", "internal/sidecar/sink", "internal/sketch", "internal/slo",
		},
		"internal/sidecar": {
			"internal/alerting", "internal/atomicfile", "internal/bound", "internal/canary", "internal/config", "internal/load", "internal/probe",
			"internal/probe/lag", "internal/probe/target", "internal/probe/wire", "internal/rules", "internal/serverside",
			"internal/sidecar/backfill", "internal/sidecar/discovery", "internal/sidecar/door", "internal/sidecar/history", "internal/sidecar/metrics", "internal/sidecar/models",
			"internal/sidecar/regression", "internal/sidecar/siblings", "internal/sidecar/sink", "internal/sidecar/status", "internal/sidecar/tracing", "internal/sidecar/turns",
		},

		"internal/alerting": {"internal/atomicfile", "internal/samples"},
		"internal/backtest": {
			"internal/draw", "internal/probe", "internal/probe/target", "internal/probe/workload", "internal/rules", "internal/samples",
			"internal/sidecar/metrics", "internal/sidecar/regression", "internal/sidecar/sink",
			"internal/slo", "internal/turnlog", "internal/config/yamlform",
		},
		"internal/dashboard": {"internal/probe", "internal/probe/workload", "internal/sidecar/metrics", "internal/slo"},
		"internal/rules":     {"internal/probe", "internal/sidecar/metrics", "internal/sidecar/regression", "internal/slo"},

		"internal/study/sample":   {"internal/sketch"},
		"internal/study/estimate": {"internal/study/sample"},
		"internal/study/runfile":  {"internal/atomicfile", "internal/probe", "internal/sketch", "internal/slo", "internal/study/sample", "internal/turnlog"},
		"internal/study/judge":    {"internal/study/runfile"},
		"internal/study/merge":    {"internal/study/judge", "internal/study/runfile", "internal/turnlog"},
		"internal/study/figures":  {"internal/markdown", "internal/probe", "internal/sketch", "internal/slo", "internal/study/estimate", "internal/study/judge", "internal/study/runfile", "internal/study/sample", "internal/turnlog"},
		"internal/study/analysis": {"internal/study/figures", "internal/study/runfile"},
		"internal/study/baseline": {"internal/sidecar/regression", "internal/study/figures", "internal/study/runfile"},
		"internal/study/sweep": {
			"internal/atomicfile", "internal/load", "internal/probe", "internal/probe/lag", "internal/probe/target",
			"internal/probe/workload", "internal/serverside", "internal/sketch", "internal/slo", "internal/study/judge", "internal/study/runfile", "internal/study/shard", "internal/turnlog",
		},
		"internal/study/shard":  {"internal/study/runfile"},
		"internal/study/live":   {"internal/probe", "internal/sidecar/metrics", "internal/study/runfile", "internal/study/sweep"},
		"internal/study/export": {"internal/probe", "internal/turnlog"},
		"internal/study/gate":   {"internal/markdown", "internal/study/analysis", "internal/study/figures", "internal/study/runfile"},
		"internal/study/report": {"internal/atomicfile", "internal/draw", "internal/markdown", "internal/study/analysis", "internal/study/figures", "internal/study/runfile", "internal/webpage"},

		"internal/simulate/cluster": nil,
		"internal/simulate":         {"internal/simulate/cluster"},
		"internal/demo":             {"internal/probe", "internal/sidecar/regression", "internal/simulate", "internal/simulate/cluster", "internal/slo"},

		"internal/archtest":   nil,
		"internal/atomicfile": nil,
		"internal/draw":       nil,
		"internal/markdown":   nil,
		"internal/samples":    nil,
		"internal/config/yamlform":   nil,
		"internal/trace":      {"internal/unpack"},
		"internal/unpack":     nil,
		"internal/serverside": {"internal/probe/target", "internal/probe/wire", "internal/study/runfile"},
		"internal/canary":     nil,
		"internal/config": {
			"internal/canary", "internal/probe", "internal/probe/contract", "internal/probe/target", "internal/probe/workload", "internal/serverside",
			"internal/sidecar/discovery", "internal/sidecar/discovery/kubernetes", "internal/sidecar/models", "internal/sidecar/regression", "internal/sidecar/sink", "internal/slo", "internal/study/baseline",
			"internal/study/runfile", "internal/study/sweep", "internal/trace", "internal/config/yamlform",
		},

		// Tests alone import these.
		"tools/testkit/promtest":      {"internal/samples"},
		"tools/testkit/tlstest":       nil,
		"tools/testkit/reporttest":    {"internal/probe", "internal/slo", "internal/study/runfile", "internal/turnlog"},
		"tools/testkit/dashboardtest": {"internal/dashboard"},
		"tools/testkit/smalldisk":     nil,
		"tools/testkit/stage":         {"internal/config", "internal/probe", "internal/rules", "internal/sidecar", "internal/sidecar/history", "internal/sidecar/regression", "internal/simulate", "tools/testkit/promtest"},

		"tools/notices":          nil,
		"tools/splice":           nil,
		"tools/calibrate/replay": {"internal/simulate/cluster"},
		"tools/calibrate":        {"internal/simulate/cluster", "tools/calibrate/replay", "tools/splice"},
		"tools/peers":            {"internal/study/figures"},
		"tools/soak":             {"internal/simulate"},
		"tools/alertpage":        {"internal/backtest", "tools/splice"},
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

// TestSimulatedDeploymentStaysOutside pins that only tests, commands, tools for
// developers and the demo use the simulated deployment.
func TestSimulatedDeploymentStaysOutside(t *testing.T) {
	may := regexp.MustCompile("^" + module + "(cmd/.*|tools/.*|internal/demo)$")
	for _, p := range list(t) {
		if slices.Contains(p.Imports, module+"internal/simulate") && !may.MatchString(p.ImportPath) {
			t.Errorf("%s imports the simulated deployment: only tests, commands, tools and the demo may", p.ImportPath)
		}
	}
}
