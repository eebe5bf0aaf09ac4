package metrics

import (
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/sketch"
)

// jobFrame is the part of a frame that shows one job. The series point into
// its counters, which fill copies from the job's.
type jobFrame struct {
	job        *job
	labels     labels
	counters   counters
	slos       []*sloFrame
	histograms []*histogramFrame
	phases     [phases]*histogramFrame
	windows    []*windowFrame
	regression regressionFrame
	badTurns   [kinds]badTurnFrame
}

// sloFrame shows the counters of one objective.
type sloFrame struct {
	source, shown *sloCounters
}

// addJob lays out the series of a job.
func (f *frame) addJob(j *job) {
	jf := &jobFrame{
		job:    j,
		labels: labels{}.with(pair(LabelTarget, j.key.Target), pair(LabelWorkload, j.key.Workload)),
	}
	f.jobs = append(f.jobs, jf)
	for k := range j.spread {
		l := jf.labels.with(f.words.turns[k])
		f.addTurnCounters(l, &jf.counters.turns[k])
		f.addTurnHistograms(l, jf, &j.spread[k])
	}
	f.addConversations(jf)
	f.addHistogram(ConversationDuration, jf.labels, jf, j.conversation)
	f.addHistogram(ScheduleLag, jf.labels, jf, j.lag)
	f.addHistogram(ReadLag, jf.labels, jf, j.readLag)
	for i, h := range j.phase {
		jf.phases[i] = newHistogramFrame(jf.labels.with(f.words.phases[i]), h)
	}
	f.addSLOs(jf)
	f.addRegression(jf)
	f.layOutBadTurns(jf)
}

func (f *frame) addTurnCounters(l labels, c *turnCounters) {
	f.counter(TurnsStarted, l, &c.started)
	f.counter(Turns, l, &c.ended)
	f.gauge(TurnsInFlight, l, &c.inFlight)
	f.counter(TurnsCanceled, l, &c.canceled)
	for i, reason := range f.words.reasons {
		f.counter(TurnFailures, l.with(reason), &c.failures[i])
	}
	f.counter(PromptTokens, l, &c.promptTokens)
	f.counter(CachedPromptTokens, l, &c.cachedTokens)
	f.counter(CacheKnownPrompt, l, &c.cacheKnown)
	f.counter(OutputTokens, l, &c.outputTokens)
	f.counter(UsageMissing, l, &c.usageMissing)
	f.counter(TokenEvents, l, &c.tokenEvents)
	f.counter(CoalescedEvents, l, &c.coalesced)
}

func (f *frame) addTurnHistograms(l labels, jf *jobFrame, t *turnHistograms) {
	f.addHistogram(TTFT, l, jf, t.ttft)
	f.addHistogram(AnswerTTFT, l, jf, t.answer)
	f.addHistogram(TPOT, l, jf, t.tpot)
	f.addHistogram(ITL, l, jf, t.itl)
	f.addHistogram(TurnDuration, l, jf, t.duration)
	f.addWindow(TTFTWindow, l, jf, &t.ttftWindow, t.ttft)
	f.addWindow(TPOTWindow, l, jf, &t.tpotWindow, t.tpot)
	f.addWindow(TurnDurationWindow, l, jf, &t.durationWindow, t.duration)
}

func (f *frame) addConversations(jf *jobFrame) {
	l, c := jf.labels, &jf.counters
	f.counter(ConversationsStarted, l, &c.started)
	f.counter(Conversations, l, &c.ended)
	f.gauge(ConversationsInFlight, l, &c.inFlight)
	f.counter(ConversationFailures, l, &c.failed)
	f.counter(ConversationsCanceled, l, &c.canceled)
	for i, reason := range f.words.skips {
		f.counter(ConversationsSkipped, l.with(reason), &c.skipped[i])
	}
	f.counter(UserEndpointErrors, l, &c.userErrors)
	f.gauge(LastTurn, l, &c.lastTurn)
	f.gauge(ConsecutiveFailed, l, &c.consecutiveFailed)
}

// addSLOs adds the counters of each objective for the turns it covers.
func (f *frame) addSLOs(jf *jobFrame) {
	j := jf.job
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.slos {
		sf := &sloFrame{source: s, shown: &sloCounters{}}
		jf.slos = append(jf.slos, sf)
		for k, turn := range f.words.turns {
			if !s.objective.Covers(j.key.Target, j.key.Workload, kindOf(k)) {
				continue
			}
			l := jf.labels.with(turn, f.words.slo(s.objective.Name))
			f.counter(SLOTurns, l, &sf.shown.turns[k])
			f.counter(SLOViolations, l, &sf.shown.violations[k])
		}
	}
}

func (f *frame) addHistogram(name string, l labels, jf *jobFrame, h *histogram) {
	hf := newHistogramFrame(l, h)
	jf.histograms = append(jf.histograms, hf)
	f.add(name, &hf.metric)
}

func (f *frame) addWindow(name string, l labels, jf *jobFrame, w *sketch.Window, h *histogram) {
	wf := newWindowFrame(l, w, h)
	jf.windows = append(jf.windows, wf)
	f.add(name, &wf.metric)
}

// fill copies the job's state, all of it under one hold of its lock.
func (jf *jobFrame) fill(now time.Time, scratch *sketch.Sketch) {
	j := jf.job
	j.mu.Lock()
	defer j.mu.Unlock()
	jf.counters = j.counters
	for _, s := range jf.slos {
		s.shown.turns, s.shown.violations = s.source.turns, s.source.violations
	}
	for _, h := range jf.histograms {
		h.fill()
	}
	for _, h := range jf.phases {
		h.fill()
	}
	for _, w := range jf.windows {
		w.fill(now, scratch)
	}
	jf.regression.fill(j.regression, now)
	for k := range jf.badTurns {
		jf.badTurns[k].fill(&j.badTurns[k], now)
	}
}

// appendPhases adds the phases that ever happened: a target without TLS has no
// use for the series of its handshake.
func (jf *jobFrame) appendPhases(to []*dto.Metric) []*dto.Metric {
	for _, h := range jf.phases {
		if h.count > 0 {
			to = append(to, &h.metric)
		}
	}
	return to
}
