package watch

import (
	"cmp"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/cause"
	"synthetic/internal/slo"
)

const (
	kinds       = 2 // of probe.TurnKinds
	signalCount = 2 // of fleet.Signals
)

// job is one workload sent to one target. Its methods need its lock.
type job struct {
	key probe.Key

	mu       sync.Mutex
	failures failureRun
	moments  [kinds][signalCount]Moments
	signals  [signalCount]*signal
	parts    [kinds]cause.Comparison

	timeouts workload.Timeouts
	changes  []fleet.Change
	hours    workload.Hours
	// start is the first reading of the clock, minute the last evaluation.
	start  time.Time
	minute int64
	// relearned is the end of the last change that discarded what was usual.
	relearned time.Time
}

func newJob(info fleet.Job) *job {
	j := &job{key: info.Key()}
	for i := range j.signals {
		j.signals[i] = &signal{index: i}
	}
	j.configure(info)
	return j
}

func (j *job) any(match func(*signal) bool) bool { return slices.ContainsFunc(j.signals[:], match) }

// configure changes the options and keeps what was learned.
func (j *job) configure(info fleet.Job) {
	j.timeouts, j.changes, j.hours = info.Workload.Timeouts, info.Changes, info.Traffic.Hours
	for i, sli := range fleet.Signals() {
		s := j.signals[i]
		s.Limits.of = 0
		s.Usual.apart = apart(info.Key(), i)
		if s.policy = info.Policy; s.policy == (fleet.Policy{}) {
			s.policy = fleet.DefaultPolicy()
		}
		if s.Usual.in(info.Location) {
			s.refill()
		}
		for k, kind := range probe.TurnKinds() {
			s.objectives[k] = strictest(info.Objectives, sli, info.Key(), kind)
		}
	}
}

// apart returns by how many half hours the daily work of a signal differs from that of others, so that many jobs do not do it
// in the same minute.
func apart(key probe.Key, signal int) int32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, key.Target+"\x00"+key.Workload)
	return (int32(h.Sum32()%slots) + int32(signal*slots/signalCount)) % slots
}

// strictest returns the latency objective with the lowest threshold of those that cover turns of every size.
func strictest(objectives []slo.Objective, sli slo.SLI, key probe.Key, kind probe.TurnKind) objective {
	covering := slices.DeleteFunc(slices.Clone(objectives), func(o slo.Objective) bool {
		return o.SLI != sli || o.Sized() || !o.Covers(key.Target, key.Workload, kind)
	})
	if len(covering) == 0 {
		return objective{}
	}
	o := slices.MinFunc(covering, func(a, b slo.Objective) int { return cmp.Compare(a.Threshold, b.Threshold) })
	return objective{o.Threshold, o.Budget()}
}

// wall returns the wall time of a clock reading in UTC. It adds the monotonic time to the first reading, so steps of the
// wall clock have no effect.
func (j *job) wall(now time.Time) time.Time {
	if j.start.IsZero() {
		j.start = now
	}
	return j.start.UTC().Round(0).Add(now.Sub(j.start))
}

// observe adds a finished turn.
func (j *job) observe(r *probe.Result, now time.Time) {
	at := j.wall(now)
	if j.planned(at) {
		j.failures = failureRun{}
	} else {
		j.failures.add(r)
	}
	if r.Outcome.Own() {
		return
	}
	changing := j.change(at)
	j.pass(at)
	k := r.Kind.Index()
	values := valuesOf(r, j.timeouts)
	for i := range values {
		s, class, v := j.signals[i], classOf(k, sizeOf(r, i)), &values[i]
		if v.OK = v.OK && !s.tooLate(r, class, v.V, at); v.OK {
			if !r.Burst {
				j.moments[k][i].add(v.V)
			}
			s.observe(turn{ln: logSeconds(v.V), kind: k, class: class, failed: r.Outcome.Failed(), change: changing, burst: r.Burst}, at)
		} else if r.Outcome.Failed() && !r.Burst {
			s.fail(at)
		}
	}
	quiet := !changing && !r.Burst && !j.any(func(s *signal) bool { return !s.quiet() })
	if values[0].OK {
		turn := *r
		turn.TPOT.OK = r.TPOT.OK && values[1].OK
		j.parts[k].Observe(&turn, values, now, quiet)
	}
}

// sizeOf returns the tokens of a turn that say how long it takes, 0 if unknown. For the TTFT these are the tokens that the
// turn brings anew: the prompt, in follow-ups without the turns before. A lost prefix cache changes no size, because it is
// a regression. For the TPOT it is the whole prompt.
func sizeOf(r *probe.Result, signal int) int {
	switch {
	case !r.PromptTokens.OK, r.ContextCut(): // no usual size
		return 0
	case fleet.Signals()[signal] == slo.TPOT, r.Kind == probe.First:
		return max(1, r.PromptTokens.V)
	case !r.ContextTokens.OK:
		return 0
	}
	return max(1, r.PromptTokens.V-r.ContextTokens.V)
}

// tooLate reports whether the prober may have added more to a value than a comparison with the usual one can bear.
func (s *signal) tooLate(r *probe.Result, class int, value time.Duration, at time.Time) bool {
	if mean, known := s.Classes.mean(class); known && s.Usual.started() {
		value = time.Duration(math.Exp(mean+s.Usual.at(at)) * float64(time.Second))
	}
	if fleet.Signals()[s.index] == slo.TPOT {
		return r.Lag > lag.MaxTolerance || r.TokenLag() > value/10
	}
	return r.Lag > lag.Tolerance(value)
}

// pass closes the minutes before at.
func (j *job) pass(at time.Time) {
	if minute := minuteOf(at); minute != j.minute {
		j.minute = minute
		planned := j.planned(at)
		for _, s := range j.signals {
			if s.pass(at); planned {
				s.restart() // nothing pages in planned downtime, and a rise that began in it is new after it
			}
		}
	}
}

// paging reports whether a signal of the job pages.
func (j *job) paging() bool { return j.any(func(s *signal) bool { return s.Page.Up }) }

// score returns how near the job is to its next page, 0 while it pages.
func (j *job) score() (highest float64) {
	for _, s := range j.signals {
		if s.Page.Up {
			return 0
		}
		highest = max(highest, s.Page.Decision.Score)
	}
	return highest
}

// planned reports whether a time is planned downtime.
func (j *job) planned(at time.Time) bool { return j.change(at) || !j.hours.Cover(at) }

// change reports whether a change window is open. When a window with Relearn has ended, what was usual is discarded, also
// if no process ran at that time.
func (j *job) change(at time.Time) (open bool) {
	for _, c := range j.changes {
		if c.Relearn && !at.Before(c.To) && c.To.After(j.relearned) {
			j.relearned = c.To
			j.forget()
		}
		open = open || c.Covers(at)
	}
	return open
}

// forget discards what was usual.
func (j *job) forget() {
	for _, s := range j.signals {
		s.current, s.past = current{}, past{Usual: usual{zone: s.Usual.zone, apart: s.Usual.apart}}
		s.restart()
	}
	for k := range kinds {
		j.parts[k].Forget()
	}
}
