package baseline

import (
	"iter"
	"math"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

// job holds the baselines of one workload sent to one target. Its methods need its lock.
type job struct {
	key probe.Key

	mu       sync.Mutex
	failures failureRun

	timeouts workload.Timeouts
	changes  []sink.Change
	hours    workload.Hours
	// start is the first reading of the clock.
	start  time.Time
	series [kinds][signals]series
	// relearned is the end of the last change that discarded the baselines.
	relearned time.Time
	// minute of the last evaluation.
	minute int64
	// ticketSince is the minute since which a ticket or a page is up; 0 if neither is.
	ticketSince int64
	parts       [kinds]parts
	cached      [kinds]cached
	firstCached firstCached
}

func newJob(key probe.Key, o options) *job {
	j := &job{key: key}
	j.configure(o)
	return j
}

func (j *job) all() iter.Seq[*series] {
	return func(yield func(*series) bool) {
		for k := range j.series {
			for i := range j.series[k] {
				if !yield(&j.series[k][i]) {
					return
				}
			}
		}
	}
}

// configure changes the options and keeps what was learned.
func (j *job) configure(o options) {
	j.timeouts, j.changes, j.hours = o.Timeouts, o.Changes, o.Hours
	if o.Policy == (sink.Policy{}) {
		o.Policy = sink.DefaultPolicy()
	}
	for k := range j.series {
		j.cached[k].zone = o.Location
		j.cached[k].baseline.setZone(o.Location)
		for i := range j.series[k] {
			s := &j.series[k][i]
			s.zone = o.Location
			if s.baseline.setZone(o.Location) {
				s.refill()
			}
			s.signal, s.policy, s.limited = i, o.Policy, 0
			s.offset = int32((k*signals + i) * slots / (kinds * signals))
			s.threshold, s.budget = o.Thresholds[k][i], o.Budgets[k][i]
		}
	}
}

// wall returns the wall time of a clock reading in UTC. It adds the monotonic time to the first
// reading, so steps of the wall clock have no effect.
func (j *job) wall(now time.Time) time.Time {
	if j.start.IsZero() {
		j.start = now
	}
	return j.start.UTC().Round(0).Add(now.Sub(j.start))
}

// observe adds a finished turn, also if it is late or comes after a step of the clock.
func (j *job) observe(r *probe.Result, now time.Time) {
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
			j.series[k][i].observe(turn{
				ln: logSeconds(v.V), size: j.sizeOf(r, i), failed: r.Outcome.Failed(), changing: changing, extra: r.Burst,
			}, at)
		} else if r.Outcome.Failed() && !r.Burst {
			j.series[k][i].fail(at)
		}
	}
	if values[0].OK {
		inTime := *r
		inTime.TPOT.OK = r.TPOT.OK && values[1].OK
		j.parts[k].observe(&inTime, values, now, j.isQuiet(k), j.series[k][0].usualOf(j.sizeOf(r, 0), at))
	}
	if unusual := changing || !j.isQuiet(k); !r.Burst {
		j.cached[k].observe(r, at, unusual)
		if !unusual {
			j.firstCached.add(r)
		}
	}
}

// pass closes the minutes before at.
func (j *job) pass(at time.Time) {
	minute := minuteOf(at)
	if minute == j.minute {
		return
	}
	j.minute = minute
	paged := j.anySeries((*series).paging)
	patient, breached := j.isPatient(), j.anySeries((*series).violatesObjective)
	for s := range j.all() {
		s.patient, s.breached = patient, breached
		if s.pass(at); s.paging() && !paged {
			s.calendar.page(minute)
			paged = true
		}
	}
	if breached {
		j.confirmPages()
	}
	j.closeIncident()
	j.expireTickets(minute)
}

// confirmPages marks the pages of the incident in progress as real, whichever signal paged first.
func (j *job) confirmPages() {
	first := int64(0)
	for s := range j.all() {
		if s.page.Up && (first == 0 || s.page.Began < first) {
			first = s.page.Began
		}
	}
	for s := range j.all() {
		if first > 0 {
			s.calendar.confirm(first)
		}
	}
}

