package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/bound"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/slo"
)

// Sizes of the bounded label sets. A test compares them with the lists.
const (
	kinds  = 2
	phases = 5
)

// job holds every series of one target and workload under one lock, so a scrape sees all of a
// turn or nothing of it.
type job struct {
	key probe.Key

	mu   sync.Mutex
	info fleet.Job
	// added is the number of the configuration, counted over all jobs.
	added uint64
	tally fleet.Tally
	turns [kinds]turnSeries
	answers
	lastTurn float64
	// phase holds the phases that have occurred: a target without TLS needs no series of a
	// handshake.
	phase    [phases]prometheus.Summary
	lag      prometheus.Summary
	slos     []sloCounters
	own      ownShare
	gateway  gatewaySeries
	sessions probe.SessionCounts
	backends *bound.Peak
}

// answers counts the odd answers of a job.
type answers struct {
	otherModel, contextCut float64
	// cutPrompt and cutPrevious are the prompt tokens of the last turn with a cut context, and of the turn before.
	cutPrompt, cutPrevious float64
	recalled               recalled
	finished               map[string]float64
}

// tokens counts tokens by the server's usage.
type tokens struct{ promptTokens, cachedTokens, cacheKnown, outputTokens, reasoningTokens float64 }

type turnSeries struct {
	tokens
	withoutAnswer, usageMissing, usageImpossible float64
	tpotUnknown                                  map[probe.TPOTUnknown]float64
	tokenEvents, coalesced                       float64

	// notJudged counts turns that an objective skipped because the prober was too late.
	notJudged float64
	// buffered counts turns whose tokens were held back on the way.
	buffered float64

	ttft, tpot, duration distribution
}

func newJob(key probe.Key, backends *bound.Peak) *job {
	j := &job{
		key:      key,
		backends: backends,
		lag:      newTotal(ScheduleLag),
		tally:    fleet.NewTally(),
		answers: answers{
			recalled: recalled{byClass: map[recallClass]map[recall.Result]float64{}}, finished: map[string]float64{},
		},
	}
	for _, reason := range probe.FinishReasons() {
		j.finished[reason] = 0
	}
	for i := range j.turns {
		t := &j.turns[i]
		t.tpotUnknown = map[probe.TPOTUnknown]float64{}
		t.ttft = distribution{total: newTotal(ttftWindow), histogram: newHistogram(ttft)}
		t.tpot = distribution{total: newTotal(tpotWindow), histogram: newHistogram(tpot)}
		t.duration = distribution{total: newTotal(turnDurationWindow)}
	}
	return j
}

func (j *job) configure(info fleet.Job, added uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info, j.added = info, added
	j.setSLOs(info.Objectives)
}

// setSLOs keeps the counters of objectives with the same name, even if their threshold changed.
// A counter that falls to 0 would look like a restart.
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

// observe adds an event to the job's series, unless the tally does not count it.
func (j *job) observe(e probe.Event, now time.Time) {
	if !j.tally.Observe(e) {
		return
	}
	if r, ok := e.(probe.Result); ok {
		j.turnEnded(&r, now)
	}
}

func (j *job) turnEnded(r *probe.Result, now time.Time) {
	t := &j.turns[r.Kind.Index()]
	t.usage(r)
	if r.IsOtherModel() {
		j.otherModel++
	}
	if r.ContextCut() {
		j.contextCut++
		j.cutPrompt, j.cutPrevious = float64(r.PromptTokens.V), float64(r.PreviousPrompt)
	}
	j.recalled.count(r.Recall)
	if !r.Outcome.Own() && r.FinishReason != "" {
		j.finished[j.finishLabel(r.FinishReason)]++
	}
	if !r.Outcome.Canceled() {
		j.lastTurn = unixSeconds(r.End)
	}
	if slices.ContainsFunc(j.slos, func(s sloCounters) bool { return s.objective.SkippedAsLate(r) }) {
		t.notJudged++
	}
	j.own.add(r.Outcome, now)
	for i := range j.slos {
		if !j.info.Planned(r.End) {
			j.slos[i].judge(r)
		}
	}
	t.observe(r, now)
	j.gateway.observe(r, j.silence(), j.backends)
	j.sessions.Count(r.Session, r.PromptTokens, r.CachedTokens)
	j.observePhases(&r.Phases)
	if !r.Scheduled.IsZero() && !r.Sent.IsZero() {
		j.lag.Observe(max(r.ScheduleLag(), 0).Seconds())
	}
}

// maxReasons bounds the finish reasons of a job that are counted by the server's name, maxReason their bytes.
const maxReasons, maxReason = 10, 64

