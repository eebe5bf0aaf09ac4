package metrics

import (
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

// job holds every series of one workload sent to one target, under one lock:
// a scrape that holds it sees each turn either wholly or not at all.
type job struct {
	key probe.Key

	mu sync.Mutex
	counters
	spread       [kinds]turnHistograms
	phase        [phases]*histogram
	conversation *histogram
	lag, readLag *histogram
	slos         []*sloCounters
	regression   *regression.Job
	badTurns     [kinds]badTurn
	// retired says that no snapshot names the job any more: it goes once its
	// last conversation has ended.
	retired bool
}

// turnHistograms are the distributions of one kind of turn. The windows hold
// the last minute of those next to them.
type turnHistograms struct {
	ttft, answer, tpot, itl, duration      *histogram
	ttftWindow, tpotWindow, durationWindow sketch.Window
}

func newJob(key probe.Key, l *layouts) *job {
	j := &job{
		key:          key,
		conversation: newHistogram(l.conversation),
		lag:          newHistogram(l.lag),
		readLag:      newHistogram(l.lag),
		regression:   regression.NewJob(regression.Options{}),
	}
	for i := range j.phase {
		j.phase[i] = newHistogram(l.phase)
	}
	for i := range j.spread {
		j.spread[i] = turnHistograms{
			ttft: newHistogram(l.token), answer: newHistogram(l.answer),
			tpot: newHistogram(l.pace), itl: newHistogram(l.gap),
			duration: newHistogram(l.turn),
		}
	}
	return j
}

// setSLOs takes over the counters of objectives whose name it knows, even if
// their threshold changed: a counter that falls back to 0 would read as a
// restart, and one that goes on is right from the change on.
func (j *job) setSLOs(objectives []slo.Objective) {
	j.mu.Lock()
	defer j.mu.Unlock()
	known := map[string]*sloCounters{}
	for _, c := range j.slos {
		known[c.objective.Name] = c
	}
	j.slos = nil
	for _, o := range objectives {
		if !j.covered(o) {
			continue
		}
		c := known[o.Name]
		if c == nil {
			c = &sloCounters{}
		}
		c.objective = o
		j.slos = append(j.slos, c)
	}
}

func (j *job) covered(o slo.Objective) bool {
	for _, k := range probe.TurnKinds() {
		if o.Covers(j.key.Target, j.key.Workload, k) {
			return true
		}
	}
	return false
}

// observe takes an event into the job's series.
func (j *job) observe(e probe.Event, now time.Time) {
	switch e := e.(type) {
	case probe.Start:
		c := &j.turns[kindIndex(e.Kind)]
		c.started++
		c.inFlight++
	case probe.Result:
		j.turnEnded(&e, now)
	case probe.ConversationStart:
		j.started++
		j.inFlight++
	case probe.Conversation:
		j.conversationEnded(&e)
	case probe.Skip:
		if i := slices.Index(SkipReasons(), e.Reason); i >= 0 {
			j.skipped[i]++
		}
	}
}

// turnEnded counts a finished turn. A turn that never started here belongs to
// a job of the same name that was forgotten before: it is dropped, or turns in
// flight would become negative.
func (j *job) turnEnded(r *probe.Result, now time.Time) {
	c := &j.turns[kindIndex(r.Kind)]
	if c.inFlight == 0 {
		return
	}
	c.end(r.Outcome)
	c.usage(r)
	j.countFailed(r.Outcome)
	j.regression.Observe(r, now)
	if r.Outcome != probe.Canceled {
		j.lastTurn = unixSeconds(r.End)
	}
	var violated slo.SLI
	for _, s := range j.slos {
		if s.judge(r) == slo.Bad && violated == "" {
			violated = s.objective.SLI
		}
	}
	if why := j.whyBad(r, violated, now); why != "" {
		j.badTurns[kindIndex(r.Kind)].take(r, why, now)
	}
	j.spread[kindIndex(r.Kind)].observe(r, now)
	j.observePhases(&r.Phases)
	j.observeLags(r)
}

// observe enters the turn into the distributions it belongs to. The time to
// first token of a turn that failed later is what its user saw, so it counts;
// the duration of a failed turn says when it was given up, so it does not.
func (t *turnHistograms) observe(r *probe.Result, now time.Time) {
	for _, gap := range r.Gaps {
		t.itl.observe(gap)
	}
	if r.Outcome == probe.Canceled {
		return
	}
	if r.TTFT.OK {
		t.ttft.trace(r.TTFT.V, r.TraceID, r.End)
		t.ttftWindow.Add(now, r.TTFT.V.Seconds())
	}
	if r.AnswerTTFT.OK {
		t.answer.observe(r.AnswerTTFT.V)
	}
	if r.TPOT.OK {
		t.tpot.trace(r.TPOT.V, r.TraceID, r.End)
		t.tpotWindow.Add(now, r.TPOT.V.Seconds())
	}
	if r.Outcome == probe.Success {
		t.duration.trace(r.Duration(), r.TraceID, r.End)
		t.durationWindow.Add(now, r.Duration().Seconds())
	}
}

// observePhases counts the phases that happened, in the order of Phases.
func (j *job) observePhases(p *probe.Phases) {
	for i, d := range [phases]probe.Opt[time.Duration]{p.DNS, p.Connect, p.TLS, p.Headers, p.FirstEvent} {
		if d.OK {
			j.phase[i].observe(d.V)
		}
	}
}

// observeLags counts how late the prober was. Without kernel timestamps the
// read lag is unknown, which is not 0.
func (j *job) observeLags(r *probe.Result) {
	if !r.Scheduled.IsZero() && !r.Sent.IsZero() {
		j.lag.observe(r.ScheduleLag())
	}
	if r.Kernel && r.Events > 0 {
		j.readLag.observe(r.ReadLagMax)
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
	case c.Outcome == probe.Success:
		j.conversation.observe(c.End.Sub(c.Scheduled))
	case c.Outcome == probe.Canceled:
		j.canceled++
	default:
		j.failed++
	}
}

// idle says that nothing is in flight.
func (j *job) idle() bool {
	return j.inFlight == 0 && j.turns[0].inFlight == 0 && j.turns[1].inFlight == 0
}

func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}
