package metrics

import (
	"maps"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
)

// frame is the whole exposition as protobuf messages, laid out once and filled
// at each scrape. Laying it out costs far more than filling it: every series
// is several objects, and only their numbers change.
type frame struct {
	generation uint64
	families   map[string]*dto.MetricFamily
	sorted     []*dto.MetricFamily
	jobs       []*jobFrame
	servers    []*serverFrame
	reload     reload
	words      *vocabulary
	scratch    sketch.Sketch
}

// newFrame lays out the series there are now.
func (r *Recorder) newFrame() *frame {
	r.mu.RLock()
	defer r.mu.RUnlock()
	f := &frame{
		generation: r.generation,
		families:   map[string]*dto.MetricFamily{},
		words:      newVocabulary(),
	}
	for _, m := range Catalog() {
		f.addFamily(m)
	}
	slices.SortFunc(f.sorted, func(a, b *dto.MetricFamily) int { return strings.Compare(*a.Name, *b.Name) })
	for _, key := range sortedKeys(r.jobs) {
		f.addJob(r.jobs[key])
		f.addConfigured(r, key, f.jobs[len(f.jobs)-1])
	}
	f.addObjectives(r)
	f.addProcess(r)
	f.layOutServers(r)
	return f
}

func (f *frame) addFamily(m Metric) {
	kind := map[Kind]dto.MetricType{
		Counter: dto.MetricType_COUNTER, Gauge: dto.MetricType_GAUGE,
		Histogram: dto.MetricType_HISTOGRAM, Summary: dto.MetricType_SUMMARY,
	}[m.Kind]
	fam := &dto.MetricFamily{Name: &m.Name, Help: &m.Help, Type: &kind}
	f.families[m.Name] = fam
	f.sorted = append(f.sorted, fam)
}

// fill brings every number up to date. Each job is read under its lock, so its
// series agree with each other.
func (f *frame) fill(r *Recorder) {
	now := r.options.Now()
	phases, badTurns := f.families[PhaseDuration], f.families[BadTurn]
	phases.Metric, badTurns.Metric = phases.Metric[:0], badTurns.Metric[:0]
	for _, j := range f.jobs {
		j.fill(now, &f.scratch)
		j.beat(r.options.Heartbeat)
		phases.Metric = j.appendPhases(phases.Metric)
		badTurns.Metric = j.appendBadTurns(badTurns.Metric)
	}
	r.mu.RLock()
	f.reload = r.reload
	f.fillServers()
	r.mu.RUnlock()
	f.setSource(r.options.TimestampSource)
}

// exported lists the families that have series, sorted by name.
func (f *frame) exported() []*dto.MetricFamily {
	fams := make([]*dto.MetricFamily, 0, len(f.sorted))
	for _, fam := range f.sorted {
		if len(fam.Metric) > 0 {
			fams = append(fams, fam)
		}
	}
	return fams
}

func (f *frame) counter(name string, l labels, v *float64) {
	s := &struct {
		m dto.Metric
		c dto.Counter
	}{}
	s.c.Value = v
	s.m.Label, s.m.Counter = l, &s.c
	f.add(name, &s.m)
}

func (f *frame) gauge(name string, l labels, v *float64) {
	s := &struct {
		m dto.Metric
		g dto.Gauge
	}{}
	s.g.Value = v
	s.m.Label, s.m.Gauge = l, &s.g
	f.add(name, &s.m)
}

// constant adds a gauge that does not change while the frame lives.
func (f *frame) constant(name string, l labels, v float64) { f.gauge(name, l, &v) }

func (f *frame) add(name string, m *dto.Metric) {
	fam := f.families[name]
	fam.Metric = append(fam.Metric, m)
}

// addConfigured adds what the snapshot and the scheduler say of a job.
func (f *frame) addConfigured(r *Recorder, key probe.Key, j *jobFrame) {
	if rate := r.rates[key]; rate > 0 {
		f.constant(TrafficRate, j.labels, rate)
	}
	if b, ok := r.benchmarks[key]; ok {
		f.addBenchmark(j.labels, b)
	}
	if r.options.Heartbeat != nil {
		f.gauge(SchedulerHeartbeat, j.labels, &j.counters.heartbeat)
	}
}

// addObjectives adds what defines the SLOs. Availability has no threshold.
func (f *frame) addObjectives(r *Recorder) {
	for _, o := range r.slos {
		l := labels{f.words.slo(o.Name)}
		f.constant(SLOObjective, l, o.Objective)
		f.constant(SLOWindow, l, o.Window.Seconds())
		if o.Threshold > 0 {
			f.constant(SLOThreshold, l, o.Threshold.Seconds())
		}
	}
}

// addProcess adds what is said once: targets, build and configuration.
func (f *frame) addProcess(r *Recorder) {
	for _, t := range r.targets {
		f.constant(TargetInfo, labels{}.with(
			pair(LabelTarget, t.Name), pair("model", t.Model), pair("connection", t.Connection)), 1)
	}
	if b := r.options.Build; b != (Build{}) {
		f.constant(BuildInfo, labels{}.with(
			pair("version", b.Version), pair("revision", b.Revision), pair("branch", b.Branch),
			pair("goversion", b.GoVersion), pair("goos", b.GOOS), pair("goarch", b.GOARCH),
			pair("tags", b.Tags)), 1)
	}
	f.gauge(ConfigLastReloadSuccessful, nil, &f.reload.successful)
	f.gauge(ConfigLastReloadSuccess, nil, &f.reload.lastSuccess)
}

func (f *frame) setSource(source func() string) {
	fam := f.families[TimestampSourceInfo]
	fam.Metric = nil
	if source == nil {
		return
	}
	if s := source(); s != "" {
		f.constant(TimestampSourceInfo, labels{pair("source", s)}, 1)
	}
}

// sortedKeys orders the jobs by target, then workload.
func sortedKeys(jobs map[probe.Key]*job) []probe.Key {
	return slices.SortedFunc(maps.Keys(jobs), probe.Key.Compare)
}

// beat asks for the job's last sign of life.
func (j *jobFrame) beat(heartbeat func(probe.Key) time.Time) {
	if heartbeat != nil {
		j.counters.heartbeat = unixSeconds(heartbeat(j.job.key))
	}
}
