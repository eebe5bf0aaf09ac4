package status

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
)

// minutesKept is one day of minutes. A noisy minute takes about 35 bytes, a job 50 kB.
const minutesKept = 24 * 60

// minute summarises the turns of a job that ended in one minute, by index of probe.TurnKinds.
type minute struct {
	at    int32 // minutes since 1970
	kinds [2]minuteKind
}

type minuteKind struct {
	turns, failed uint16
	signals       [2]level // as sink.Signals
}

// level is one latency of a minute and its baseline, in seconds; 0 is unknown. tail is the
// value above which a turn counts as slow.
type level struct{ p50, p95, usual, tail float32 }

func minuteOf(t time.Time) int32 { return int32(t.Unix() / 60) }

func (m minute) start() time.Time { return time.Unix(int64(m.at)*60, 0).UTC() }

// day holds the minutes of the last day with turns.
type day struct{ log baseline.MinuteLog }

func (d *day) add(m minute) {
	d.log.Put(int64(m.at), m.row()...)
	d.log.Forget(d.first())
}

func (d *day) first() int64 { return d.log.Last() - minutesKept + 1 }

// between returns the minutes of a time range, oldest first.
func (d *day) between(from, to time.Time) (out []minute) {
	last := int64(minuteOf(to))
	for at, row := range d.log.From(max(int64(minuteOf(from)), d.first())) {
		if at <= last {
			out = append(out, minuteFrom(int32(at), row))
		}
	}
	return out
}

// row encodes the minute. Values that are often equal, or rise together, are stored as
// differences.
func (m minute) row() (out []uint32) {
	for _, k := range m.kinds {
		out = append(out, uint32(k.turns), uint32(k.failed))
		for _, l := range k.signals {
			p50, usual := math.Float32bits(l.p50), math.Float32bits(l.usual)
			out = append(out, p50, math.Float32bits(l.p95)-p50, usual, math.Float32bits(l.tail)-usual)
		}
	}
	return out
}

// minuteFrom decodes a row.
func minuteFrom(at int32, row []uint32) minute {
	m := minute{at: at}
	for i := range m.kinds {
		k := &m.kinds[i]
		k.turns, k.failed, row = uint16(row[0]), uint16(row[1]), row[2:]
		for j := range k.signals {
			k.signals[j] = level{
				math.Float32frombits(row[0]), math.Float32frombits(row[0] + row[1]),
				math.Float32frombits(row[2]), math.Float32frombits(row[2] + row[3]),
			}
			row = row[4:]
		}
	}
	return m
}

// tally counts the turns of a minute and their failures, since samples are bounded.
type tally [2]struct{ turns, failed uint16 }

func (t *tally) add(s sample) {
	of := &t[s.kind]
	if of.turns == math.MaxUint16 {
		return
	}
	of.turns++
	if s.outcome.Failed() {
		of.failed++
	}
}

// summedUp makes a minute of its counts and of its samples.
func summedUp(at int32, counted tally, samples []sample, usual baseline.Views) minute {
	m := minute{at: at}
	for k, kind := range probe.TurnKinds() {
		of, values := &m.kinds[k], [2][]time.Duration{}
		of.turns, of.failed = counted[k].turns, counted[k].failed
		for _, s := range samples {
			if s.turn() != kind || minuteOf(s.end) != at {
				continue
			}
			for i, v := range []probe.Opt[time.Duration]{s.ttft.opt(), s.tpot.opt()} {
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

// known returns 0 for an unknown value.
func known(v float64) float32 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return float32(v)
}
