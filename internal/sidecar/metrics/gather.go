package metrics

import (
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/cause"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/watch"
	"synthetic/internal/slo"
)

// Gather implements prometheus.Gatherer. Each job is read under one hold of its
// lock, so its series agree with each other.
func (r *Recorder) Gather() ([]*dto.MetricFamily, error) {
	return r.gather(Catalog(), view{every, true}), nil
}

// ForTarget gathers the series of one target, without the series of the process.
func (r *Recorder) ForTarget(target string) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return r.gather(Catalog(), view{func(t string) bool { return t == target }, false}), nil
	})
}

// unleased gathers all series except those of leased targets, which only ForTarget returns.
func (r *Recorder) unleased() prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		leased := r.options.Leased()
		return r.gather(Catalog(), view{func(t string) bool { return !leased(t) }, true}), nil
	})
}

// view selects the targets to gather, and whether to include the process.
type view struct {
	shows   func(target string) bool
	process bool
}

func every(string) bool { return true }

// Only gathers some families. The others cost nothing.
func (r *Recorder) Only(wanted func(family string) bool) prometheus.Gatherer {
	catalog := slices.DeleteFunc(Catalog(), func(m Metric) bool { return !wanted(m.Name) })
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return r.gather(catalog, view{every, true}), nil })
}

func (r *Recorder) gather(catalog []Metric, v view) []*dto.MetricFamily {
	e := newExposition(r.options.Now(), catalog)
	r.mu.RLock()
	jobs, targetLabels := r.sortedJobs(), map[string]labels{}
	for _, name := range slices.Sorted(maps.Keys(r.targets)) {
		if !v.shows(name) {
			continue
		}
		l := labels{}.with(LabelTarget, name).withAll(r.targets[name].labels)
		targetLabels[name] = l
		r.targets[name].gather(e, l)
	}
	reload := r.reload
	r.mu.RUnlock()
	for _, j := range jobs {
		if !v.shows(j.key.Target) {
			continue
		}
		l := targetLabels[j.key.Target].with(LabelWorkload, j.key.Workload)
		if r.options.Heartbeat != nil {
			// A removed job that still drains has no heartbeat.
			if beat := r.options.Heartbeat(j.key); !beat.IsZero() {
				e.add(SchedulerHeartbeat, l, unixSeconds(beat))
				j.gatherWanted(e, l, r.options.Host)
			}
		}
		reading, _ := r.options.Baselines.Read(j.key)
		j.gather(e, l, &reading)
		e.add(ProberStarved, l, boolValue(j.starved(r.options.Lag(), e.now)))
	}
	if v.process {
		e.addAll(nil, value{ConfigLastReloadSuccessful, reload.successful}, value{ConfigLastReloadSuccess, reload.lastSuccess})
		r.gatherProcess(e)
		gatherDefinitions(e, jobs)
	}
	return e.sorted()
}

// gatherProcess adds the series that exist once per process.
func (r *Recorder) gatherProcess(e *exposition) {
	e.add(ProberLag, nil, r.options.Lag().Seconds())
	if b := r.options.Build; b != (Build{}) {
		e.add(BuildInfo, labels{}.
			with("version", b.Version).with("revision", b.Revision).with("branch", b.Branch).
			with("goversion", b.GoVersion).with("goos", b.GOOS).with("goarch", b.GOARCH).with("tags", b.Tags), 1)
	}
	if r.options.TurnLog != nil {
		e.add(turnLogDropped, nil, float64(r.options.TurnLog()))
	}
	r.gatherDiscovery(e)
	for _, b := range r.options.Bounds {
		if used, limit := b.Level(); limit > 0 {
			e.addAll(labels{}.with(labelBound, b.Name), value{boundLimit, limit}, value{boundUsed, used})
		}
	}
	if r.options.TimestampSource == nil {
		return
	}
	if s := r.options.TimestampSource(); s != "" {
		e.add(timestampSourceInfo, labels{}.with("source", s), 1)
	}
}

