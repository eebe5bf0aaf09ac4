package worlds

import (
	"time"

	"synthetic/internal/backtest"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
)

// watchedJob is a run of one job, and its state in each minute after the warm-up.
type watchedJob struct {
	key        runKey
	options    SimulationOptions
	deployment Deployment

	// judged is the end of the warm-up. The state of minute i is read at time(i).
	judged                time.Time
	pages, tickets, blind []bool
	// promised is the sum over the known minutes of the expected false pages in 30 days.
	promised, known float64
	turns           int
}

// time returns when the state of a minute was read.
func (w watchedJob) time(minute int) time.Time {
	return w.judged.Add(time.Duration(minute+1) * time.Minute)
}

func (w watchedJob) incidents() []backtest.Incident {
	return incidentsOf(w.deployment.Injections, w.options.Start)
}

// play plays the run into a tracker, and reads the job once a minute after the warm-up.
func (w *watchedJob) play(warmUp time.Duration) {
	start := w.options.Start
	now := start
	tracker := baseline.NewTracker(baseline.TrackerOptions{Now: func() time.Time { return now }})
	job := jobOf(w.deployment, w.options)
	tracker.Add(job)
	t := newTraffic(w.deployment, w.options, tracker)
	t.setNow = func(at time.Time) { now = at }
	t.probe(job, tracker)
	w.judged = start.Add(warmUp)
	blindFor := 0
	for at := time.Minute; at <= w.options.Length; at += time.Minute {
		t.advance(at)
		now = start.Add(at)
		if w.options.Judged {
			w.judge(tracker, now)
		}
		if at <= warmUp {
			continue
		}
		r, _ := tracker.Read(job.Key())
		s := stateOf(&r.Views)
		if blindFor++; !s.blind {
			blindFor = 0
		}
		w.pages, w.tickets = append(w.pages, s.page), append(w.tickets, s.ticket)
		w.blind = append(w.blind, blindFor > 60) // for: 1h
		if s.promised.OK {
			w.promised, w.known = w.promised+s.promised.V, w.known+1
		}
	}
	w.turns = t.turns
}

// judge confirms the pages of faults that ended in the last minute.
func (w *watchedJob) judge(tracker *baseline.Tracker, now time.Time) {
	for _, i := range w.incidents() {
		if ended := now.Sub(i.To); ended >= 0 && ended < time.Minute {
			tracker.Confirm(w.deployment.Target, i.From, now)
		}
	}
}

// jobState is what a job exports at one time.
type jobState struct {
	page, ticket bool
	// blind is the condition of SyntheticRegressionBlind.
	blind    bool
	promised probe.Opt[float64]
}

func stateOf(views *baseline.Views) (s jobState) {
	for k := range views {
		for i := range views[k] {
			v := &views[k][i]
			s.page, s.ticket = s.page || v.Page >= 1, s.ticket || v.Ticket >= 1
			within1h := v.Detectable[1]
			s.blind = s.blind || within1h.OK && within1h.V > 2 && v.History >= day
			if v.Expected.OK {
				s.promised = probe.Some(s.promised.V + v.Expected.V)
			}
		}
	}
	return s
}
