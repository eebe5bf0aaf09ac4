package alerting

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// TestTakenOver: if an alert ends while another alert about the same subject fires, the incident
// continues.
func TestTakenOver(t *testing.T) {
	const down, slow, late = "Down", "Slow", "Late"
	of := func(name, severity string, more ...string) labels.Labels {
		return labels.FromStrings(append([]string{"alertname", name, "severity", severity}, more...)...)
	}
	job := []string{"target", "t", "workload", "w"}
	for name, tt := range map[string]struct {
		over, other labels.Labels
		want        string
	}{
		"alone":                    {of(down, "page", job...), labels.EmptyLabels(), ""},
		"a page by a page":         {of(down, "page", job...), of(slow, "page", job...), slow},
		"a page by a ticket":       {of(down, "page", job...), of(late, "ticket", job...), ""},
		"a ticket by a ticket":     {of(slow, "ticket", job...), of(late, "ticket", job...), late},
		"an objective by another":  {of(slow, "page", append(job, "slo", "ttft")...), of(slow, "page", append(job, "slo", "up")...), "Slow up"},
		"of another workload":      {of(down, "page", job...), of(slow, "page", "target", "t", "workload", "v"), ""},
		"by one that many share":   {of(down, "page", job...), of("Fleet", "page", "scope", "fleet"), "Fleet"},
		"of the prober by another": {of(down, "page", "instance", "a"), of(slow, "page", "instance", "a"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			var last Transition
			s := &alertStates{
				clock: &clock{wall: func() time.Time { return now }, base: now, start: now}, onChange: func(c Transition) { last = c }, byID: map[uint64]*alertState{},
			}
			alert := func(ls labels.Labels, over time.Time) {
				if ls.Len() > 0 {
					s.notify(t.Context(), "", &rules.Alert{Labels: ls, FiredAt: now, ValidUntil: now.Add(time.Hour), ResolvedAt: over})
				}
			}
			alert(tt.over, time.Time{})
			alert(tt.other, time.Time{})
			alert(tt.over, now.Add(time.Minute))
			if last.Firing || last.GoesOnAs != tt.want {
				t.Errorf("the transition says firing %v, continued by %q, want %q", last.Firing, last.GoesOnAs, tt.want)
			}
		})
	}
}
