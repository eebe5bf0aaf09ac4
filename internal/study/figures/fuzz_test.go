package figures

import (
	"os"
	"testing"
)

// FuzzMarkdown: no text causes a panic, and every accepted text has a level with a figure.
func FuzzMarkdown(f *testing.F) {
	for _, name := range []string{"000", "001", "003", "004"} {
		data, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("| Metric | Target |\n|--|--|\n| TTFT p99 |\n\n## SLO\n| Metric | Target |\n|--|--|\n| TTFT p99 |")
	f.Add("| Concurrency | TPOT p50 | Valid Runs |\n|-|-|-|\n| 50 | 44ms | 3/3\n| 60 |\n")
	f.Add("| Parameter |\n|--|\n| Model |")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseMarkdown(text)
		if err != nil {
			return
		}
		for _, series := range s.Series {
			for i, l := range series.Levels {
				if !(l.At > 0) || i > 0 && l.At <= series.Levels[i-1].At {
					t.Errorf("levels out of order: %v", series.Levels)
				}
			}
		}
	})
}

// FuzzReference does the same for JSON.
func FuzzReference(f *testing.F) {
	f.Add([]byte(`{"levels": [{"concurrency": 50, "ttft_p50_ms": 236.0, "tops": 0}]}`))
	f.Add([]byte(`{"levels": [{"rate": 0.5, "a": {"ttft_p50_ms": 2}, "b": {"tops": null}}], "variants": ["b", "a"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseData(data)
		if err == nil && len(s.Series) == 0 {
			t.Error("accepted a report without a series")
		}
	})
}
