package figures

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/study/runfile"
)

func holds(t *testing.T, l Level, want map[Metric]float64) {
	t.Helper()
	for m, v := range want {
		if got := l.Value(m); math.Abs(got-v) > 1e-9*v {
			t.Errorf("level %g: %s is %g, want %g", l.At, m, got, v)
		}
	}
}

// TestAIPerf reads AIPerf runs: one file, and several as levels of one study.
func TestAIPerf(t *testing.T) {
	want := map[Metric]float64{
		TTFTP50: 200, TTFTP99: 600, "ttft_mean_ms": 220, "ttft_sd_ms": 80, "ttft_max_ms": 800, TPOTP95: 40, LatencyP50: 4000,
		TurnsPerSecond: 2.5, OutputTokensPerSecond: 400, TokensPerUser: 50, Completed: 300, Failed: 1, ErrorPct: 100. / 301,
	}
	one, err := Read("testdata/peers/c10/" + aiperfFile)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, one.Series[0].Levels[0], want)
	both, err := Read("testdata/peers")
	if err != nil {
		t.Fatal(err)
	}
	levels := both.Series[0].Levels
	if len(levels) != 2 || levels[0].At != 10 || levels[1].At != 50 || both.Kind != runfile.Concurrency || both.Generated.Year() != 2026 {
		t.Fatalf("levels %v of %s, made %s", both.Levels(), both.Kind, both.Generated)
	}
	holds(t, levels[0], want)
	holds(t, levels[1], map[Metric]float64{TTFTP50: 400, TurnsPerSecond: 12.5})
	if f := levels[0].Figure(TTFTP99); f.N != 300 || levels[0].Has("ttft_p99.9_ms") {
		t.Errorf("TTFT p99 %+v; p99.9, which AIPerf does not tell, %+v", f, levels[0].Figure("ttft_p99.9_ms"))
	}
}

// TestGuideLLM reads benchmarks, and names those without a level or with another kind of level.
func TestGuideLLM(t *testing.T) {
	s, err := Read("testdata/peers/guidellm.json")
	if err != nil {
		t.Fatal(err)
	}
	levels := s.Series[0].Levels
	if len(levels) != 3 || levels[0].At != 1 || levels[2].At != 50 || s.Kind != runfile.Concurrency {
		t.Fatalf("levels %v of %s", s.Levels(), s.Kind)
	}
	holds(t, levels[1], map[Metric]float64{
		TTFTP50: 200, "ttft_p99.9_ms": 760, TPOTP50: 20, "ntpot_p95_ms": 50, LatencyP50: 4000, TurnsPerSecond: 2.5, OutputTokensPerSecond: 400, Completed: 150, Failed: 3,
	})
	if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, `strategy "throughput" has no level`) || !strings.Contains(notes, "a rate of 3, unlike the other levels (concurrency)") {
		t.Errorf("notes:\n%s", notes)
	}
}

// TestBadPeers: errors describe what is wrong with other tools' results.
func TestBadPeers(t *testing.T) {
	for text, want := range map[string]string{
		`{"input_config":{},"request_latency":{"avg":1}}`:                                         "so the level is unknown",
		`{"input_config":{"loadgen":{"concurrency":4}},"request_latency":{"avg":"fast"}}`:         "reading AIPerf's results",
		`{"input_config":{"loadgen":{"concurrency":-4}},"request_latency":{"avg":1}}`:             "a level of -4",
		`{"input_config":{"loadgen":{"concurrency":4}},"request_latency":{"avg":1e300}}`:          "which is too large for a measurement",
		`{"input_config":{"phases":[{"kind":"profiling","rate":0}]},"request_latency":{"avg":1}}`: "a level of 0",
		`{"benchmarks":{}}`: "reading GuideLLM's results",
		`{"benchmarks":[]}`: "no level has a known figure",
		`{"benchmarks":[{"config":{"strategy":{"streams":0}}}]}`: "a level of 0",
	} {
		path := filepath.Join(t.TempDir(), "results.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "run.json") {
		t.Errorf("an empty directory: %v", err)
	}
}
