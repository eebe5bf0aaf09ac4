package backtest

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/config/yamlform"
)

// FuzzReadIncidents holds that what is accepted lasts, and reads the same when it
// is written down.
func FuzzReadIncidents(f *testing.F) {
	f.Add("# what was wrong\nouter, 2026-01-05T00:00:00Z, 2026-01-05T01:00:00Z\n")
	f.Add("a,0000-01-01T00:00:00Z,9999-12-31T23:59:59Z\n\"b\nc\",2026-01-05T00:00:00+23:59,2026-01-05T00:00:00.000000001+23:59\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadIncidents(strings.NewReader(text))
		if err != nil {
			if all != nil || !strings.Contains(err.Error(), "incident") {
				t.Errorf("%d incidents and the error %q", len(all), err)
			}
			return
		}
		var again strings.Builder
		w := csv.NewWriter(&again)
		for _, i := range all {
			if !i.To.After(i.From) || i.Within <= 0 {
				t.Errorf("%q lasts from %s to %s, is to be found within %s", i.Name, i.From, i.To, i.Within)
			}
			_ = w.Write([]string{i.Name, i.From.Format(time.RFC3339Nano), i.To.Format(time.RFC3339Nano), i.Target})
		}
		w.Flush()
		back, err := ReadIncidents(strings.NewReader(again.String()))
		same := func(a, b Incident) bool {
			return a.From.Equal(b.From) && a.To.Equal(b.To) && a.Within == b.Within && a.Target == b.Target
		}
		// A name that begins like a comment or with a space is not one when written.
		plain := !slices.ContainsFunc(all, func(i Incident) bool {
			return strings.ContainsAny(i.Name+i.Target, "#\r\n \t\u0085\u00a0") || i.Name == ""
		})
		if plain && (err != nil || !slices.EqualFunc(all, back, same)) {
			t.Errorf("read as %v, and again as %v: %v", all, back, err)
		}
	})
}

// FuzzLoadScenario holds that a scenario that is accepted has something in it,
// and that one that is refused has a place and a reason in one line.
func FuzzLoadScenario(f *testing.F) {
	example, err := os.ReadFile("../../examples/backtest/scenario.yml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte("models: [{name: a, like: typical, outlier_max: 1e308, output_tokens: 9223372036854775807, tpot: 106751d}]\n"))
	f.Add([]byte("faults: [{name: a, kind: slow, size: 1e308, ramp: 290y, within: 290y, length: 290y, at: [290y, 0s]}]\n"))
	path := filepath.Join(f.TempDir(), "scenario.yml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := LoadScenario(path)
		if err == nil {
			if len(s.Models)+len(s.Faults) == 0 {
				t.Error("accepted with neither models nor faults")
			}
			return
		}
		problems, ok := err.(yamlform.Errors)
		if !ok || len(problems) == 0 {
			t.Fatalf("got %T", err)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Message == "" || strings.ContainsAny(p.Error(), "\n\r") {
				t.Errorf("incomplete: %+v", p)
			}
		}
	})
}
