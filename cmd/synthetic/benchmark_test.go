package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchmarked writes a configuration with baseline_file, a run in the directory nightly
// beside it. It returns the paths of both.
func benchmarked(t *testing.T, url string) (configFile, runFile string) {
	t.Helper()
	dir := t.TempDir()
	configFile, runFile = filepath.Join(dir, "synthetic.yml"), filepath.Join(dir, "nightly", "run.json")
	if err := os.Mkdir(filepath.Dir(runFile), 0o755); err != nil {
		t.Fatal(err)
	}
	overwrite(t, runFile, wholeRun(t))
	overwrite(t, configFile, []byte(comparedAt(url, 20)))
	return configFile, runFile
}

func wholeRun(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../internal/config/testdata/run.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func comparedAt(url string, level int) string {
	return fmt.Sprintf(`
targets: [{name: a, base_url: "%s"}]
workloads: [{think_time: {min: 0s, max: 5ms}}]
traffic:
  - arrival: {process: poisson, rate: 20}
    baseline_file: nightly/run.json
    baseline_variant: kv_aware
    baseline_level: %d
changes: [{start: 2020-01-01T00:00:00Z, end: 2020-01-02T00:00:00Z}]
`, url, level)
}

func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRunIsComparedWithABenchmark(t *testing.T) {
	_, server := fastDeployment(t)
	configFile, runFile := benchmarked(t, server.URL)
	p := sidecarRun(t, configFile, "--web.enable-lifecycle")
	series := p.until("turns of both kinds", func(s map[string]float64) bool {
		n, _ := sum(s, "synthetic_turns_total", `turn="followup"`)
		return n > 5
	})
	// In the run, first turns take about 0.4 s at 20 in flight and 0.3 s at 10.
	first := []string{`turn="first"`, `signal="ttft"`}
	expects := func(s map[string]float64, level string, seconds float64) {
		t.Helper()
		typical, _ := sum(s, "synthetic_expected_seconds", append(first, `statistic="geomean"`)...)
		if typical < 0.9*seconds || typical > 1.1*seconds {
			t.Errorf("expected TTFT %v s, want about %v", typical, seconds)
		}
		if baseline, _ := sum(s, "synthetic_baseline_seconds", first...); baseline < 0.999*typical || baseline > 1.001*typical {
			t.Errorf("the baseline is %v s, want the benchmark's %v", baseline, typical)
		}
		if n, _ := sum(s, "synthetic_expected_turns", first...); n != 100 {
			t.Errorf("the baseline has %v turns, want 100", n)
		}
		if _, found := sum(s, "synthetic_expected_info", `run="nightly"`, `variant="kv_aware"`, `level="`+level+`"`, `turns="by_kind"`); !found {
			t.Errorf("no info of level %s", level)
		}
	}
	expects(series, "20", 0.4)
	if log := p.err.String(); strings.Contains(log, "does not say everything") {
		t.Errorf("a warning about a benchmark with both kinds of turns: %s", log)
	}
	if _, page := p.get("/"); !strings.Contains(page, "expected: kv_aware of nightly at concurrency 20") || !strings.Contains(page, "… expected") {
		t.Error("the status page does not show the expected values")
	}

	overwrite(t, runFile, wholeRun(t)[:5000])
	if code, body := p.do(http.MethodPost, "/-/reload"); code != http.StatusInternalServerError || !strings.Contains(body, "the file ends in the middle of a value") {
		t.Errorf("reload with a truncated run: %d %s", code, body)
	}
	expects(p.series(), "20", 0.4)

	overwrite(t, runFile, wholeRun(t))
	overwrite(t, configFile, []byte(comparedAt(server.URL, 10)))
	if code, body := p.do(http.MethodPost, "/-/reload"); code != http.StatusOK {
		t.Fatalf("reloading: %d %s", code, body)
	}
	expects(p.until("info of level 10", func(s map[string]float64) bool {
		_, found := sum(s, "synthetic_expected_info", `level="10"`)
		return found
	}), "10", 0.3)
}

// TestBenchmarkIsChecked: with an invalid baseline_file, run does not start and check
// config prints the same error.
func TestBenchmarkIsChecked(t *testing.T) {
	configFile, runFile := benchmarked(t, "http://127.0.0.1:1")
	var out, log bytes.Buffer
	if code := run(context.Background(), []string{"check", configFile}, &out, &log); code != 0 || !strings.Contains(out.String(), "workload chat to target a compared with kv_aware of nightly at concurrency 20, 1 change window, time zone UTC)") {
		t.Errorf("checking: %d %s%s", code, out.String(), log.String())
	}
	overwrite(t, runFile, []byte(`{"levels": [{"concurrency": 20, "kv_aware": {"ttft_p50_ms": 250}}]}`))
	out.Reset()
	if code := run(context.Background(), []string{"check", configFile}, &out, &log); code != 0 || !strings.Contains(out.String(), "note: workload chat to target a: the usual level of first turns is learned and not that of kv_aware of nightly at concurrency 20, since the file does not tell") {
		t.Errorf("checking a pooled report: %d %s%s", code, out.String(), log.String())
	}
	overwrite(t, runFile, nil)
	for _, args := range [][]string{{"check", configFile}, {"run", "--config.file=" + configFile, "--web.listen-address=127.0.0.1:0"}} {
		out.Reset()
		log.Reset()
		code := run(context.Background(), args, &out, &log)
		if code != 2 || !strings.Contains(log.String(), configFile+":6:20: traffic[0].baseline_file: \"nightly/run.json\" cannot be a baseline (the file is empty") {
			t.Errorf("%s: exit code %d, said\n%s", args[0], code, log.String())
		}
	}
}
