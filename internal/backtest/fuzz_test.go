package backtest

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzReadIncidents: accepted incidents have a length, and can be written and read again.
func FuzzReadIncidents(f *testing.F) {
	f.Add("# what was wrong\nouter, 2026-01-05T00:00:00Z, 2026-01-05T01:00:00Z\n")
	f.Add("a,0000-01-01T00:00:00Z,9999-12-31T23:59:59Z\n\"b\nc\",2026-01-05T00:00:00+23:59,2026-01-05T00:00:00.000000001+23:59\n")
	f.Add("a,2026-11-08 14:02,1794146520\nb,2026-11-08T14:02+01:00,2026-11-08 15:02 UTC\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadIncidents(strings.NewReader(text), nil)
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
		back, err := ReadIncidents(strings.NewReader(again.String()), nil)
		same := func(a, b Incident) bool {
			return a.From.Equal(b.From) && a.To.Equal(b.To) && a.Within == b.Within && a.Target == b.Target
		}
		// The CSV reader drops leading spaces and comments, so such names do not survive.
		plain := !slices.ContainsFunc(all, func(i Incident) bool {
			return strings.ContainsAny(i.Name+i.Target, "#\r\n \t\u0085\u00a0") || i.Name == ""
		})
		if plain && (err != nil || !slices.EqualFunc(all, back, same)) {
			t.Errorf("read as %v, and again as %v: %v", all, back, err)
		}
	})
}
