package baseline

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

// Job follows one workload that is sent to one target. It is not safe for
// concurrent use.
type Job struct {
	timeouts workload.Timeouts
	changes  []sink.Change
	// start is the first reading of the clock.
	start  time.Time
	series [kinds][signals]series
	// relearned is the end of the last change after which the baselines were
	// started anew.
	relearned time.Time
	// minute is that of the last look at the signals.
	minute int64
	// asked is the minute since which there is a ticket or a page, 0 while there is
	// none.
	asked  int64
	parts  [kinds]parts
	cached [kinds]cached
}

// NewJob returns a Job without history.
func NewJob(o Options) *Job {
	j := &Job{}
	j.Configure(o)
	return j
}

// Configure takes other options and keeps what was learned.
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

// wall is the wall time of a reading of the clock, in UTC. A step of that clock
// changes nothing: the date is that of the first reading, and what passes since
// is monotonic.
func (j *Job) wall(now time.Time) time.Time {
	if j.start.IsZero() {
		j.start = now
	}
	return j.start.UTC().Round(0).Add(now.Sub(j.start))
}

// Observe takes a finished turn. A turn that comes late or after a step of the
// clock is taken as any other.
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
		j.parts[k].observe(&known, values, now, j.calm(k))
	}
	if !r.Burst {
		j.cached[k].observe(r, at, changing || !j.calm(k))
	}
}

// pass closes the minutes that are over.
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
	j.settle()
	j.tell(minute)
}

// asksFor is for how many minutes a ticket asks, and a page of less than twice the
// usual that no objective minds. Then it has been said: the level is known, and only
// more than it is news.
const asksFor = 110

// tell ends the tickets, and the mild pages, of a job that have asked for long
// enough.
func (j *Job) tell(minute int64) {
	if !j.any((*series).regressed) {
		j.asked = 0
		return
	}
	if j.asked == 0 {
		j.asked = minute
	}
	if minute-j.asked < asksFor || j.any((*series).urgent) {
		return
	}
	j.asked = 0
	for k := range j.series {
		for i := range j.series[k] {
			j.series[k][i].told()
		}
	}
}

// any reports whether something is true of a signal.
func (j *Job) any(of func(*series) bool) bool {
	for k := range j.series {
		for i := range j.series[k] {
			if of(&j.series[k][i]) {
				return true
			}
		}
	}
	return false
}

// settle takes what is over for over in every signal: one incident may lie in the
// windows of all, and is told once.
func (j *Job) settle() {
	since, paged := int64(0), false
	for k := range j.series {
		for i := range j.series[k] {
			s := &j.series[k][i]
			if s.over > 0 && (since == 0 || s.over < since) {
				since = s.over
			}
			paged = paged || s.paged
		}
	}
	up := (*series).regressed
	if paged {
		up = func(s *series) bool { return s.page.Up }
	}
	if since == 0 || j.any(up) {
		return
	}
	for k := range j.series {
		for i := range j.series[k] {
			s := &j.series[k][i]
			s.over, s.paged = 0, false
			s.forgive(since)
			if paged {
				s.quiet = j.minute + quietMinutes
			}
		}
	}
}

// quietMinutes after a page only what is clearly new is another.
const quietMinutes = 30

// TooLate reports whether the prober itself may have added more to a signal of a
// turn, by index of Signals, than a comparison with the usual can bear.
func (j *Job) TooLate(r *probe.Result, signal int, now time.Time) bool {
	v := valuesOf(r, j.timeouts)[signal]
	return j.tooLate(r, signal, v.V, j.wall(now))
}

// tooLate is TooLate for a value at a wall time. Where nothing is usual yet the
// value itself stands in.
func (j *Job) tooLate(r *probe.Result, signal int, value time.Duration, at time.Time) bool {
	usual, ok := j.usual(r.Kind.Index(), signal, at)
	if !ok {
		usual = value
	}
	return late(r, signal, usual)
}

// late reports whether the prober itself may have added more to a signal of a turn
// than a comparison with usual can bear.
func late(r *probe.Result, signal int, usual time.Duration) bool {
	if sink.Signals()[signal] == sink.TPOT {
		return r.Lag > lag.MaxTolerance || r.TokenLag() > usual/10
	}
	return r.Lag > lag.Tolerance(usual)
}

// Tolerance is how much the prober itself may have added to a time to first token
// for a signal of a kind of turn, by index, to be compared with the usual; false
// where nothing is usual yet. For the pace between tokens that is the most.
func (j *Job) Tolerance(kind, signal int, now time.Time) (time.Duration, bool) {
	if sink.Signals()[signal] == sink.TPOT {
		return lag.MaxTolerance, true
	}
	usual, ok := j.usual(kind, signal, j.wall(now))
	return lag.Tolerance(usual), ok
}

// usual is what a signal is compared with at a wall time.
func (j *Job) usual(kind, signal int, at time.Time) (time.Duration, bool) {
	ln, ok := j.series[kind][signal].reference(at)
	return time.Duration(math.Exp(ln) * float64(time.Second)), ok
}

// calm says that no signal of a kind of turn is up, or on its way to it.
func (j *Job) calm(kind int) bool {
	for i := range j.series[kind] {
		if s := &j.series[kind][i]; s.regressed() || s.onset.Since > 0 {
			return false
		}
	}
	return true
}

// Score is how near the job is to a page that there is not yet, as of now: what is
// up needs no proof.
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

// View shows a signal of a kind of turn, by index of Signals and of
// probe.TurnKinds, as of now.
func (j *Job) View(kind, signal int, now time.Time) View {
	at := j.wall(now)
	j.pass(at)
	return j.series[kind][signal].view(at)
}

// Parts shows where the time of a kind of turn goes that it takes longer than
// usual, in seconds, by index of Parts.
func (j *Job) Parts(kind int) [partCount]float64 { return j.parts[kind].excess() }

// CachedBaseline is the usual share of prompt tokens that come from the prefix
// cache; NaN when it is not known.
func (j *Job) CachedBaseline(kind int, now time.Time) float64 {
	return j.cached[kind].usual(j.wall(now))
}
