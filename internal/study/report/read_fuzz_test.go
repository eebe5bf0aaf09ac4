package report

import "testing"

// FuzzReference: no data of a report causes a panic, and accepted data has a series.
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
