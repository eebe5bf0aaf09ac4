package baseline

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

// Job holds the baselines of one workload sent to one target. It is not safe for concurrent
// use.
type Job struct {
	timeouts workload.Timeouts
	changes  []sink.Change
	// start is the first reading of the clock.
	start  time.Time
	series [kinds][signals]series
	// relearned is the end of the last change that discarded the baselines.
	relearned time.Time
	// minute of the last evaluation.
	minute int64
	// ticketSince is the minute since which a ticket or a page is up; 0 if none is.
	ticketSince int64
	parts       [kinds]parts
	cached      [kinds]cached
}

// NewJob returns a Job without history.
func NewJob(o Options) *Job {
	j := &Job{}
	j.Configure(o)
	return j
}

// Configure changes the options and keeps what was learned.
func (j *Job) Configure(o Options) {
	j.timeouts, j.changes = o.Timeouts, o.Changes
	if o.Policy == (sink.Policy{}) {
		o.Policy = sink.DefaultPolicy()
	}
	for k := range j.series {
		for i := range j.series[k] {
			s := &j.series[k][i]
			if o.Benchmarks[k][i].Typical != s.benchmark.Typical {
				s.judgeAnew()
				s.calibrated = 0
			}
			s.signal, s.policy, s.limited = i, o.Policy, 0
			s.offset = int32((k*signals + i) * slots / (kinds * signals))
			s.threshold, s.budget, s.benchmark = o.Thresholds[k][i], o.Budgets[k][i], o.Benchmarks[k][i]
		}
	}
}

// wall returns the wall time of a clock reading in UTC. It adds the monotonic time to the first
// reading, so steps of the wall clock have no effect.
func (j *Job) wall(now time.Time) time.Time {
	if j.start.IsZero() {
		j.start = now
	}
	return j.start.UTC().Round(0).Add(now.Sub(j.start))
}

// Observe adds a finished turn, also if it is late or comes after a step of the clock.
func (j *Job) Observe(r *probe.Result, now time.Time) {
	if r.Outcome.Own() {
		return
	}
	at := j.wall(now)
	changing := j.change(at)
	j.pass(at)
	k := r.Kind.Index()
	values := valuesOf(r, j.timeouts)
	for i, v := range values {
		if values[i].OK = v.OK && !j.tooLate(r, i, v.V, at); values[i].OK {
			j.series[k][i].observe(logSeconds(v.V), r.Outcome.Failed(), changing, r.Burst, at)
		} else if r.Outcome.Failed() && !r.Burst {
			j.series[k][i].fail(at)
		}
	}
	if values[0].OK {
		known := *r
		known.TPOT.OK = r.TPOT.OK && values[1].OK
		j.parts[k].observe(&known, values, now, j.isQuiet(k))
	}
	if !r.Burst {
		j.cached[k].observe(r, at, changing || !j.isQuiet(k))
	}
}

// pass closes the minutes before at.
func (j *Job) pass(at time.Time) {
	minute := minuteOf(at)
	if minute == j.minute {
		return
	}
	j.minute = minute
	for k := range j.series {
		for i := range j.series[k] {
			j.series[k][i].pass(at)
		}
	}
	j.closeIncident()
	j.expireTickets(minute)
}

// ticketMinutes is how long a ticket stays up, and a page of less than twice the baseline that
// violates no objective. After that the level is known, and only a higher one is reported.
const ticketMinutes = 110

// expireTickets ends tickets and mild pages that have been up for ticketMinutes.
func (j *Job) expireTickets(minute int64) {
	if !j.anySeries((*series).regressed) {
		j.ticketSince = 0
		return
	}
	if j.ticketSince == 0 {
		j.ticketSince = minute
	}
	if minute-j.ticketSince < ticketMinutes || j.anySeries((*series).urgent) {
		return
	}
	j.ticketSince = 0
	for k := range j.series {
		for i := range j.series[k] {
			j.series[k][i].closeTicket()
		}
	}
}

// anySeries reports whether match is true for any signal.
func (j *Job) anySeries(match func(*series) bool) bool {
	for k := range j.series {
		for i := range j.series[k] {
			if match(&j.series[k][i]) {
				return true
			}
		}
	}
	return false
}

