package metrics

import (
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/probe"
)

// badTurnFrame shows the bad turn of one kind. Its labels change with the turn,
// unlike those of all other series.
type badTurnFrame struct {
	base   labels
	turn   badTurn
	shown  bool
	metric dto.Metric
	gauge  dto.Gauge
}

// layOutBadTurns prepares the series of a job's bad turns.
func (f *frame) layOutBadTurns(jf *jobFrame) {
	for k := range jf.badTurns {
		b := &jf.badTurns[k]
		b.base = jf.labels.with(f.words.turns[k])
		b.gauge.Value, b.metric.Gauge = &b.turn.end, &b.gauge
	}
}

// fill takes over what there is to show; the job's lock must be held.
func (b *badTurnFrame) fill(from *badTurn, now time.Time) {
	if b.shown = from.current(now); !b.shown {
		return
	}
	if b.turn.trace != from.trace || b.turn.reason != from.reason {
		b.metric.Label = b.base.with(pair(LabelReason, from.reason), pair(LabelTraceID, from.trace))
	}
	b.turn = *from
}

// appendBadTurns adds the bad turns that there are.
func (jf *jobFrame) appendBadTurns(to []*dto.Metric) []*dto.Metric {
	for k := range probe.TurnKinds() {
		if b := &jf.badTurns[k]; b.shown {
			to = append(to, &b.metric)
		}
	}
	return to
}
