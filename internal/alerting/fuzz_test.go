package alerting

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// FuzzStates: every state file that can be read can be restored and saved, and the saved file can be
// read again.
func FuzzStates(f *testing.F) {
	f.Add([]byte(`{"version":1,"saved_at":"2026-01-05T00:00:00Z","alerts":[{"labels":{"alertname":"A"},"starts_at":"2026-01-05T00:00:00Z"}]}`))
	f.Add([]byte(`{"version":1,"saved_at":"0000-01-01T00:00:00Z","clock":"9999-12-31T23:59:59Z","alerts":[null,{"labels":null}]}`))
	f.Add([]byte(`{"version":1,"saved_at":"9999-12-31T23:59:59Z","alerts":[{"starts_at":"9999-12-31T23:59:59Z","ends_at":"9999-12-31T23:59:59Z"}]}`))
	dir := f.TempDir()
	wall := time.Date(2026, 1, 5, 0, 10, 0, 0, time.UTC)
	timing := func(string) (alertTiming, bool) { return alertTiming{}, true }
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, stateFileName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		saved, err := readStates(dir)
		if err != nil {
			return
		}
		clock := newClock(func() time.Time { return wall }, saved)
		s := newAlertStates(clock, labels.EmptyLabels(), nil, nil)
		s.restore(saved, timing)
		text, err := json.Marshal(s.snapshot())
		if err != nil {
			t.Fatalf("restored, but not saved again: %v", err)
		}
		var again savedStates
		if err := json.Unmarshal(text, &again); err != nil || len(again.Alerts) > len(saved.Alerts) {
			t.Errorf("%d alerts, saved as %s: %v", len(saved.Alerts), text, err)
		}
	})
}
