package figures

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/study/runfile"
)

func seed(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// split separates the JSON of a report from its other text.
func split(t *testing.T, text string) (data, rest string) {
	t.Helper()
	before, after, ok := strings.Cut(text, "```json\n")
	if !ok {
		t.Fatal("no JSON block")
	}
	data, after, _ = strings.Cut(after, "```")
	return data, before + after
}

// This test reads the JSON and the tables of each report separately, and finds every printed
// number in the JSON, rounded as in the table.
func TestTheJSONGivesEveryNumberOfTheTables(t *testing.T) {
	for _, tt := range []struct {
		name        string
		found, lost int // number of cells, and of those that the JSON lacks
	}{
		{"000", 12 * 8, 0},
		{"002", 3 * 9, 0},
		{"004", 9 * 2 * 8, 9 * 2}, // the table of errors has no data
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, text := split(t, seed(t, tt.name))
			exact, err := parseData([]byte(data))
			if err != nil {
				t.Fatal(err)
			}
			// The JSON has the full names of series, the tables abbreviations.
			printed := &Study{Series: []Series{}}
			for _, s := range exact.Series {
				printed.Series = append(printed.Series, Series{Name: s.Name})
			}
			printed.addTables(scanMarkdown(text))
			found, lost := 0, 0
			for i, series := range printed.Series {
				if series.Name != exact.Series[i].Name {
					t.Fatalf("the tables have the series %q, the JSON %q", series.Name, exact.Series[i].Name)
				}
				for _, l := range series.Levels {
					known, ok := exact.Series[i].Level(l.At)
					if !ok {
						t.Fatalf("the JSON lacks level %g", l.At)
					}
					for m, f := range l.Figures {
						have := known.Figure(m)
						if !have.Known() {
							lost++
							continue
						}
						found++
						if rounded := math.RoundToEven(have.Value/f.Step) * f.Step; math.Abs(rounded-f.Value) > 1e-6*max(f.Value, 1) {
							t.Errorf("%s at %g: %s is printed as %g, the JSON has %g", series.Name, l.At, m, f.Value, have.Value)
						}
					}
				}
			}
			if found != tt.found || lost != tt.lost {
				t.Errorf("%d cells found in the JSON and %d not, want %d and %d", found, lost, tt.found, tt.lost)
			}
		})
	}
}

func TestReadSeeds(t *testing.T) {
	for _, tt := range []struct {
		name, series string
		kind         runfile.LevelKind
		levels       int
		// level and value
		at, value float64
		metric    Metric
	}{
		{"000", "round_robin", runfile.Concurrency, 12, 90, 16.260163, ErrorPct},
		{"001", "round_robin", runfile.Concurrency, 8, 90, 59300, LatencyP50},
		{"002", "kv", runfile.Concurrency, 3, 200, 4438.375362, OutputTokensPerSecond},
		{"003", "phase0 phase3-eagle3-chat", runfile.Rate, 8, 2, 953, TTFTP99},
		{"004", "round_robin kv_aware", runfile.Concurrency, 9, 80, 82.2, KVHitRatePct},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read(filepath.Join("testdata", tt.name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, series := range s.Series {
				names = append(names, series.Name)
				if len(series.Levels) != tt.levels {
					t.Errorf("%s has %d levels, want %d", series.Name, len(series.Levels), tt.levels)
				}
			}
			if got := strings.Join(names, " "); got != tt.series || s.Kind != tt.kind {
				t.Fatalf("series %q by %s, want %q by %s", got, s.Kind, tt.series, tt.kind)
			}
			l, _ := s.Series[0].Level(tt.at)
			if got := l.Value(tt.metric); got != tt.value {
				t.Errorf("%s at %g = %g, want %g", tt.metric, tt.at, got, tt.value)
			}
			if s.Title == "" || s.Generated.IsZero() || len(s.Method) == 0 {
				t.Errorf("title %q, generated %v, %d lines of method", s.Title, s.Generated, len(s.Method))
			}
		})
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if got := one.Series[0].Levels[0].Value(OutputTokensPerSecond); got != 0 {
		t.Errorf("a throughput of 0 beside others is %g, want it as it is", got)
	}
}

func TestValidRuns(t *testing.T) {
	s, err := Read("testdata/001.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[float64][2]int{80: {3, 3}, 90: {2, 3}, 120: {1, 3}}
	for at, runs := range want {
		l, _ := s.Series[0].Level(at)
		if l.Valid != runs[0] || l.Runs != runs[1] {
			t.Errorf("level %g: %d/%d valid, want %d/%d", at, l.Valid, l.Runs, runs[0], runs[1])
		}
	}
}

// TestOldReasons: reports of earlier versions have other words, and do not say that a level is too close to its limit.
func TestOldReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	data := `{"schema": 1, "title": "old", "level_kind": "concurrency", "slos": [], "variants": ["chat"], "levels": [{"concurrency": 4, "chat": {"ttft_p50_ms": 3,
		"verdict": {"standing": "undecided", "met": true, "slos": [{"name": "ttft", "standing": "undecided", "why": "WHY"}]}}}]}`
	for why, want := range map[string]runfile.SLOVerdict{
		"needs about 580 turns and has 94": {Why: "94 turns measured, about 580 needed in all"},
		"is too close to its limit":        {Why: runfile.TooCloseToDecide, TooClose: true},
		runfile.TooCloseToDecide:           {Why: runfile.TooCloseToDecide, TooClose: true},
	} {
		if err := os.WriteFile(path, []byte(strings.Replace(data, "WHY", why, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		v := s.Series[0].Levels[0].Verdict
		if got := v.SLOs[0]; got.Why != want.Why || v.TooClose() != want.TooClose {
			t.Errorf("%s: %+v, want %+v", why, got, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	whole := seed(t, "004")
	for _, tt := range []struct{ name, data, want string }{
		{"empty", "  \n", "the file is empty"},
		{"half a report", whole[:strings.Index(whole, "kv_aware")+200], "the JSON block is not closed"},
		{"half a JSON", `{"levels": [{"concurrency": 40, "ttft_p50`, "was written only in part"},
		{"a run cut short", "{\n \"format\": 1,\n \"levels", "was written only in part"},
		{"prose", "# Notes\n\nNothing was measured.\n", "no level has a known figure"},
		{"no levels", `{"levels": []}`, `"levels" is empty`},
		{"a level without its value", `{"levels": [{"ttft_p50_ms": 3}]}`, `levels[0]: neither "concurrency" nor "rate"`},
		{"a level of 0", `{"levels": [{"concurrency": 0, "ttft_p50_ms": 3}]}`, "levels[0]: a level of 0"},
		{"a level beyond charts", `{"levels": [{"concurrency": 1e300, "ttft_p50_ms": 3}]}`, "a level of 1e+300: it must be between"},
		{"a figure beyond charts", `{"levels": [{"concurrency": 1, "ttft_p50_ms": 1e300}]}`, `"ttft_p50_ms" is 1e+300, which is too large for a measurement`},
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