// finishLabel returns the value of the label for a finish reason.
func (j *job) finishLabel(reason string) string {
	reason = bound.Clip(reason, maxReason)
	if _, known := j.finished[reason]; known || len(j.finished) < len(probe.FinishReasons())+maxReasons {
		return reason
	}
	return "others" // some servers have the reason "other"
}

// observe adds the turn to its distributions. The TTFT counts even if the turn failed later,
// because the user saw it. The duration of a failed turn only says when it was given up, so it
// does not count. Exemplars link slow turns to their traces.
func (t *turnSeries) observe(r *probe.Result, now time.Time) {
	if r.Outcome.OwnFault() || r.Outcome.Canceled() {
		return
	}
	if r.TTFT.OK {
		t.ttft.observe(r.TTFT.V, r.TraceID, now)
	}
	if r.TPOT.OK {
		t.tpot.observe(r.TPOT.V, r.TraceID, now)
	}
	if r.TPOTUnknown != "" {
		t.tpotUnknown[r.TPOTUnknown]++
	}
	if r.Outcome == probe.Success {
		t.duration.observe(r.Duration(), r.TraceID, now)
	}
}

// observePhases counts the phases that occurred, in the order of phaseNames.
func (j *job) observePhases(p *probe.Phases) {
	for i, d := range [phases]probe.Opt[time.Duration]{p.DNS, p.Connect, p.TLS, p.Headers, p.FirstEvent} {
		if !d.OK {
			continue
		}
		if j.phase[i] == nil {
			j.phase[i] = newTotal(PhaseDuration)
		}
		j.phase[i].Observe(d.V.Seconds())
	}
}

func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}

type sloCounters struct {
	objective slo.Objective
	// The index is that of the kind of turn.
	turns, violations [kinds]float64
	missing           missing
}

// usage counts tokens, also tokens of canceled turns, because they were spent. The value of an
// unknown number is 0.
func (t *turnSeries) usage(r *probe.Result) {
	t.promptTokens += float64(r.PromptTokens.V)
	t.outputTokens += float64(r.OutputTokens.V)
	t.reasoningTokens += float64(r.ReasoningTokens.V)
	if r.CachedTokens.OK && r.PromptTokens.OK {
		t.cachedTokens += float64(r.CachedTokens.V)
		t.cacheKnown += float64(r.PromptTokens.V)
	}
	if r.NoAnswer {
		t.withoutAnswer++
	}
	switch {
	case r.UsageImpossible != "":
		t.usageImpossible++
	case r.UsageMissing:
		t.usageMissing++
	}
	t.tokenEvents += float64(r.Events)
	t.coalesced += float64(r.Coalesced)
	if r.Buffered {
		t.buffered++
	}
}

func (c *sloCounters) judge(r *probe.Result) {
	v := c.objective.Judge(r)
	if v == slo.NotJudged {
		return
	}
	k := r.Kind.Index()
	c.turns[k]++
	c.missing.add(r, v == slo.Bad)
	if v == slo.Bad {
		c.violations[k]++
	}
}

// recallClass is a place of a code.
type recallClass struct{ cached, depth string }

// recalled counts turns by result. Right and wrong ones have series of a class from its first turn on.
// Foreign ones have a single series, from the start of the job on: an alert sees only the increase of a
// series that exists.
type recalled struct {
	foreign float64
	byClass map[recallClass]map[recall.Result]float64
}

func (c *recalled) count(r probe.Recall) {
	switch r.Result {
	case "":
		return
	case recall.Foreign:
		c.foreign++
		return
	}
	class := recallClass{r.CachedState(), r.DepthClass()}
	if c.byClass[class] == nil {
		c.byClass[class] = map[recall.Result]float64{}
	}
	c.byClass[class][r.Result]++
}

func (c *recalled) gather(e *exposition, l labels) {
	add := func(result recall.Result, class recallClass, n float64) {
		e.add(RecallTurns, l.with(LabelResult, string(result)).with(labelCached, class.cached).with(labelDepth, class.depth), n)
	}
	unknown := probe.Recall{}
	add(recall.Foreign, recallClass{unknown.CachedState(), unknown.DepthClass()}, c.foreign)
	for _, cached := range probe.CachedStates() {
		for _, depth := range recall.Depths() {
			class := recallClass{cached, depth}
			if counts := c.byClass[class]; counts != nil {
				add(recall.Right, class, counts[recall.Right])
				add(recall.Wrong, class, counts[recall.Wrong])
			}
		}
	}
}
