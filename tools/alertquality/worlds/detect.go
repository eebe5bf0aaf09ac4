package worlds

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/watch"
	"synthetic/tools/alertquality/engine"
)

// keepFiring is how much longer than the detector the alert of a page fires: shorter gaps are one page.
const keepFiring = 4 * time.Minute

// detected plays a run into the detector alone, without rules, and returns when it paged and had tickets. It is forty times
// faster, and knows no alert of failures.
func detected(o SimulationOptions) []engine.Span {
	d := detection{now: Epoch(), key: o.Job().Key()}
	d.tracker = watch.NewTracker(watch.TrackerOptions{Now: func() time.Time { return d.now }})
	d.tracker.Add(o.Job())
	Play(o, &d, func(at time.Time) { d.now = at })
	d.take(Epoch().Add(o.Length), watch.Reading{})
	return d.spans
}

// detection follows the scores of a job from minute to minute.
type detection struct {
	tracker *watch.Tracker
	key     probe.Key
	now     time.Time
	minute  int64
	open    [2]*engine.Span // the page and the ticket
	spans   []engine.Span
}

// Observe implements probe.Sink.
func (d *detection) Observe(e probe.Event) {
	d.tracker.Observe(e)
	if minute := d.now.Unix() / 60; minute != d.minute {
		d.minute = minute
		reading, _ := d.tracker.Read(d.key)
		d.take(d.now, reading)
	}
}

func (d *detection) take(at time.Time, r watch.Reading) {
	var up [2]bool
	for _, v := range r.Signals {
		up[0], up[1] = up[0] || v.Page >= 1, up[1] || v.Ticket >= 1
	}
	for i, severity := range []string{"page", "ticket"} {
		switch span := d.open[i]; {
		case up[i] && span == nil:
			d.open[i] = &engine.Span{Alert: rules.AlertRegression, From: at, To: at, Labels: labels.FromStrings("target", targetName, "severity", severity)}
		case up[i]:
			span.To = at
		case span != nil && (at.Sub(span.To) > keepFiring || r.Moments[0][0].Turns == 0):
			d.spans = append(d.spans, *span)
			d.open[i] = nil
		}
	}
}
