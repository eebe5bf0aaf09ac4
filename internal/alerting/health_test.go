package alerting

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHealth reads the health of a running pager: one alert fires, one is pending, and one rule
// cannot be evaluated.
func TestHealth(t *testing.T) {
	const rules = `
groups:
  - name: well
    rules:
      - {alert: Fires, expr: 'test_up{target="fires"} > 0'}
      - {alert: Waits, expr: 'test_up{target="waits"} > 0', for: 1h}
  - name: ill
    rules:
      - {record: broken, expr: test_up * on (job) test_up}
`
	synctest.Test(t, func(t *testing.T) {
		g, box := newGauge(t), &inbox{}
		g.up.WithLabelValues("fires").Set(1)
		g.up.WithLabelValues("waits").Set(1)
		lives(t, "", rules, g, box, 10*time.Minute, func(p *Pager) {
			h := p.Health()
			// Three rules every 15 s, one of which fails; groups begin within the
			// first interval.
			if h.Evaluations < 3*38 || h.Evaluations > 3*41 || h.Failures*3 != h.Evaluations || h.Missed != 0 {
				t.Errorf("%d evaluations, %d failures, %d missed", h.Evaluations, h.Failures, h.Missed)
			}
			if h.Firing != 1 || h.Pending != 1 || h.Series != 2 || h.Refused != 0 {
				t.Errorf("%d alerts fire, %d wait, %d series, %d samples refused", h.Firing, h.Pending, h.Series, h.Refused)
			}
			if ago := time.Since(h.Oldest); ago < 0 || ago > 15*time.Second {
				t.Errorf("evaluated %v ago, want within an interval", ago)
			}
			if am := h.Alertmanagers; len(am) != 1 || am[0].URL != address || am[0].Sent < 9 || am[0].Undelivered != 0 || am[0].LastOK.IsZero() {
				t.Errorf("Alertmanagers: %+v", am)
			}
		})
	})
}

func TestMissed(t *testing.T) {
	for passed, want := range map[time.Duration]uint64{
		0: 0, 14 * time.Second: 0, 15 * time.Second: 0, 22 * time.Second: 0, 30 * time.Second: 1, 61 * time.Second: 3,
	} {
		if got := missed(passed, 15*time.Second); got != want {
			t.Errorf("%v after the last evaluation, %d were missed, want %d", passed, got, want)
		}
	}
}