func (r *Recorder) gatherDiscovery(e *exposition) {
	if r.options.Discovery == nil {
		return
	}
	for _, s := range r.options.Discovery() {
		l := labels{}.with(labelGroup, s.Name)
		gatherRows(e, l, s)
		for _, reason := range discovery.Reasons() {
			e.add(discoveryLeftOut, l.with(LabelReason, reason), float64(s.LeftOut[reason]))
		}
	}
}

func (j *job) gather(e *exposition, l labels, compared *watch.Reading) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if rate := j.info.Traffic.Rate; rate > 0 {
		current := rate
		if burst := j.tally.Burst; burst.Why != "" {
			current = burst.Rate
		}
		e.addAll(l, value{TrafficRate, rate}, value{probeRate, current})
		for _, why := range workload.BurstReasons() {
			e.add(bursts, l.with(LabelReason, why), float64(j.tally.Bursts[why]))
		}
	}
	for k, kind := range probe.TurnKinds() {
		turn := l.with(LabelTurn, string(kind))
		turnsOf{&j.turns[k], &j.tally.Turns[k]}.gather(e, turn)
		gatherKind(e, turn, compared, k)
	}
	gatherSignals(e, l, compared)
	j.gatherConversations(e, l)
	if j.judges(e.now) {
		e.addAll(l, value{ConsecutiveFailed, float64(compared.Failures)}, value{Failing, compared.Failing.Seconds()})
	}
	j.gatherObjectives(e, l)
}

// turnsOf is what the turns of one kind count.
type turnsOf struct {
	*turnSeries
	tally *fleet.TurnTally
}

func (t turnsOf) gather(e *exposition, l labels) {
	gatherRows(e, l, t)
	outcome := func(o probe.Outcome) float64 { return float64(t.tally.Outcomes[o]) }
	e.add(UsageMissing, l.with(LabelReason, "absent"), t.usageMissing)
	e.add(UsageMissing, l.with(LabelReason, "impossible"), t.usageImpossible)
	for _, reason := range probe.TPOTUnknowns() {
		e.add(tpotUnknown, l.with(LabelReason, string(reason)), t.tpotUnknown[reason])
	}
	for _, reason := range probe.Failures() {
		e.add(TurnFailures, l.with(LabelReason, string(reason)), outcome(reason))
	}
	for _, reason := range probe.OwnFaults() {
		e.add(TurnOwnFaults, l.with(LabelReason, string(reason)), outcome(reason))
	}
	e.distribution(ttft, ttftWindow, l, &t.ttft)
	e.distribution(tpot, tpotWindow, l, &t.tpot)
	e.distribution("", turnDurationWindow, l, &t.duration)
}

func (j *job) gatherConversations(e *exposition, l labels) {
	gatherRows(e, l, j)
	for _, reason := range probe.SkipReasons() {
		e.add(ConversationsSkipped, l.with(LabelReason, reason), float64(j.tally.Skipped[reason]))
	}
	if j.info.Workload.Recall > 0 {
		j.recalled.gather(e, l)
	}
	for _, reason := range slices.Sorted(maps.Keys(j.finished)) {
		e.add(FinishReasons, l.with(labelFinish, reason), j.finished[reason])
	}
	j.gateway.gather(e, l)
	gatherSessions(e, l, j.sessions)
	e.addTotal(ScheduleLag, l, j.lag)
	for i, phase := range phaseNames() {
		e.addTotal(PhaseDuration, l.with(labelPhase, phase), j.phase[i])
	}
}

func gatherSessions(e *exposition, l labels, s probe.SessionCounts) {
	for i, c := range []probe.SessionCount{s.Kept, s.Lost} {
		session := []string{probe.SessionKept, probe.SessionLost}[i]
		gatherRows(e, l.with(labelSession, session), c)
	}
}

