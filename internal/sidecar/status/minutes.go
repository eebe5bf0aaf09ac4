package status

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
)

// minutesKept is the period of the charts: three hours. A minute of a job takes 76 bytes.
const minutesKept = 3 * 60

// minute summarises the turns of a job that ended in one minute, by index of probe.TurnKinds.
type minute struct {
	at    int32 // minutes since 1970
	kinds [2]minuteKind
}

type minuteKind struct {
	turns, failed uint16
	signals       [2]level // as fleet.Signals
}

// level is one latency of a minute, what is usual and the limit of a page in seconds, NaN if unknown.
type level struct{ p50, p95, usual, limit float32 }

func minuteOf(t time.Time) int32 { return int32(t.Unix() / 60) }

func minuteStart(at int32) time.Time { return time.Unix(int64(at)*60, 0).UTC() }

// count counts a turn and its failure. Samples are bounded, so they cannot be counted later.
func (m *minute) count(s sample) {
	k := &m.kinds[s.kind.Index()]
	if k.turns == math.MaxUint16 {
		return
	}
	k.turns++
	if s.outcome.Failed() {
		k.failed++
	}
}

// finishMinute stores the minute in progress when a turn of a later minute comes.
func (j *job) finishMinute(now int32) {
	back := now < j.current.at-1 // the event of a turn may be a little late
	switch {
	case now <= j.current.at && !back:
		return
	case back: // the clock was set back: later minutes are wrong
		j.minutes = slices.DeleteFunc(j.minutes, func(m minute) bool { return m.at >= now })
	case j.current.at > 0:
		reading, _ := j.compare()
		j.usual = reading
		j.minutes = appendBounded(j.minutes, j.currentMinute(), minutesKept)
	}
	j.current = minute{at: now}
}

// currentMinute returns the minute in progress with the latencies of its samples.
func (j *job) currentMinute() minute {
	m := j.current
	for k, kind := range probe.TurnKinds() {
		var values [2][]time.Duration
		for _, s := range j.samples {
			if s.kind != kind || minuteOf(s.end) != m.at {
				continue
			}
			for i, v := range s.latencies() {
				if v.OK {
					values[i] = append(values[i], v.V)
				}
			}
		}
		for i, usual := range j.usual.Usual[k] {
			q := quantilesOf(values[i])
			m.kinds[k].signals[i] = level{
				positive(q.P50.V.Seconds()), positive(q.P95.V.Seconds()), positive(usual.V), positive(usual.V * j.usual.Signals[i].Limit.V),
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

// minutesUntil returns the minutes of the charts, including the minute in progress.
func (j *job) minutesUntil(now time.Time) []minute {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := slices.Clone(j.minutes)
	if j.current.at > 0 {
		out = append(out, j.currentMinute())
	}
	first := minuteOf(now) - minutesKept
	return slices.DeleteFunc(out, func(m minute) bool { return m.at <= first })
}

// serverMinute holds a server's own figures of one minute, NaN if unknown: the largest value of a gauge, the increase
// of a counter.
type serverMinute struct {
	at                                 int32 // minutes since 1970
	running, waiting, kvUse, preempted float32
}

// lastReadings are the readings of a minute.
const lastReadings = 6

// serverFigures are a target's own figures: of each minute, and the last readings, none if the metrics cannot be read.
type serverFigures struct {
	minutes []serverMinute
	last    []serverside.State
}

// add adds a reading to the minute at which it came. An incomplete reading shows that the
// metrics cannot be read.
func (f *serverFigures) add(now time.Time, r serverside.Reading) {
	if f.last = appendBounded(f.last, r.State, lastReadings); !r.Complete {
		f.last = nil
		return
	}
	at := minuteOf(now)
	if n := len(f.minutes); n == 0 || f.minutes[n-1].at != at {
		none := float32(math.NaN())
		f.minutes = appendBounded(f.minutes, serverMinute{at, none, none, none, none}, minutesKept)
	}
	m := &f.minutes[len(f.minutes)-1]
	for v, read := range map[*float32]probe.Opt[float64]{&m.running: r.Running, &m.waiting: r.Waiting, &m.kvUse: r.KVUse} {
		if read.OK && !(*v >= float32(read.V)) {
			*v = float32(read.V)
		}
	}
	switch {
	case !r.Preemptions.OK:
	case m.preempted != m.preempted: // NaN
		m.preempted = float32(r.Preemptions.V)
	default:
		m.preempted += float32(r.Preemptions.V)
	}
}

// tokensLate is the age from which the last token of a server is late.
const tokensLate = 10 * time.Second

// words returns the figures of now, and the mean of the last minute of the requests that wait, as in alerts.
func (f *serverFigures) words() string {
	if len(f.last) == 0 {
		return "its metrics cannot be read"
	}
	waiting, last := 0., f.last[len(f.last)-1]
	for _, s := range f.last {
		waiting += s.Waiting.V / float64(len(f.last))
	}
	var out []string
	for _, figure := range []struct {
		format string
		v      probe.Opt[float64]
	}{{"%.0f requests wait", probe.Opt[float64]{V: waiting, OK: last.Waiting.OK}}, {"%.0f run", last.Running}} {
		if figure.v.OK {
			out = append(out, fmt.Sprintf(figure.format, figure.v.V))
		}
	}
	if last.KVUse.OK {
		out = append(out, "its KV cache is "+share(last.KVUse).String()+" full")
	}
	if last.TokenAge.V >= tokensLate {
		out = append(out, "its last token came "+Duration(last.TokenAge).String()+" ago")
	}
	return strings.Join(out, ", ")
}

// server returns the minutes of a target's own figures, and its figures of now in words; none if its metrics are not read.
func (p *Page) server(target string) (minutes []serverMinute, now string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.servers[target]; f != nil {
		return slices.Clone(f.minutes), f.words()
	}
	return nil, ""
}
