package sweep

import (
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/study/runfile"
)

// Exporter exports the figures of one process of a sweep as metrics, whose names are in the
// catalog. It is safe for concurrent use.
type Exporter struct {
	handler    http.Handler
	gauges     map[string]*prometheus.GaugeVec
	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec

	mu sync.Mutex
	at position
}

type position struct {
	variant, level string
}

// NewExporter makes the exporter of a process; shard names it among those that share the load.
func NewExporter(shard string) *Exporter {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	own := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{metrics.LabelShard: shard}, registry))
	x := &Exporter{
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		gauges:  map[string]*prometheus.GaugeVec{}, counters: map[string]*prometheus.CounterVec{}, histograms: map[string]*prometheus.HistogramVec{},
	}
	for _, m := range metrics.StudyCatalog() {
		labels := slices.DeleteFunc(slices.Clone(m.Labels), func(l string) bool { return l == metrics.LabelShard })
		switch m.Kind {
		case metrics.Counter:
			x.counters[m.Name] = own.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, labels)
		case metrics.Histogram:
			o := metrics.HistogramOpts(m.Name)
			o.Help = m.Help
			x.histograms[m.Name] = own.NewHistogramVec(o, labels)
		default:
			x.gauges[m.Name] = own.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: m.Help}, labels)
		}
	}
	return x
}

// ServeHTTP serves the metrics.
func (x *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) { x.handler.ServeHTTP(w, r) }

// Progress exports the position of the sweep.
func (x *Exporter) Progress(p Progress) {
	x.mu.Lock()
	switch p.Phase {
	case phaseSwitch, phaseReady, phasePause: // between two levels
		x.at = position{}
	}
	at := x.at
	x.mu.Unlock()
	phase := x.gauges[metrics.StudyPhase]
	phase.Reset()
	phase.WithLabelValues(at.variant, at.level, string(p.Phase)).Set(1)
	x.gauges[metrics.StudyLevelsDone].WithLabelValues().Set(float64(max(p.Number-1, 0)))
	x.gauges[metrics.StudyLevelsToCome].WithLabelValues().Set(float64(p.Total - max(p.Number-1, 0)))
	x.gauges[metrics.StudyLeft].WithLabelValues().Set(p.Left.Seconds())
}

// Level begins a level.
func (x *Exporter) Level(variant string, level float64, kind runfile.LevelKind) *levelSeries {
	at := position{variant, strconv.FormatFloat(level, 'g', -1, 64)}
	x.mu.Lock()
	x.at = at
	x.mu.Unlock()
	load := x.gauges[metrics.StudyLoad]
	load.Reset()
	load.WithLabelValues(at.variant, at.level, string(kind)).Set(level)
	return &levelSeries{
		Exporter: x, position: at,
		started:       x.counters[metrics.StudyConversationsStarted].WithLabelValues(at.variant, at.level),
		conversations: x.gauges[metrics.StudyConversationsInFlight].WithLabelValues(at.variant, at.level),
		turns:         x.gauges[metrics.StudyTurnsInFlight].WithLabelValues(at.variant, at.level),
	}
}

// levelSeries are the metrics of one level; nil ignores all events.
type levelSeries struct {
	*Exporter
	position
	started              prometheus.Counter
	conversations, turns prometheus.Gauge
}

// Conversation counts a conversation that started (1) or ended (−1).
func (l *levelSeries) Conversation(change int) {
	if l == nil {
		return
	}
	l.conversations.Add(float64(change))
	if change > 0 {
		l.started.Inc()
	}
}

// Observe implements probe.Sink.
func (l *levelSeries) Observe(e probe.Event) {
	if l == nil {
		return
	}
	switch e := e.(type) {
	case probe.Start:
		l.turns.Inc()
	case probe.Result:
		l.turns.Dec()
		l.ended(&e)
	}
}

func (l *levelSeries) ended(r *probe.Result) {
	kind := string(r.Kind)
	l.counters[metrics.StudyTurns].WithLabelValues(l.variant, l.level, kind, string(r.Outcome)).Inc()
	if r.Outcome.Own() {
		return // it says nothing about the deployment
	}
	l.recalled(r.Recall)
	l.counters[metrics.StudyOutputTokens].WithLabelValues(l.variant, l.level, kind).Add(float64(r.OutputTokens.V))
	observe := func(name string, seconds float64) {
		l.histograms[name].WithLabelValues(l.variant, l.level, kind).Observe(seconds)
	}
	if r.TTFT.OK {
		observe(metrics.StudyTTFT, r.TTFT.V.Seconds())
	}
	if r.TPOT.OK {
		observe(metrics.StudyTPOT, r.TPOT.V.Seconds())
	}
	if r.Outcome != probe.Success {
		return
	}
	observe(metrics.StudyTurnDuration, r.Duration().Seconds())
	itl := l.histograms[metrics.StudyITL].WithLabelValues(l.variant, l.level, kind)
	for _, gap := range r.Gaps {
		itl.Observe(gap.Seconds())
	}
}

// foreign returns the counter of foreign answers. As in the sidecar, it has one series without depth, which exists from
// the start of a level with recall on: an alert sees only the increase of a series that exists.
func (l *levelSeries) foreign() prometheus.Counter {
	return l.recallTurns(probe.Recall{Result: recall.Foreign})
}

// recalled counts a turn judged by reference codes.
func (l *levelSeries) recalled(r probe.Recall) {
	switch r.Result {
	case "":
	case recall.Foreign:
		l.foreign().Inc()
	default:
		l.recallTurns(r).Inc()
	}
}

func (l *levelSeries) recallTurns(r probe.Recall) prometheus.Counter {
	return l.counters[metrics.StudyRecallTurns].WithLabelValues(l.variant, l.level, string(r.Result), r.CachedState(), r.DepthClass())
}