// isPatient reports whether the job has had its false pages: as many pages in 30 days that violated no
// objective, and at least one.
func (j *job) isPatient() bool {
	had, accepted := 0.0, 1.0
	for s := range j.all() {
		had += s.calendar.unconfirmed(j.minute-30*24*60, j.minute)
		accepted = max(accepted, s.policy.FalsePages)
	}
	return had >= accepted
}

// ticketMinutes is how long a ticket stays up, and a page of less than twice the baseline that
// violates no objective. After that the level is known, and only a higher one is reported.
const ticketMinutes = 110

// expireTickets ends tickets and mild pages that have been up for ticketMinutes.
func (j *job) expireTickets(minute int64) {
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
	paged := j.anySeries((*series).paging)
	for s := range j.all() {
		s.closeTicket(paged)
	}
}

func (j *job) anySeries(match func(*series) bool) bool {
	for s := range j.all() {
		if match(s) {
			return true
		}
	}
	return false
}

// closeIncident ends an incident in all signals at once: the windows of several signals may
// contain the same incident, which is reported once.
func (j *job) closeIncident() {
	since, paged := int64(0), false
	for s := range j.all() {
		if s.lastIncidentStart > 0 && (since == 0 || s.lastIncidentStart < since) {
			since = s.lastIncidentStart
		}
		paged = paged || s.lastIncidentPaged
	}
	isUp := (*series).regressed
	if paged {
		isUp = (*series).paging
	}
	if since == 0 || j.anySeries(isUp) {
		return
	}
	for s := range j.all() {
		s.lastIncidentStart, s.lastIncidentPaged = 0, false
		s.ignoreSince(since)
	}
}

// tooLate reports whether the prober may have added more to the value of a signal than a
// comparison with the baseline can bear. Without a baseline the value itself replaces it.
func (j *job) tooLate(r *probe.Result, signal int, value time.Duration, at time.Time) bool {
	s := &j.series[r.Kind.Index()][signal]
	if ln, ok := s.reference(at); ok {
		value = time.Duration(math.Exp(ln+s.size.effect(j.sizeOf(r, signal))) * float64(time.Second))
	}
	return late(r, signal, value)
}

// late reports whether the prober may have added more to a signal than a comparison with usual
// can bear.
func late(r *probe.Result, signal int, usual time.Duration) bool {
	if sink.Signals()[signal] == sink.TPOT {
		return r.Lag > lag.MaxTolerance || r.TokenLag() > usual/10
	}
	return r.Lag > lag.Tolerance(usual)
}

// isQuiet reports whether no signal of a kind of turn has a page, a ticket or an onset.
func (j *job) isQuiet(kind int) bool {
	for i := range j.series[kind] {
		if s := &j.series[kind][i]; s.regressed() || s.onset.Since > 0 {
			return false
		}
	}
	return true
}

// score returns how near the job is to its next page. Signals that already page do not count.
func (j *job) score(now time.Time) float64 {
	j.pass(j.wall(now))
	if j.paging() {
		return 0
	}
	highest := 0.0
	for s := range j.all() {
		highest = max(highest, s.page.score)
	}
	return highest
}

// paging reports whether a signal of the job pages.
func (j *job) paging() bool {
	for s := range j.all() {
		if s.page.Up {
			return true
		}
	}
	return false
}

// change reports whether a change window is open. When a window with Relearn has ended, it
// discards the baselines, also if no process ran at that time.
func (j *job) change(at time.Time) bool {
	open := false
	for _, c := range j.changes {
		if c.Relearn && !at.Before(c.To) && c.To.After(j.relearned) {
			j.relearned = c.To
			j.forget()
		}
		open = open || c.Covers(at)
	}
	return open
}

// planned reports whether a time is planned downtime.
func (j *job) planned(at time.Time) bool { return j.change(at) || !j.hours.Cover(at) }

func (j *job) forget() {
	for s := range j.all() { // the measured noise stays
		s.baseline, s.calendar, s.size = nil, calendar{}, sizeLine{}
		s.judgeAnew()
	}
	for k := range kinds {
		j.parts[k].usual, j.cached[k].baseline = means{}, nil
	}
}
