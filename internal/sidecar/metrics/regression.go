package metrics

import (
	"math"
	"strconv"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// setRegression takes over what is said of a job's baselines.
func (j *job) setRegression() {
	o := baseline.Options{Timeouts: j.info.Workload.Timeouts, Changes: j.info.Changes, Policy: j.info.Policy}
	if b := j.info.Benchmark; b != nil {
		o.Benchmarks = b.Figures
	}
	for k, kind := range probe.TurnKinds() {
		for i, sli := range []slo.SLI{slo.TTFT, slo.TPOT} { // as regression.Signals
			o.Thresholds[k][i], o.Budgets[k][i] = strictest(j.info.Objectives, sli, j.key, kind)
		}
	}
	j.regression.Configure(o)
}

// strictest is the lowest threshold of the objectives on an SLI that cover such
// turns, and the share of turns that may be beyond; 0 for none.
func strictest(objectives []slo.Objective, sli slo.SLI, key probe.Key, kind probe.TurnKind) (lowest time.Duration, budget float64) {
	for _, o := range objectives {
		if o.SLI == sli && o.Covers(key.Target, key.Workload, kind) && (lowest == 0 || o.Threshold < lowest) {
			lowest, budget = o.Threshold, o.Budget()
		}
	}
	return lowest, budget
}

// Views are those of each signal, by index of probe.TurnKinds and of
// regression.Signals.
type Views [kinds][signals]baseline.View

// Views shows how the signals of a job compare with the usual, false for a job
// that is not known.
func (r *Recorder) Views(key probe.Key) (Views, bool) {
	j := r.locked(key)
	if j == nil {
		return Views{}, false
	}
	defer j.mu.Unlock()
	return j.views(r.options.Now()), true
}

// Excess says by how much each part of a job's turns takes longer than usual, in
// seconds, by index of probe.TurnKinds and of regression.Parts; zero for a job that
// is not there.
func (r *Recorder) Excess(key probe.Key) (out [2][4]float64) {
	r.mu.RLock()
	j := r.jobs[key]
	r.mu.RUnlock()
	if j == nil {
		return out
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for k := range out {
		out[k] = j.regression.Parts(k)
	}
	return out
}

func (j *job) views(now time.Time) (v Views) {
	for k := range v {
		for i := range v[k] {
			v[k][i] = j.regression.View(k, i, now)
		}
	}
	return v
}

// Sign is what was seen of a job that may be the first of a fault. Failures before
// a refusal for load are none: a burst would make the load worse.
func (r *Recorder) Sign(key probe.Key) workload.Sign {
	j := r.locked(key)
	if j == nil {
		return workload.Sign{}
	}
	defer j.mu.Unlock()
	seen := workload.Sign{Score: j.regression.Score(r.options.Now())}
	if j.failing {
		seen.Failed = int(j.consecutiveFailed)
	}
	return seen
}

// Baselines returns what must survive a restart, for regression.File.WriteFile.
func (r *Recorder) Baselines() baseline.File {
	now := r.options.Now()
	r.mu.RLock()
	defer r.mu.RUnlock()
	var f baseline.File
	for _, j := range r.sortedJobs() {
		j.mu.Lock()
		f.Jobs = append(f.Jobs, j.regression.State(j.key.Target, j.key.Workload, now))
		j.mu.Unlock()
	}
	for key, st := range r.restored {
		if r.options.Awaited(key.Target) {
			f.Jobs = append(f.Jobs, st)
		}
	}
	return f
}

// RestoreBaselines takes over what an earlier process knew. A job that is not
// there yet takes its part when it is added, as old as it is then.
func (r *Recorder) RestoreBaselines(f baseline.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.restored = make(map[probe.Key]baseline.JobState, len(f.Jobs))
	for _, j := range f.Jobs {
		r.restored[probe.Key{Target: j.Target, Workload: j.Workload}] = j
	}
	for _, j := range r.jobs {
		j.mu.Lock()
		r.restore(j)
		j.mu.Unlock()
	}
}

// restore gives a new job its part; the recorder's lock must be held, and the
// job's unless nobody else has it yet.
func (r *Recorder) restore(j *job) {
	if st, ok := r.restored[j.key]; ok {
		j.regression.Restore(st, r.options.Now())
		delete(r.restored, j.key)
	}
	r.recall(j)
}

// gatherRegression adds what the turns of a kind are compared with, and how they
// compare.
func (j *job) gatherRegression(e *exposition, l labels, k int) {
	for i, signal := range sink.Signals() {
		v, of := j.regression.View(k, i, e.now), l.with(LabelSignal, string(signal))
		e.addAll(of,
			value{SignalTurns, v.Turns}, value{SignalLog2, v.Log2}, value{SignalLog2Squared, v.Log2Squared},
			value{SignalBaselineLog2, v.BaselineLog2}, value{SignalTail, v.Tail}, value{TailLimit, v.TailSeconds},
			value{Baseline, v.Baseline}, value{BaselineYoung, truth(v.Young)}, value{BaselineTurns, v.Samples},
			value{BaselineNoise, v.Noise},
			value{PageScore, v.Page}, value{TicketScore, v.Ticket}, value{RegressionRatio, v.Ratio},
			value{RegressionSince, unixSeconds(v.Since)}, value{ExpectedFalsePages, v.Expected},
			value{RegressionHistory, v.History.Seconds()}, value{BaselineMoved, unixSeconds(v.Moved)})
		for n, size := range baseline.Sizes() {
			e.part(RegressionDelay, of, LabelRatio, strconv.FormatFloat(size, 'f', -1, 64), delaySeconds(v.Delay[n]))
		}
		for w, within := range []string{"15m", "1h"} {
			e.part(Detectable, of, LabelWithin, within, v.Detectable[w])
		}
	}
	excess := j.regression.Parts(k)
	for i, part := range baseline.Parts() {
		e.part(Excess, l, LabelPart, string(part), excess[i])
	}
	e.add(CachedBaseline, l, j.regression.CachedBaseline(k, e.now))
}

// delaySeconds is +Inf for what never comes, and NaN for what is not known.
func delaySeconds(d time.Duration) float64 {
	switch d {
	case baseline.Never:
		return math.Inf(1)
	case 0:
		return math.NaN()
	}
	return d.Seconds()
}
