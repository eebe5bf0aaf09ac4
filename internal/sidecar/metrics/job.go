package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

// job holds every series of one workload sent to one target, under one lock:
// a scrape that holds it sees each turn either wholly or not at all.
type job struct {
	key probe.Key

	mu   sync.Mutex
	info sink.Job
	// added orders the configurations that jobs were given.
	added uint64
	counters
	turns [kinds]turnSeries
	// phase has those that ever happened: a target without TLS has no use for the
	// series of its handshake.
	phase        [phases]prometheus.Histogram
	conversation prometheus.Histogram
	lag, readLag prometheus.Histogram
	slos         []sloCounters
	own          ownShare
}

// turnSeries are the series of one kind of turn.
type turnSeries struct {
	turnCounters
	ttft, tpot, duration distribution
	answer, itl          prometheus.Histogram
	bad                  badTurn
}

// distribution is a histogram with the last minute of its values.
type distribution struct {
	histogram prometheus.Histogram
	window    sketch.Window
}

func newJob(key probe.Key) *job {
	j := &job{
		key:          key,
		conversation: newHistogram(ConversationDuration),
		lag:          newHistogram(ScheduleLag),
		readLag:      newHistogram(ReadLag),
		counters: counters{
			skipped: map[string]float64{}, bursts: map[string]float64{},
			compared: map[probe.Verdict]float64{}, odd: map[answers.Reason]float64{},
		},
	}
	for i := range j.turns {
		t := &j.turns[i]
		t.outcomes = map[probe.Outcome]float64{}
		t.ttft.histogram, t.answer = newHistogram(TTFT), newHistogram(AnswerTTFT)
		t.tpot.histogram, t.itl = newHistogram(TPOT), newHistogram(ITL)
		t.duration.histogram = newHistogram(TurnDuration)
	}
	return j
}

// configure takes over what is said of the job.
func (j *job) configure(info sink.Job, added uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info, j.added = info, added
	j.setSLOs(info.Objectives)
}

// setSLOs takes over the counters of objectives whose name it knows, even if
// their threshold changed: a counter that falls back to 0 would read as a
// restart, and one that goes on is right from the change on.
func (j *job) setSLOs(objectives []slo.Objective) {
	known := j.slos
	j.slos = make([]sloCounters, len(objectives))
	for i, o := range objectives {
		if at := slices.IndexFunc(known, func(c sloCounters) bool { return c.objective.Name == o.Name }); at >= 0 {
			j.slos[i] = known[at]
		}
		j.slos[i].objective = o
	}
}

// observe takes an event into the job's series.
func (j *job) observe(e probe.Event, now time.Time, baselines *baseline.Tracker) {
	switch e := e.(type) {
	case probe.Start:
		t := &j.turns[e.Kind.Index()]
		t.started++
		t.inFlight++
	case probe.Result:
		j.turnEnded(&e, now, baselines)
	case probe.ConversationStart:
		j.started++
		j.inFlight++
	case probe.Conversation:
		j.conversationEnded(&e)
	case probe.Skip:
		j.skipped[e.Reason]++
	case probe.Paced:
		j.paced(e)
	case probe.Comparison:
		j.compared[e.Verdict]++
	}
}

// paced takes another rate.
func (j *job) paced(p probe.Paced) {
	j.rate = 0
	if p.Why != "" {
		j.rate = p.Rate
		j.bursts[p.Why]++
	}
}

// turnEnded counts a finished turn. A turn that never started here belongs to
// a job of the same name that was removed before: it is dropped, or turns in
// flight would become negative.
func (j *job) turnEnded(r *probe.Result, now time.Time, baselines *baseline.Tracker) {
	t := &j.turns[r.Kind.Index()]
	if t.inFlight == 0 {
		return
	}
	t.end(r.Outcome)
	t.usage(r)
	j.odd[r.Odd]++
	if !r.Outcome.Canceled() {
		j.lastTurn = unixSeconds(r.End)
	}
	if slices.ContainsFunc(j.slos, func(s sloCounters) bool { return s.objective.SkippedAsLate(*r) }) {
		t.notJudged++
	}
	j.own.add(r.Outcome, now)
	var violated slo.SLI
	for i := range j.slos {
		if s := &j.slos[i]; s.judge(r) == slo.Bad && violated == "" {
			violated = s.objective.SLI
		}
	}
	if why := whyBad(r, violated, baselines); why != "" {
		t.bad.take(r, why, now)
	}
	t.observe(r, now)
	j.observePhases(&r.Phases)
	j.observeLags(r)
}

// observe enters the turn into the distributions it belongs to. The time to
// first token of a turn that failed later is what its user saw, so it counts;
// the duration of a failed turn says when it was given up, so it does not. A
// person would want to see a slow turn's trace, so there are exemplars.
func (t *turnSeries) observe(r *probe.Result, now time.Time) {
	if r.Outcome.OwnFault() {
		return
	}
	for _, gap := range r.Gaps {
		observe(t.itl, gap, nil)
	}
	if r.Outcome.Canceled() {
		return
	}
	var trace prometheus.Labels
	if r.TraceID != "" {
		trace = prometheus.Labels{LabelTraceID: r.TraceID}
	}
	if r.TTFT.OK {
		t.ttft.observe(r.TTFT.V, trace, now)
	}
	if r.AnswerTTFT.OK {
		observe(t.answer, r.AnswerTTFT.V, nil)
	}
	if r.TPOT.OK {
		t.tpot.observe(r.TPOT.V, trace, now)
	}
	if r.Outcome == probe.Success {
		t.duration.observe(r.Duration(), trace, now)
	}
}

func (d *distribution) observe(v time.Duration, trace prometheus.Labels, now time.Time) {
	observe(d.histogram, v, trace)
	d.window.Add(now, v.Seconds())
}

// observePhases counts the phases that happened, in the order of Phases.
func (j *job) observePhases(p *probe.Phases) {
	for i, d := range [phases]probe.Opt[time.Duration]{p.DNS, p.Connect, p.TLS, p.Headers, p.FirstEvent} {
		if !d.OK {
			continue
		}
		if j.phase[i] == nil {
			j.phase[i] = newHistogram(PhaseDuration)
		}
		observe(j.phase[i], d.V, nil)
	}
}

// observeLags counts how late the prober was. Without kernel timestamps the
// read lag is unknown, which is not 0.
func (j *job) observeLags(r *probe.Result) {
	if !r.Scheduled.IsZero() && !r.Sent.IsZero() {
		observe(j.lag, r.ScheduleLag(), nil)
	}
	if r.Kernel && r.Events > 0 {
		observe(j.readLag, r.ReadLagMax, nil)
	}
}

// conversationEnded counts a finished conversation; one that never started
// here is dropped, as such turns are.
func (j *job) conversationEnded(c *probe.Conversation) {
	if j.inFlight == 0 {
		return
	}
	j.ended++
	j.inFlight--
	j.userErrors += float64(c.UserErrors)
	switch {
	case c.Shortened: // whose duration is not that of the others
		j.shortened++
	case c.Outcome == probe.Success:
		observe(j.conversation, c.End.Sub(c.Scheduled), nil)
	case c.Outcome.Own():
		j.canceled++
	default:
		j.failed++
	}
}

func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}
