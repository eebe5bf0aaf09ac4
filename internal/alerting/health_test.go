package alerting

import (
	"strings"
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
			if h.Evaluations < 3*38 || h.Evaluations > 3*41 || h.Failures*3 != h.Evaluations {
				t.Errorf("%d evaluations, %d failures", h.Evaluations, h.Failures)
			}
			if ago := time.Since(h.Evaluated); ago < 0 || ago > 15*time.Second {
				t.Errorf("evaluated %v ago, want within an interval", ago)
			}
			if am := h.Alertmanagers; len(am) != 1 || am[0].URL != address || am[0].Undelivered != 0 || am[0].LastOK.IsZero() {
				t.Errorf("Alertmanagers: %+v", am)
			}
		})
	})
}

// TestStalled: a pager whose first evaluation hangs is stalled, and evaluated nothing.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		p := selfGathering(t, func() bool { <-hang; return true })
		time.Sleep(2 * stalledAfter)
		if h := p.Health(); h.Stalled != nil {
			t.Errorf("before Run: %v", h.Stalled)
		}
		stop := running(t, p)
		time.Sleep(stalledAfter - time.Second)
		if h := p.Health(); h.Stalled != nil {
			t.Errorf("too early: %v", h.Stalled)
		}
		time.Sleep(2 * time.Second)
		if h := p.Health(); h.Stalled == nil || !strings.Contains(h.Stalled.Error(), "no rules were evaluated for 5m1s") || !h.Evaluated.IsZero() {
			t.Errorf("the health is %+v", h)
		}
		close(hang)
		time.Sleep(time.Second)
		if h := p.Health(); h.Stalled != nil || h.Evaluated.IsZero() {
			t.Errorf("after an evaluation: %+v", h)
		}
		stop()
	})
}
