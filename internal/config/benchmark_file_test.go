package config

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runfile"
)

func open(t *testing.T, path string) *benchmarkFile {
	t.Helper()
	f, err := openBenchmarkFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// write creates a file in a new directory.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func near(t *testing.T, what string, got time.Duration, want float64) {
	t.Helper()
	if math.Abs(got.Seconds()/want-1) > 0.08 {
		t.Errorf("%s is %v, want about %v s", what, got, want)
	}
}

func TestRun(t *testing.T) {
	f := open(t, fixture)
	if f.Name != "testdata" || f.Kind != runfile.Concurrency || !slices.Equal(f.Variants, []string{"round_robin", "kv_aware"}) || len(f.Workload) != 5 {
		t.Errorf("read %+v", f)
	}
	if got := f.levels("kv_aware"); !slices.Equal(got, []float64{5, 10, 20, 40, 60}) {
		t.Errorf("levels %v", got)
	}
	if got := f.levels("no such"); got != nil {
		t.Errorf("levels of an unknown variant: %v", got)
	}
	l, err := f.at("kv_aware", 20)
	if err != nil {
		t.Fatal(err)
	}
	if l.Pooled {
		t.Error("a run tells first turns from follow-up turns")
	}
	for k, kind := range probe.TurnKinds() {
		b := l.Figures[k]
		near(t, string(kind)+" TTFT", b[0].Typical.V, ttftAt(kind, 20))
		near(t, string(kind)+" TTFT p50", b[0].Quantiles[0].V, ttftAt(kind, 20))
		near(t, string(kind)+" TPOT", b[1].Typical.V, 0.02)
		if want := []int{100, 300}[k]; b[0].Samples.V != want || b[1].Samples.V != want {
			t.Errorf("%s turns: samples %d and %d, want %d", kind, b[0].Samples.V, b[1].Samples.V, want)
		}
		if b[0].Quantiles[1].V <= b[0].Quantiles[0].V || b[0].Quantiles[2].OK {
			t.Errorf("%s TTFT quantiles %v: want a p95 above the p50, and no p99 of so few turns", kind, b[0].Quantiles)
		}
	}
}

func TestUnfitLevels(t *testing.T) {
	f := open(t, fixture)
	for level, want := range map[float64]string{
		5:  "only 9 turns of a kind, and it takes 30",
		40: "% of its turns failed, so that its latencies are those of the survivors",
		60: "the sweep gave it up before its end",
		7:  "nothing was measured at 7",
	} {
		if _, err := f.at("kv_aware", level); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("level %g: %v, want %q", level, err, want)
		}
	}
}

// TestReport checks that the JSON of a report has the same figures as its run.
func TestReport(t *testing.T) {
	data, err := report.JSON(figures.FromRuns([]*runfile.Run{smallRun()}))
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, write(t, "report.json", string(data)))
	l, err := f.at("kv_aware", 20)
	if err != nil {
		t.Fatal(err)
	}
	run, err := open(t, fixture).at("kv_aware", 20)
	if err != nil {
		t.Fatal(err)
	}
	for k := range probe.TurnKinds() {
		for i := range sink.Signals() {
			got, want := l.Figures[k][i], run.Figures[k][i]
			if got.Samples != want.Samples || got.Typical.V.Round(time.Millisecond) != want.Typical.V.Round(time.Millisecond) {
				t.Errorf("the report says %+v, the run %+v", got, want)
			}
		}
	}
	if _, err := f.at("kv_aware", 40); err == nil {
		t.Error("a level of survivors was taken from a report")
	}
	if _, err := f.at("kv_aware", 60); err == nil || !strings.Contains(err.Error(), "gave it up") {
		t.Errorf("a level that was given up, from a report: %v", err)
	}
}

// TestPooled checks that a report without separate kinds of turn has quantiles, but no typical value.
func TestPooled(t *testing.T) {
	f := open(t, write(t, "old.json", `{"mode": "kv", "levels": [{"concurrency": 50, "ttft_p50_ms": 250, "ttft_p99_ms": 900, "tpot_p50_ms": 21, "error_pct": 0, "completed": 640}]}`))
	l, err := f.at("kv", 50)
	if err != nil {
		t.Fatal(err)
	}
	want := sink.SignalFigures{Samples: probe.Some(640), Quantiles: [3]probe.Opt[time.Duration]{0: probe.Some(250 * time.Millisecond), 2: probe.Some(900 * time.Millisecond)}}
	if !l.Pooled || l.Figures[0][0] != want || l.Figures[1][0] != want || l.Figures[0][1].Quantiles[0].V != 21*time.Millisecond {
		t.Errorf("read %+v", l)
	}
	if f.Name != "old" {
		t.Errorf("it is called %q", f.Name)
	}
}

func TestBrokenFiles(t *testing.T) {
	whole, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"empty":        {"", "the file is empty"},
		"half-written": {string(whole[:len(whole)/2]), "the file ends in the middle of a value"},
		"no run":       {`{"a": 1}`, `"format" is missing`},
		"no level":     {`{"levels": []}`, `"levels" is empty`},
		"no figure":    {`{"levels": [{"concurrency": 5, "mode": "x"}]}`, "no level has a known figure"},
		"newer":        {`{"format": 99}`, "use a newer synthetic"},
	} {
		path := write(t, "run.json", tt.text)
		if _, err := openBenchmarkFile(path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v, want the file's name and %q", name, err, tt.want)
		}
	}
	if _, err := openBenchmarkFile(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a file that does not exist was read")
	}
}

// TestQuantilesAgree checks that benchmarks and reports have the same quantiles.
func TestQuantilesAgree(t *testing.T) {
	if !slices.Equal(sink.Quantiles(), figures.Quantiles()) {
		t.Errorf("benchmarks have the quantiles %v, reports %v", sink.Quantiles(), figures.Quantiles())
	}
}