func (j *job) gatherObjectives(e *exposition, l labels) {
	for _, s := range j.slos {
		o := s.objective
		e.add(SLOMissing, l.with(LabelSLO, o.Name), s.missing.value())
		e.add(SLOMissingSince, l.with(LabelSLO, o.Name), unixSeconds(s.missing.began))
		for k, kind := range probe.TurnKinds() {
			if o.Covers(j.key.Target, j.key.Workload, kind) {
				turn := l.with(LabelTurn, string(kind)).with(LabelSLO, o.Name)
				e.addAll(turn, value{SLOTurns, s.turns[k]}, value{SLOViolations, s.violations[k]})
			}
		}
	}
}

// gatherDefinitions adds the definition of each objective. A draining job may still have older
// definitions, so the newest configuration counts. Availability has no threshold.
func gatherDefinitions(e *exposition, jobs []*job) {
	var names []string
	newest, added := map[string]slo.Objective{}, map[string]uint64{}
	for _, j := range jobs {
		j.mu.Lock()
		for _, s := range j.slos {
			name := s.objective.Name
			if added[name] == 0 {
				names = append(names, name)
			}
			if added[name] < j.added {
				newest[name], added[name] = s.objective, j.added
			}
		}
		j.mu.Unlock()
	}
	for _, name := range names {
		o, l := newest[name], labels{}.with(LabelSLO, name)
		e.addAll(l, value{SLOObjective, o.Objective}, value{SLOWindow, o.Window.Seconds()})
		if o.Threshold > 0 {
			e.add(SLOThreshold, l, o.Threshold.Seconds())
		}
		if o.PerThousand > 0 {
			e.add(SLOSlope, l, o.PerThousand.Seconds())
		}
	}
}

// Handler serves the families of the recorder and of other gatherers through promhttp, in the
// format that the scraper asks for: OpenMetrics with exemplars, protobuf with native
// histograms, or text.
func (r *Recorder) Handler(opts promhttp.HandlerOpts, others ...prometheus.Gatherer) http.Handler {
	opts.EnableOpenMetrics = true
	return promhttp.HandlerFor(gatherers(append([]prometheus.Gatherer{r.unleased()}, others...)), opts)
}

// gatherers gathers from several gatherers with different names. Unlike prometheus.Gatherers it
// does not check every series again.
type gatherers []prometheus.Gatherer

// Gather implements prometheus.Gatherer.
func (g gatherers) Gather() (all []*dto.MetricFamily, err error) {
	for _, gatherer := range g {
		more, gatherErr := gatherer.Gather()
		all, err = append(all, more...), errors.Join(err, gatherErr)
	}
	slices.SortStableFunc(all, byName)
	return all, err
}

// gatherKind adds the values of one kind of turn and what is usual for it.
func gatherKind(e *exposition, l labels, r *watch.Reading, k int) {
	for i, signal := range fleet.Signals() {
		m := &r.Moments[k][i]
		e.addAll(l.with(LabelSignal, string(signal)), value{SignalTurns, m.Turns}, value{SignalLog2, m.Log2}, value{Baseline, orNaN(r.Usual[k][i])})
	}
	for i, part := range cause.Parts() {
		excess := probe.Opt[float64]{V: r.Excess[k].V[i], OK: r.Excess[k].OK}
		e.add(Excess, l.with(LabelPart, string(part)), orNaN(excess))
	}
	e.add(CachedBaseline, l, orNaN(r.UsualCached[k]))
}

// gatherSignals adds how a job compares with what is usual for it.
func gatherSignals(e *exposition, l labels, r *watch.Reading) {
	moved := time.Time{}
	for i, signal := range fleet.Signals() {
		v := &r.Signals[i]
		gatherRows(e, l.with(LabelSignal, string(signal)), v)
		if v.Moved.After(moved) {
			moved = v.Moved
		}
	}
	e.add(BaselineMoved, l, unixSeconds(moved))
}

// orNaN returns the value for an exposition, in which NaN means unknown.
func orNaN(v probe.Opt[float64]) float64 {
	if !v.OK {
		return math.NaN()
	}
	return v.V
}
