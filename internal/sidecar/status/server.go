package status

import (
	"math"
	"slices"
	"sync"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/serverside"
)

// serverMinute holds a server's own figures of one minute, by index of the constants; NaN if unknown.
type serverMinute struct {
	at     int32 // minutes since 1970
	values [serverFigures]float32
}

// Gauges are the largest value of the minute, counters the increase in it.
const (
	serverRunning = iota
	serverWaiting
	serverKVUse
	serverPreemptions
	serverQueueSeconds
	serverQueuedRequests
	serverPromptTokens
	serverOutputTokens
	serverFigures
)

// isGauge reports whether the values of several readings do not add up.
func isGauge(figure int) bool { return figure <= serverKVUse }

// serverLoad holds a day of the minutes of a target's own metrics.
type serverLoad struct {
	mu      sync.Mutex
	minutes day
	current serverMinute
}

func (l *serverLoad) read(s serverside.State, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := minuteOf(now); at != l.current.at {
		if l.current.at > 0 {
			l.minutes.put(l.current.at, l.current.row())
		}
		l.current = unknownMinute(at)
	}
	for i, o := range []probe.Opt[float64]{
		s.Running, s.Waiting, s.KVUse, s.Preemptions, s.QueueSeconds, s.QueuedRequests, s.PromptTokens, s.OutputTokens,
	} {
		switch v := &l.current.values[i]; {
		case !o.OK:
		case *v != *v: // NaN
			*v = float32(o.V)
		case isGauge(i):
			*v = max(*v, float32(o.V))
		default:
			*v += float32(o.V)
		}
	}
}

func unknownMinute(at int32) serverMinute {
	m := serverMinute{at: at}
	for i := range m.values {
		m.values[i] = float32(math.NaN())
	}
	return m
}

func (m serverMinute) row() (out []uint32) {
	for _, v := range m.values {
		out = append(out, math.Float32bits(v))
	}
	return out
}

// in returns the minutes of a time range, including the minute in progress. An unknown minute stands for
// each time without a reading, also at the end.
func (l *serverLoad) in(s span) (out []serverMinute) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add := func(m serverMinute) {
		if n := len(out); n > 0 && m.at > out[n-1].at+1 {
			out = append(out, unknownMinute(out[n-1].at+1))
		}
		out = append(out, m)
	}
	for at, row := range l.minutes.rows(s.from, s.to) {
		m := serverMinute{at: at}
		for i := range m.values {
			m.values[i] = math.Float32frombits(row[i])
		}
		add(m)
	}
	last := minuteOf(s.to)
	if l.current.at > 0 && l.current.at <= last {
		m := l.current
		for _, f := range []int{serverPreemptions, serverPromptTokens, serverOutputTokens} { // counts of a part of a minute
			m.values[f] = float32(math.NaN())
		}
		add(m)
	}
	if n := len(out); n > 0 && out[n-1].at < last {
		add(unknownMinute(last))
	}
	return out
}

// ServerRead records a reading of a target's own metrics.
func (p *Page) ServerRead(target string, r serverside.Reading) {
	p.mu.Lock()
	l := p.servers[target]
	p.mu.Unlock()
	if l != nil && r.Complete {
		l.read(r.State, p.options.Now())
	}
}

// serverMinutes returns a target's own figures in a time range; none if its metrics are not read.
func (p *Page) serverMinutes(target string, s span) []serverMinute {
	p.mu.Lock()
	l := p.servers[target]
	p.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.in(s)
}

// isMoving reports whether a chart shows more than zeros.
func isMoving(c chart.Chart) bool {
	return slices.ContainsFunc(c.Series, func(s chart.Series) bool {
		return slices.ContainsFunc(s.Points, func(p chart.Point) bool { return p.Y > 0 })
	})
}

// serverCharts draws the figures that the server exports, if they are not all 0.
func serverCharts(minutes []serverMinute) (out []chart.Chart) {
	figure := func(f int) func(serverMinute) float64 {
		return func(m serverMinute) float64 { return float64(m.values[f]) }
	}
	perSecond := func(f int) func(serverMinute) float64 {
		return func(m serverMinute) float64 { return float64(m.values[f]) / 60 }
	}
	queueTime := func(m serverMinute) float64 {
		return float64(m.values[serverQueueSeconds] / m.values[serverQueuedRequests]) // NaN without requests
	}
	kvUse := func(m serverMinute) float64 { return 100 * float64(m.values[serverKVUse]) }
	type line struct {
		name  string
		value func(serverMinute) float64
	}
	for _, c := range []struct {
		title, unit string
		lines       []line
	}{
		{"server: requests", "", []line{{"running", figure(serverRunning)}, {"waiting", figure(serverWaiting)}}},
		{"server: KV cache in use", "%", []line{{"fullest engine", kvUse}}},
		{"server: time in the queue, mean", "s", []line{{"queue time", queueTime}}},
		{"server: preemptions a minute", "", []line{{"preempted", figure(serverPreemptions)}}},
		{"server: tokens a second", "", []line{{"output", perSecond(serverOutputTokens)}, {"prompt", perSecond(serverPromptTokens)}}},
	} {
		drawn := chart.Chart{Title: c.title, Y: chart.Axis{Unit: c.unit}}
		for i, l := range c.lines {
			s := chart.Series{Name: l.name, Color: i}
			for _, m := range minutes {
				s.Points = append(s.Points, pointAt(minuteStart(m.at), l.value(m)))
			}
			if slices.ContainsFunc(s.Points, func(p chart.Point) bool { return !math.IsNaN(p.Y) }) {
				drawn.Series = append(drawn.Series, s)
			}
		}
		if isMoving(drawn) {
			out = append(out, drawn)
		}
	}
	return out
}
