package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBacktest scores a day of one fault, and a rule file of one's own.
func TestBacktest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "own.yml")
	rule := "groups: [{name: g, rules: [{alert: Down, expr: synthetic_consecutive_failed_turns >= 3, labels: {severity: page}}]}]"
	if err := os.WriteFile(own, []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := newBuffer(), newBuffer()
	args := []string{"backtest", "--rules.file=mine=" + own, "--no-compare", "--model=quiet", "--fault=outage", "--seeds=1", "--days=1", "--warm-up=0", "--output.dir=" + dir}
	if code := run(t.Context(), args, out, errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
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
	for _, name := range []string{"scores.json", "time-to-page-quiet.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestBacktestOfAConfiguration: its SLOs judge the simulated deployment, and
// none of its targets is missed there.
func TestBacktestOfAConfiguration(t *testing.T) {
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
	out, errs := newBuffer(), newBuffer()
	args := []string{"backtest", "--config.file=" + file, "--no-compare", "--model=quiet", "--fault=outage", "--seeds=1", "--days=1", "--warm-up=0"}
	if code := run(t.Context(), args, out, errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{
		"| synthetic | 0.00 (0 in 1 days) | 100 % |",
		"| synthetic | SyntheticTargetDown | 0.00 | 100 %",
		"| synthetic | SyntheticTargetNoSamples | 0.00 | – |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables have no %q:\n%s", want, out)
		}
	}
}

// exampleScenario is the file that the docs show.
const exampleScenario = "../../examples/backtest/scenario.yml"

// TestBacktestOfAScenario: its models and faults are what is simulated, and the
// report says so.
func TestBacktestOfAScenario(t *testing.T) {
	t.Parallel()
	out, errs := newBuffer(), newBuffer()
	args := []string{"backtest", "--scenario.file=" + exampleScenario, "--fault=wedged", "--no-compare", "--seeds=1", "--days=1", "--warm-up=0"}
	if code := run(t.Context(), args, out, errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{
		"- evenings: 6 conversations a minute of 3 to 6 turns, σ 0.45 of single turns; otherwise like typical, but for first_ttft 300ms, ",
		"- wedged: lasts 15m0s, found if paged within 15m0s; hang\n",
		"### evenings\n",
		"| wedged | ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables have no %q:\n%s", want, out)
		}
	}
	for _, not := range []string{"quiet", "creep"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("the tables tell of %q, which was not simulated:\n%s", not, out)
		}
	}
}

// TestBacktestTooShort: a fault that no run has room for is not left out
// without a word.
func TestBacktestTooShort(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "scenario.yml")
	if err := os.WriteFile(file, []byte("faults: [{name: long, kind: hang, length: 1d}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := newBuffer(), newBuffer()
	code := run(t.Context(), []string{"backtest", "--scenario.file=" + file, "--days=1"}, out, errs)
	const want = "synthetic: --days=1: fault \"long\" needs runs of 32h0m0s and they last 24h0m0s; write more days, or leave the fault out with --fault\n"
	if code != exitUsage || errs.String() != want {
		t.Errorf("exit code %d, %s; want %q", code, errs, want)
	}
}

func TestBacktestMistakes(t *testing.T) {
	t.Parallel()
	const rules = "--rules.file=../../alerts/synthetic-rules.yml"
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"model":     {[]string{"--model=loud"}, `there is no noise model "loud": take one of`},
		"fleet":     {[]string{"--fleet=-1"}, "not negative"},
		"fault":     {[]string{"--fault=earthquake"}, "no fault has a name with"},
		"scenario":  {[]string{"--scenario.file=none.yml"}, "none.yml: cannot be read (no such file or directory): name a readable YAML file"},
		"recorded":  {[]string{rules, "--tsdb.path=a", "--scenario.file=" + exampleScenario}, "recorded series have the noise and the faults they have"},
		"own model": {[]string{"--scenario.file=" + exampleScenario, "--model=morning"}, `there is no noise model "morning"`},
		"own fault": {[]string{"--scenario.file=" + exampleScenario, "--fault=TTFT"}, "no fault has a name with"},
		"seeds":     {[]string{"--seeds=0"}, "must be positive"},
		"rule file": {[]string{"--rules.file=none.yml"}, "--rules.file=none.yml"},
		"no pages":  {[]string{rules, "--severity=critical"}, `no alert has the label severity at ["critical"], which are the pages; the alerts there are have it at ["page" "ticket"]`},
		"damaged":   {[]string{"--rules.file=backtest.go"}, "--rules.file=backtest.go: reading the rules"},
		"no rules":  {[]string{"--tsdb.path=a"}, "name the configuration of its prober with --config.file"},
		"two":       {[]string{rules, "--tsdb.path=a", "--prometheus.url=b"}, "replay one of them"},
		"from":      {[]string{rules, "--tsdb.path=a", "--from=monday"}, "write for example 2026-01-05T00:00:00Z"},
		"to":        {[]string{rules, "--tsdb.path=a", "--from=2026-01-05T00:00:00Z", "--to=2026-01-04T00:00:00Z"}, "must be after"},
		"incidents": {[]string{rules, "--tsdb.path=a", "--from=2026-01-05T00:00:00Z", "--to=2026-01-06T00:00:00Z", "--incidents=none.csv"}, "--incidents"},
	} {
		out, errs := newBuffer(), newBuffer()
		code := run(t.Context(), append([]string{"backtest"}, tt.args...), out, errs)
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: exit code %d, %s; want %q", name, code, errs, tt.want)
		}
	}
}
