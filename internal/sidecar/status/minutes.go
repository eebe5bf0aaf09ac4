package status

import (
	"iter"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
)

// minutesKept is one day of minutes. A noisy minute takes about 15 bytes, a job 20 kB.
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

// level is one latency of a minute and its baseline in seconds, NaN if unknown. tail is the
// value above which a turn counts as slow.
type level struct{ p50, p95, usual, tail float32 }

func minuteOf(t time.Time) int32 { return int32(t.Unix() / 60) }

func (m minute) start() time.Time { return minuteStart(m.at) }

func minuteStart(at int32) time.Time { return time.Unix(int64(at)*60, 0).UTC() }

type day struct{ log baseline.MinuteLog }

func (d *day) put(at int32, row []uint32) {
	d.log.Put(int64(at), row...)
	d.log.Forget(d.first())
}

func (d *day) first() int64 { return d.log.Last() - minutesKept + 1 }

// rows returns the rows of a time range. A row is valid until the next iteration.
func (d *day) rows(from, to time.Time) iter.Seq2[int32, []uint32] {
	last := int64(minuteOf(to))
	return func(yield func(int32, []uint32) bool) {
		for at, row := range d.log.From(max(int64(minuteOf(from)), d.first())) {
			if at > last || !yield(int32(at), row) {
				return
			}
		}
	}
}

func (d *day) between(from, to time.Time) (out []minute) {
	for at, row := range d.rows(from, to) {
		out = append(out, minuteFrom(at, row))
	}
	return out
}

// row encodes the minute, with its values rounded. Values that are often equal, or rise together, are stored as
// differences.
func (m minute) row() (out []uint32) {
	for _, k := range m.kinds {
		out = append(out, uint32(k.turns), uint32(k.failed))
		for _, l := range k.signals {
			p50, usual := coarse(l.p50), coarse(l.usual)
			out = append(out, p50, coarse(l.p95)-p50, usual, coarse(l.tail)-usual)
		}
	}
	return out
}

func minuteFrom(at int32, row []uint32) minute {
	m := minute{at: at}
	for i := range m.kinds {
		k := &m.kinds[i]
		k.turns, k.failed, row = uint16(row[0]), uint16(row[1]), row[2:]
		for j := range k.signals {
			k.signals[j] = level{fromCoarse(row[0]), fromCoarse(row[0] + row[1]), fromCoarse(row[2]), fromCoarse(row[2] + row[3])}
			row = row[4:]
		}
	}
	return m
}

// droppedBits is the number of bits of a float32 that are not kept: noisy ones, which cannot be compressed. The others are
// exact to 1/8192.
const droppedBits = 11

// coarse returns the bits that are kept of a value, which is not negative, or NaN.
func coarse(v float32) uint32 { return (math.Float32bits(v) + 1<<(droppedBits-1)) >> droppedBits }

// fromCoarse returns the value with four digits: more are not exact.
func fromCoarse(kept uint32) float32 {
	v := float64(math.Float32frombits(kept << droppedBits))
	if !(v > 0) || math.IsInf(v, 1) {
		return float32(v)
	}
	perUnit := math.Pow(10, 3-math.Floor(math.Log10(v)))
	return float32(math.Round(v*perUnit) / perUnit)
}

// count counts a turn and its failure. Samples are bounded, so they cannot be counted later.
func (m *minute) count(s sample) {
	k := &m.kinds[s.kind]
	if k.turns == math.MaxUint16 {
		return
	}
	k.turns++
	if s.outcome().Failed() {
		k.failed++
	}
}

// currentMinute returns the minute in progress with the latencies of its samples.
func (j *job) currentMinute() minute {
	m := j.current
	for k, kind := range probe.TurnKinds() {
		var values [2][]time.Duration
		for _, s := range j.samples {
			if s.turn() != kind || minuteOf(s.end) != m.at {
				continue
			}
			for i, v := range s.latencies() {
				if v.OK {
					values[i] = append(values[i], v.V)
				}
			}
		}
		for i, v := range j.usual[k] {
			q := quantilesOf(values[i])
			m.kinds[k].signals[i] = level{
				positive(q.P50.V.Seconds()), positive(q.P95.V.Seconds()), positive(v.baseline.V), positive(v.tail.V),
			}
		}
	}
	return m
}

// positive returns NaN for the 0 of an unknown value.
func positive(v float64) float32 {
	if !(v > 0) {
		return float32(math.NaN())
	}
	return float32(v)
}
