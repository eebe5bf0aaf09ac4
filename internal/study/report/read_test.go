package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func seed(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAnEmptyQueryIsUnknown(t *testing.T) {
	s, err := Read("testdata/000.txt")
	if err != nil {
		t.Fatal(err)
	}
	if s.Has(KVHitRatePct) || s.Has(OutputTokensPerSecond) || len(s.Notes) != 2 {
		t.Errorf("hit rate known: %v, throughput known: %v, notes %q", s.Has(KVHitRatePct), s.Has(OutputTokensPerSecond), s.Notes)
	}
	one, err := parseData([]byte(`{"levels": [{"concurrency": 1, "ttft_p50_ms": 2, "tops": 0}, {"concurrency": 2, "ttft_p50_ms": 2, "tops": 5}]}`))
	if err == nil && one.Series[0].Name != "The deployment" {
		t.Errorf("a report without a mode has the variant %q", one.Series[0].Name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := one.Series[0].Levels[0].Value(OutputTokensPerSecond); got != 0 {
		t.Errorf("a throughput of 0 beside others is %g, want it as it is", got)
	}
}

func TestReadRefuses(t *testing.T) {
	whole := seed(t, "004")
	for _, tt := range []struct{ name, data, want string }{
		{"empty", "  \n", "the file is empty"},
		{"half a report", whole[:strings.Index(whole, "kv_aware")+200], "the JSON block is not closed"},
		{"half a JSON", `{"levels": [{"concurrency": 40, "ttft_p50`, "was written only in part"},
		{"a run cut short", "{\n \"format\": 1,\n \"levels", "was written only in part"},
		{"prose", "# Notes\n\nNothing was measured.\n", "neither a run.json, nor a report's data"},
		{"no levels", `{"levels": []}`, `"levels" is empty`},
		{"a level without its value", `{"levels": [{"ttft_p50_ms": 3}]}`, `levels[0]: neither "concurrency" nor "rate"`},
		{"a level of 0", `{"levels": [{"concurrency": 0, "ttft_p50_ms": 3}]}`, "levels[0]: a level of 0"},
		{"a level beyond charts", `{"levels": [{"concurrency": 1e300, "ttft_p50_ms": 3}]}`, "a level of 1e+300: it must be between"},
		{"a figure beyond charts", `{"levels": [{"concurrency": 1, "ttft_p50_ms": 1e300}]}`, `"ttft_p50_ms" is 1e+300, which is too large for a measurement`},
		{"the data for other programs", `{"schema": 1, "levels": []}`, "give the run.json of the sweep"},
		{"an SLO of no timing", `{"slos": [{"name": "x", "timing": "y"}], "levels": [{"concurrency": 3, "ttft_p50_ms": 3}]}`, `"x" has the timing "y"`},
		{"other JSON", `{"levels": [{"concurrency": 3, "speed": 3}]}`, "no level has a known figure"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(tt.data), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Read(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("error %v, want %q at %s", err, tt.want, path)
			}
		})
	}
}
