package status

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
)

// minutesKept is a day of minutes: 76 bytes each, 110 kB of a job.
const minutesKept = 24 * 60

// minute sums up the turns of a job that ended in one minute, by index of
// probe.TurnKinds.
type minute struct {
	at    int32 // minutes since 1970
	kinds [2]minuteKind
}

type minuteKind struct {
	turns, failed uint16
	signals       [2]level // as regression.Signals
}

// level is one latency of a minute, in seconds, and what was usual for it; 0 is
// unknown. Tail is where unusual turns begin.
type level struct{ p50, p95, usual, tail float32 }

func minuteOf(t time.Time) int32 { return int32(t.Unix() / 60) }

func (m minute) start() time.Time { return time.Unix(int64(m.at)*60, 0).UTC() }

// day holds the last minutes of a job in which turns ended, oldest first from
// next on.
type day struct {
	minutes []minute
	next    int
}

func (d *day) add(m minute) {
	if len(d.minutes) < minutesKept {
		d.minutes = append(d.minutes, m)
		return
	}
	d.minutes[d.next] = m
	d.next = (d.next + 1) % minutesKept
}

// between lists the minutes of a time, oldest first.
func (d *day) between(from, to time.Time) (out []minute) {
	first, last := minuteOf(from), minuteOf(to)
	for i := range d.minutes {
		m := d.minutes[(d.next+i)%len(d.minutes)]
		if m.at >= first && m.at <= last {
			out = append(out, m)
		}
	}
	return out
}

// tally counts the turns that ended in a minute, and those that failed: samples
// are only the last of them.
type tally [2]struct{ turns, failed uint16 }

func (t *tally) add(s sample) {
	of := &t[s.kind.Index()]
	if of.turns == math.MaxUint16 {
		return
	}
	of.turns++
	if s.outcome.Failed() {
		of.failed++
	}
}

// summedUp makes a minute of what was counted, and of the samples that ended in it.
func summedUp(at int32, counted tally, samples []sample, usual [2][2]regression.View) minute {
	m := minute{at: at}
	for k, kind := range probe.TurnKinds() {
		of, values := &m.kinds[k], [2][]time.Duration{}
		of.turns, of.failed = counted[k].turns, counted[k].failed
		for _, s := range samples {
			if s.kind != kind || minuteOf(s.end) != at {
				continue
			}
			for i, v := range []probe.Opt[time.Duration]{s.ttft, s.tpot} {
				if v.OK {
					values[i] = append(values[i], v.V)
				}
			}
		}
		for i := range of.signals {
			q, v := quantiles(values[i]), usual[k][i]
			of.signals[i] = level{seconds(q.P50), seconds(q.P95), known(v.Baseline), known(v.UsualTail)}
		}
	}
	return m
}

func seconds(d Duration) float32 { return float32(d.V.Seconds()) }

// known is 0 for what is not.
func known(v float64) float32 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return float32(v)
}