// closeIncident ends an incident in all signals at once: the windows of several signals may
// contain the same incident, which is reported once.
func (j *Job) closeIncident() {
	since, paged := int64(0), false
	for k := range j.series {
		for i := range j.series[k] {
			s := &j.series[k][i]
			if s.lastIncidentStart > 0 && (since == 0 || s.lastIncidentStart < since) {
				since = s.lastIncidentStart
			}
			paged = paged || s.lastIncidentPaged
		}
	}
	up := (*series).regressed
	if paged {
		up = func(s *series) bool { return s.page.Up }
	}
	if since == 0 || j.anySeries(up) {
		return
	}
	for k := range j.series {
		for i := range j.series[k] {
			s := &j.series[k][i]
			s.lastIncidentStart, s.lastIncidentPaged = 0, false
			s.ignoreSince(since)
			if paged {
				s.quiet = j.minute + quietMinutes
			}
		}
	}
}

// quietMinutes after a page, only a clearly new level pages again.
const quietMinutes = 30

// TooLate reports whether the prober may have added more to a signal of the turn than a
// comparison with the baseline can bear.
func (j *Job) TooLate(r *probe.Result, signal int, now time.Time) bool {
	v := valuesOf(r, j.timeouts)[signal]
	return j.tooLate(r, signal, v.V, j.wall(now))
}

// tooLate is TooLate for a value at a wall time. Without a baseline the value itself replaces
// it.
func (j *Job) tooLate(r *probe.Result, signal int, value time.Duration, at time.Time) bool {
	usual, ok := j.usual(r.Kind.Index(), signal, at)
	if !ok {
		usual = value
	}
	return late(r, signal, usual)
}

// late reports whether the prober may have added more to a signal than a comparison with usual
// can bear.
func late(r *probe.Result, signal int, usual time.Duration) bool {
	if sink.Signals()[signal] == sink.TPOT {
		return r.Lag > lag.MaxTolerance || r.TokenLag() > usual/10
	}
	return r.Lag > lag.Tolerance(usual)
}

// Tolerance returns the longest delay of the prober that a comparison can bear, and false
// without a baseline. It is the delay of a time to first token; for the time per output token
// it is the most that delay can add.
func (j *Job) Tolerance(kind, signal int, now time.Time) (time.Duration, bool) {
	if sink.Signals()[signal] == sink.TPOT {
		return lag.MaxTolerance, true
	}
	usual, ok := j.usual(kind, signal, j.wall(now))
	return lag.Tolerance(usual), ok
}

// usual returns the value that a signal is compared with at a wall time.
func (j *Job) usual(kind, signal int, at time.Time) (time.Duration, bool) {
	ln, ok := j.series[kind][signal].reference(at)
	return time.Duration(math.Exp(ln) * float64(time.Second)), ok
}

// isQuiet reports whether no signal of a kind of turn is up or about to be.
func (j *Job) isQuiet(kind int) bool {
	for i := range j.series[kind] {
		if s := &j.series[kind][i]; s.regressed() || s.onset.Since > 0 {
			return false
		}
	}
	return true
}

// Score returns how near the job is to its next page. Signals that already page do not count.
func (j *Job) Score(now time.Time) float64 {
	j.pass(j.wall(now))
	highest := 0.0
	for k := range j.series {
		for i := range j.series[k] {
			p := &j.series[k][i].page
			if p.Up {
				return 0
			}
			highest = max(highest, p.score)
		}
	}
	return highest
}

// View returns the state of a signal, by index of probe.TurnKinds and sink.Signals.
func (j *Job) View(kind, signal int, now time.Time) View {
	at := j.wall(now)
	j.pass(at)
	return j.series[kind][signal].view(at)
}

// Parts returns by how many seconds each part of a turn exceeds its baseline, by index of
// Parts.
func (j *Job) Parts(kind int) [partCount]float64 { return j.parts[kind].excess() }

// CachedBaseline returns the usual share of cached prompt tokens, NaN if unknown.
func (j *Job) CachedBaseline(kind int, now time.Time) float64 {
	return j.cached[kind].usual(j.wall(now))
}
