package status

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// Each job keeps at most 512 samples of 72 bytes, and at most 92 turns of about 900 bytes plus up to 512 bytes of
// error text: less than 200 kB.
const (
	samplesKept = 512
	// samplesAge is the age at which a sample is dropped. The page shows the last 15 minutes; an incident looks
	// back for its start.
	samplesAge    = time.Hour
	successesKept = 32
	// With many jobs each keeps fewer: successesOfAll divided by their number, and at least leastSuccesses.
	successesOfAll = 8000
	leastSuccesses = 8
	// Failed turns and foreign answers have a list of their own, so that many good turns do not push them
	// out.
	failuresKept = 60
	errorKept    = 512 // bytes of a turn's error text
	// sessionsKept bounds the conversations, of about 250 bytes. Only those that an objective judges are kept.
	sessionsKept = 128
)

// successesOf returns how many successful turns each of a number of jobs keeps.
func successesOf(jobs int) int {
	return min(max(successesOfAll/max(jobs, 1), leastSuccesses), successesKept)
}

type job struct {
	mu sync.Mutex
	// keeps is successesOf all jobs of the page.
	keeps *atomic.Int64

	hasEvents           bool
	info                sink.Job
	model               string // of the last request, "" before the first
	tally               sink.Tally
	spent               spent
	recalled            recallCounts
	samples             []sample
	sessions            []probe.Conversation
	successes, failures []*probe.Result
	last                *probe.Result // the last turn, except turns canceled by our own shutdown

	// minutes are the finished minutes; current is the minute in progress, whose latencies are
	// computed from the samples. compare returns the baselines; usual holds its result at the
	// end of the last minute.
	minutes day
	current minute
	compare func() (baseline.Reading, bool)
	usual   usualValues
}

// usualValues are the baselines of a job and the values above which a turn counts as slow, in seconds, by index of
// probe.TurnKinds and sink.Signals.
type usualValues [2][2]struct{ baseline, tail probe.Opt[float64] }

func usualOf(views baseline.Views) (out usualValues) {
	for k := range out {
		for i := range out[k] {
			out[k][i].baseline, out[k][i].tail = views[k][i].Baseline, views[k][i].UsualTail
		}
	}
	return out
}

// appendBounded appends a value and drops the oldest ones, so that at most limit are left. The slice has
// space for at most limit values.
func appendBounded[T any](values []T, v T, limit int) []T {
	if n := len(values); n >= limit {
		values = slices.Delete(values, 0, n-limit+1)
	}
	if n := len(values); n == cap(values) {
		values = append(make([]T, 0, min(limit, n+n/8+8)), values...)
	}
	return append(values, v)
}

// observe records an event, unless the tally does not count it.
func (j *job) observe(e probe.Event, now time.Time) (counted bool) {
	if !j.tally.Observe(e) {
		return false
	}
	j.hasEvents = true
	switch e := e.(type) {
	case probe.Result:
		j.turnEnded(e)
	case probe.Conversation:
		if slices.ContainsFunc(j.info.Objectives, func(o slo.Objective) bool { return o.JudgeSession(&e) != slo.NotJudged }) {
			j.sessions = appendBounded(j.sessions, e, sessionsKept)
		}
	case probe.Twin:
		j.spent.add(now, workload.Tokens{Prompt: float64(e.PromptTokens), Output: float64(e.OutputTokens)})
		if e.Cold == recall.Foreign {
			j.recalled.count(e.Cold)
		}
	}
	return true
}

func (j *job) turnEnded(r probe.Result) {
	s := sampleOf(r)
	j.recalled.count(r.Recall.Result)
	// Texts are most of a turn's size, and the page does not show them.
	r.Answer, r.Reasoning, r.Refusal, r.ToolCalls, r.Gaps = "", "", "", nil, nil
	r.Err = bound.Shorten(r.Err, errorKept)
	kept := &r
	j.spent.add(r.End, workload.Tokens{
		Prompt: float64(r.PromptTokens.V), Cached: float64(r.CachedTokens.V), Output: float64(r.OutputTokens.V),
	})
	if !r.Outcome.Canceled() {
		j.last = kept
	}
	if r.Outcome.Failed() || r.Recall.Result == recall.Foreign {
		j.failures = appendBounded(j.failures, kept, failuresKept)
	} else {
		j.successes = appendBounded(j.successes, kept, int(j.keeps.Load()))
	}
	if r.Outcome.Own() {
		return
	}
	j.model = cmp.Or(r.Model, j.model)
	j.finishMinute(minuteOf(r.End))
	j.current.count(s)
	oldest := s.end.Add(-samplesAge)
	for len(j.samples) > 0 && j.samples[0].end.Before(oldest) {
		j.samples = slices.Delete(j.samples, 0, 1)
	}
	j.samples = appendBounded(j.samples, s, samplesKept)
}

// finishMinute stores the minute in progress when a turn of a later minute comes.
func (j *job) finishMinute(now int32) {
	back := now < j.current.at-1 // the event of a turn may be a little late
	if now <= j.current.at && !back {
		return
	}
	if back { // the clock was set back: later minutes are wrong
		j.minutes.log.Cut(int64(now))
	} else if j.current.at > 0 {
		reading, _ := j.compare()
		j.usual = usualOf(reading.Views)
		m := j.currentMinute()
		j.minutes.put(m.at, m.row())
	}
	j.current = minute{at: now}
}

// minutesIn returns the minutes of a time range, including the minute in progress.
func (j *job) minutesIn(s span) []minute {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.minutes.between(s.from, s.to)
	if j.current.at > 0 && !j.current.start().After(s.to) {
		out = append(out, j.currentMinute())
	}
	return out
}

// score returns how bad a turn is: the ratio of its latencies to their baselines, and a larger
// value for a failure or a foreign answer.
func (j *job) score(r probe.Result) float64 {
	if r.Outcome.Failed() || r.Recall.Result == recall.Foreign {
		return 1e6 + r.Duration().Seconds()
	}
	highest := 0.0
	for i, d := range []probe.Opt[time.Duration]{r.TTFT, r.TPOT} {
		if usual := j.usual[r.Kind.Index()][i].baseline; d.OK && usual.OK {
			highest = max(highest, d.V.Seconds()/usual.V)
		}
	}
	return highest
}

// past is the history of a job before an alert.
type past struct {
	effect effect
	// start of the current series of failures; zero without one
	failing  time.Time
	samples  []sample
	sessions []probe.Conversation
	turns    []scored
	// the job with its objectives
	key        probe.Key
	objectives []slo.Objective
}

// oneFault is the longest time between two failures of one fault.
const oneFault = 2 * time.Minute

func (j *job) past(now time.Time) past {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, last := past{samples: slices.Clone(j.samples), sessions: slices.Clone(j.sessions), key: j.info.Key(), objectives: j.info.Objectives}, now
	for _, r := range slices.Backward(j.failures) {
		if !r.Outcome.Failed() { // a foreign answer is no outage
			continue
		}
		if last.Sub(r.End) > oneFault {
			break
		}
		p.failing, last = r.Sent, r.End
	}
	for _, r := range slices.Concat(j.successes, j.failures) {
		if !r.Outcome.Own() {
			p.turns = append(p.turns, scored{*r, j.score(*r)})
		}
	}
	return p
}
