package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// alertquality runs the command and returns its output.
func alertquality(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out, io.Discard)
	return out.String(), err
}

// TestRunOfARuleFile scores one day with one fault, and a rule file.
func TestRunOfARuleFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "own.yml")
	rule := "groups: [{name: g, rules: [{alert: Down, expr: synthetic_consecutive_failed_turns >= 3, labels: {severity: page}}]}]"
	if err := os.WriteFile(own, []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := alertquality(t, "run", "--rules.file=mine="+own, "--no-compare", "--model=sparse", "--fault=outage", "--seeds=1", "--days=1", "--warm-up=0", "--output.dir="+dir); err != nil {
		t.Fatal(err)
	}
	tables, err := os.ReadFile(filepath.Join(dir, "scores.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| mine | 0.00 (0 in 1 days) | 100 % |", "| outage |", "| mine | Down |"} {
		if !strings.Contains(string(tables), want) {
			t.Errorf("the tables have no %q:\n%s", want, tables)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "scores.json")); err != nil {
		t.Error(err)
	}
}

// TestRunOfAConfiguration: the SLOs of the configuration judge the simulated target, and
// no rule reports that the configured target is missing.
func TestRunOfAConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	text := `
targets: [{name: prod, base_url: "http://127.0.0.1:8000/v1"}]
slos:
  - {name: up, sli: availability, objective: 0.999, window: 30d, targets: [prod]}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := alertquality(t, "run", "--config.file="+file, "--no-compare", "--model=sparse", "--fault=outage", "--seeds=1", "--days=1", "--warm-up=0")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| synthetic | 0.00 (0 in 1 days) | 100 % |",
		"| synthetic | SyntheticTargetDown | 0.00 | 100 %",
		"| synthetic | SyntheticTargetNoSamples | 0.00 | – |",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the tables have no %q:\n%s", want, out)
		}
	}
}

// TestPolicyOfAConfiguration: the simulated targets together may have as many false
// pages as all jobs of the configuration.
func TestPolicyOfAConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	text := `
targets: [{name: a, base_url: "http://127.0.0.1:8000/v1"}, {name: c, base_url: "http://127.0.0.1:8000/v1"}, {name: d, base_url: "http://127.0.0.1:8000/v1"}]
regression: {false_pages: 2/30d, page_ratio: 1.7}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]struct{ falsePages, ratio float64 }{"": {0.5, 1.5}, file: {2, 1.7}} {
		c, err := (&simulationFlags{configFile: config, worldFlags: worldFlags{seeds: 1, days: 30, workers: 1}}).campaign()
		if err != nil {
			t.Fatal(err)
		}
		if c.Policy.FalsePages != want.falsePages || c.Policy.PageRatio != want.ratio {
			t.Errorf("with the configuration %q: %+v", config, c.Policy)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"model":     {[]string{"--model=loud"}, `unknown model "loud"; choose one of`},
		"fault":     {[]string{"--fault=earthquake"}, "no fault has a name with"},
		"seeds":     {[]string{"--seeds=0"}, "must be positive"},
		"rule file": {[]string{"--rules.file=none.yml", "--seeds=1", "--days=3"}, "--rules.file=none.yml: open none.yml: no such file"},
	} {
		if _, err := alertquality(t, append([]string{"run"}, tt.args...)...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestTables sums up a small run in place of each campaign.
func TestTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := alertquality(t, "tables", dir); err == nil || !strings.Contains(err.Error(), "make alert-quality writes them") {
		t.Errorf("without scores: %v", err)
	}
	args := []string{"run", "--model=sparse", "--fault=outage", "--seeds=1", "--days=1", "--warm-up=0", "--conversations-per-minute=1", "--output.dir=" + dir + "/worlds"}
	if _, err := alertquality(t, args...); err != nil {
		t.Fatal(err)
	}
	if _, err := alertquality(t, "tables", dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## Bounds\n", "- **sparse**: "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("tables.md has no %q:\n%s", want, text)
		}
	}
}

// TestDetect prints a table, and JSON, of the detector alone.
func TestDetect(t *testing.T) {
	t.Parallel()
	args := []string{"detect", "--model=sparse", "--default-rate", "--fault=none", "--fleet=2", "--seeds=1", "--days=1", "--warm-up=0"}
	text, err := alertquality(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fleet of 2  2     ", "\nquiet       2     ", "fleet of 2 on healthy days: ", "\nCPU "} {
		if !strings.Contains(text, want) {
			t.Errorf("the table has no %q:\n%s", want, text)
		}
	}
	text, err = alertquality(t, append(args, "--json")...)
	if err != nil || !strings.Contains(text, `"false_tickets": `) {
		t.Errorf("%v: %s", err, text)
	}
}
