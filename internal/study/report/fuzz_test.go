package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"synthetic/internal/study/runs"
)

// noNumber matches the formatted text of NaN, infinity and format errors.
var noNumber = regexp.MustCompile(`\b(NaN|[+-]?Inf)\b|%!`)

// FuzzRun: every run that can be read is equal after writing and reading it again. Its report
// in every format contains no NaN, has valid JSON and is bounded in size.
func FuzzRun(f *testing.F) {
	for _, text := range hostileRuns() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := runs.Parse(data)
		if err != nil {
			if run != nil || strings.TrimSpace(err.Error()) == "" {
				t.Errorf("run %v and error %q", run, err)
			}
			return
		}
		checkRun(t, run)
	})
}

func checkRun(t *testing.T, run *runs.Run) {
	t.Helper()
	text, err := runs.Encode(run)
	if err != nil {
		t.Fatalf("read, and not written: %v", err)
	}
	again, err := runs.Parse(text)
	if err != nil {
		t.Fatalf("written, and not read: %v", err)
	}
	if second, err := runs.Encode(again); err != nil || !bytes.Equal(text, second) {
		t.Errorf("written as\n%s\nand again as\n%s: %v", text, second, err)
	}
	if s := FromRun(run); len(s.Series) > 0 {
		checkReport(t, s, text)
	}
}

// checkReport writes every format of a study that was read from text.
func checkReport(t *testing.T, s *Study, text []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	files, err := Files(s)
	if err != nil {
		t.Fatalf("read, and not reported: %v", err)
	}
	conditions, err := ParseConditions("ttft_p99>1s,capacity<baseline*0.9")
	if err != nil {
		t.Fatal(err)
	}
	_, summary := CheckGate(s, conditions)
	files = append(files, File{Name: "gate.md", Data: []byte(summary)})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20+10_000*uint64(len(text)) {
		t.Errorf("%d bytes were allocated for a study of %d", took, len(text))
	}
	said := noNumber.Match(text) // the name of a series
	for _, file := range files {
		if found := noNumber.Find(file.Data); found != nil && !said {
			t.Errorf("%s says %q", file.Name, found)
		}
		if file.Name == "report.json" && !json.Valid(file.Data) {
			t.Errorf("report.json is no JSON")
		}
	}
}

// hostileRuns returns a small run, and runs that a sweep would not write.
func hostileRuns() map[string]string {
	const head, tail = `{"format":2,"level_kind":"rate","variants":["a","b"],"results":[`, `]}`
	result := func(variant, level, block string) string {
		return `{"variant":"` + variant + `","level":` + level + `,"repetition":1,"state":"complete","snapshots":[{"seconds":1,"blocks":[` + block + `]}]}`
	}
	values := `{"values":{"count":3,"sum":1e308,"min":0,"max":1e308,"bins":"0:3"}}`
	timing := `{"seconds":1e-300,"outcomes":{"success":3},"tokens":{"output":18446744073709551615},"turn_seconds":1e308,"first":{"ttft":` + values + `,"latency":` + values + `}}`
	return map[string]string{
		"a usual one": head + result("a", "1", `{"seconds":10,"turns_started":3,"outcomes":{"success":2,"http_429":1},"good":2,"slos":{"ttft":{"good":2,"bad":1}},"tokens":{"prompt":9,"output":9,"cached":3,"cached_of":9},`+
			`"first":{"ttft":{"values":{"count":2,"sum":0.5,"min":0.2,"max":0.3,"bins":"-80:1,20:1"},"failures":1}},"followup":{}}`) + tail,
		"levels far apart":   head + result("a", "5e-324", timing) + "," + result("a", "1e308", timing) + tail,
		"sums beyond floats": head + result("a", "1", timing+","+timing) + "," + result("b", "1", timing+","+timing) + tail,
		"server figures beyond floats": head + `{"variant":"a","level":1,"repetition":1,"state":"complete","snapshots":[` +
			`{"seconds":1,"server":[{"source":"s","figures":{"x":1.7e308,"kv_hit_ratio":-1e308}}]},{"seconds":1,"server":[{"source":"s","figures":{"x":1.7e308,"kv_hit_ratio":-1e308}}]}]}` + tail,
		"control characters in names": `{"format":2,"level_kind":"rate","variants":["a\u0001","b\u0085|"],"results":[` + result(`a\u0001`, "1", timing) + "," + result(`b\u0085|`, "1", timing) + tail,
		"many turns":                  head + result("a", "1", `{"seconds":1,"outcomes":{"success":18446744073709551615,"http_429":18446744073709551615}}`) + tail,
		"many repetitions": `{"format":2,"level_kind":"concurrency","variants":["a"],"repetitions":9223372036854775807,"snapshots":9223372036854775807,"measurement_seconds":1e308,"confidence":-1,` +
			`"slos":[{"name":"x","sli":"ttft","threshold_seconds":-1e308,"objective":7}],"results":[` + result("a", "1", timing) + tail,
		"a tail": head + `{"variant":"a","level":1,"repetition":1,"state":"complete","snapshots":[{"seconds":1}],"tail":{"seconds":0,"outcomes":{"no such":1}},"verdict":{"confidence":1e308}}` + tail,
	}
}

// FuzzForeign does the same for reports of other tools.
func FuzzForeign(f *testing.F) {
	for _, text := range []string{
		`{"levels": [{"concurrency": 50, "ttft_p50_ms": 236.0, "tops": 0, "tpot_p99_ms": 1e308}]}`,
		`{"levels": [{"rate": 0.5, "a\u0001": {"ttft_p50_ms": 2}, "b": {"tops": null}}, {"rate": 1e308, "a\u0001": {"ttft_p50_ms": 5e-324}}], "variants": ["b", "a\u0001"]}`,
		`{"levels": [{"rate": 5e-324, "ttft_p50_ms": 5e-324, "errors": {"x": 18446744073709551615}}, {"rate": 1, "ttft_p50_ms": -1e308}]}`,
		`{"levels": [{"rate": 0.5, "a": {"ttft_p50_ms": 2}, "b": {"tops": null}}, {"rate": 1e-08, "a": {"ttft_p50_ms": 5e-324}}], "variants": ["b", "a"]}`,
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "report.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(path)
		if err != nil || s.Run != nil {
			return
		}
		checkReport(t, s, data)
	})
}
