package status

import (
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// What is kept of each job: 512 samples of about 120 bytes, and at most 92 turns of about 900
// bytes plus up to 512 bytes of error text: less than 250 kB.
const (
	samplesKept   = 512
	successesKept = 32
	// Failed turns have a list of their own, so that many good turns do not push them out.
	failuresKept = 60
	errorKept    = 512 // bytes of a turn's error text
)

// job holds what the page knows of one job.
type job struct {
	mu sync.Mutex

	hasEvents bool // there was an event
	info      sink.Job
	spent     spent
	// counted holds the counts and the benchmark. Its figures are computed on request.
	counted             Job
	samples             []sample
	successes, failures []probe.Result
	last                *probe.Result // the last turn, except turns canceled by our own shutdown

	// minutes are the finished minutes. currentMinute is the minute in progress, currentCounts
	// its counts. compare returns the baselines; views holds its result at the end of the last
	// minute.
	minutes       day
	currentMinute int32
	currentCounts tally
	compare       func() (baseline.Reading, bool)
	views         baseline.Views
}

// sample holds the values of a Result that figures need.
type sample struct {
	end      time.Time
	outcome  probe.Outcome
	duration time.Duration
	// in nanoseconds
	ttft, answer, tpot, longest optionalInt
	prompt, cached              optionalInt // tokens
	output                      uint32
	kind                        uint8 // index of probe.TurnKinds
	lag, streamLag              time.Duration
}

// optionalInt stores value+1 in an int64; 0 means unknown. It saves 8 bytes a sample.
type optionalInt int64

func optionalIntOf[T ~int | ~int64](o probe.Opt[T]) optionalInt {
	if !o.OK {
		return 0
	}
	return optionalInt(o.V) + 1
}

func (m optionalInt) opt() probe.Opt[time.Duration] {
	if m == 0 {
		return probe.Opt[time.Duration]{}
	}
	return probe.Some(time.Duration(m - 1))
}

func newJob(k probe.Key, compare func() (baseline.Reading, bool)) *job {
	return &job{compare: compare, counted: Job{Target: k.Target, Workload: k.Workload, Skipped: map[string]int{}}}
}

// appendBounded appends a value and drops the oldest values beyond most.
func appendBounded[T any](values []T, v T, most int) []T {
	if len(values) >= most {
		values = slices.Delete(values, 0, 1)
	}
	return append(values, v)
}

func (j *job) observe(e probe.Event, now time.Time) {
	j.hasEvents = true
	c := &j.counted
	switch e := e.(type) {
	case probe.Start:
		c.TurnsInFlight++
	case probe.Result:
		j.turnEnded(e)
	case probe.ConversationStart:
		c.ConversationsInFlight++
	case probe.Conversation:
		c.ConversationsInFlight = max(c.ConversationsInFlight-1, 0)
		c.Conversations++
	case probe.Paced:
		c.Burst = e.Why
	case probe.Skip:
		c.Skipped[e.Reason]++
	case probe.Comparison: // its tokens are mostly prompts, and unknown
		j.spent.add(now, workload.Tokens{Prompt: float64(e.Tokens)})
	}
}

func (j *job) turnEnded(r probe.Result) {
	c, s := &j.counted, sampleOf(r)
	// Texts are most of a turn's size, and the page does not show them.
	r.Answer, r.Reasoning, r.Refusal, r.ToolCalls, r.Gaps = "", "", "", nil, nil
	r.Err = clip(r.Err, errorKept)
	c.TurnsInFlight = max(c.TurnsInFlight-1, 0)
	c.Turns++
	j.spent.add(r.End, workload.Tokens{
		Prompt: float64(r.PromptTokens.V), Cached: float64(r.CachedTokens.V), Output: float64(r.OutputTokens.V),
	})
	if r.Outcome.Own() {
		j.endedByUs(r)
		return
	}
	if r.Model != "" {
		c.Model = r.Model
	}
	j.last = &r
	j.finishMinute(minuteOf(r.End))
	j.currentCounts.add(s)
	j.samples = appendBounded(j.samples, s, samplesKept)
	if r.Outcome.Failed() {
		c.Failed++
		j.failures = appendBounded(j.failures, r, failuresKept)
		return
	}
	j.successes = appendBounded(j.successes, r, successesKept)
}

// finishMinute stores the minute in progress when a turn of a later minute comes.
func (j *job) finishMinute(now int32) {
	back := now < j.currentMinute-1 // the event of a turn may be a little late
	if now <= j.currentMinute && !back {
		return
	}
	if back { // the clock was set back: later minutes are wrong
		j.minutes.log.Cut(int64(now))
	} else if j.currentMinute > 0 {
		reading, _ := j.compare()
		j.views = reading.Views
		j.minutes.add(summedUp(j.currentMinute, j.currentCounts, j.samples, j.views))
	}
	j.currentMinute, j.currentCounts = now, tally{}
}

// minutesIn returns the minutes of a time range, with the one in progress.
func (j *job) minutesIn(s span) []minute {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.minutes.between(s.from, s.to)
	if now := summedUp(j.currentMinute, j.currentCounts, j.samples, j.views); j.currentMinute > 0 && !now.start().After(s.to) {
		out = append(out, now)
	}
	return out
}

// score returns how bad a turn is: the ratio of its latencies to their baselines, and a larger
// value for a failure.
func (j *job) score(r probe.Result) float64 {
	if r.Outcome.Failed() {
		return 1e6 + r.Duration().Seconds()
	}
	most, kind := 0.0, 0
	if r.Kind == probe.Followup {
		kind = 1
	}
	for i, d := range []probe.Opt[time.Duration]{r.TTFT, r.TPOT} {
		if usual := j.views[kind][i].Baseline; d.OK && usual > 0 {
			most = max(most, d.V.Seconds()/usual)
		}
	}
	return most
}

// past is the history of a job before an alert.
type past struct {
	effect effect
	// start of the current series of failures; zero without one
	failing time.Time
	samples []sample
	turns   []scored
}

// oneFault is the longest time between two failures of one fault.
const oneFault = 2 * time.Minute

func (j *job) past(now time.Time) past {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, last := past{samples: slices.Clone(j.samples)}, now
	for _, r := range slices.Backward(j.failures) {
		if last.Sub(r.End) > oneFault {
			break
		}
		p.failing, last = r.Sent, r.End
	}
	for _, r := range slices.Concat(j.successes, j.failures) {
		if !r.Outcome.Own() {
			p.turns = append(p.turns, scored{r, j.score(r)})
		}
	}
	return p
}

// endedByUs counts a turn that says nothing about the deployment.
func (j *job) endedByUs(r probe.Result) {
	if r.Outcome.Canceled() {
		j.counted.Canceled++
	} else {
		j.counted.OwnFaults++
		j.last = &r
	}
	j.successes = appendBounded(j.successes, r, successesKept)
}

func sampleOf(r probe.Result) sample {
	s := sample{
		end: r.End, kind: uint8(r.Kind.Index()), outcome: r.Outcome, duration: r.Duration(),
		ttft: optionalIntOf(r.TTFT), answer: optionalIntOf(r.AnswerTTFT), tpot: optionalIntOf(r.TPOT),
		prompt: optionalIntOf(r.PromptTokens), cached: optionalIntOf(r.CachedTokens),
		output: uint32(r.OutputTokens.V), lag: r.Lag, streamLag: r.StreamLag,
	}
	if len(r.Gaps) > 0 {
		s.longest = optionalIntOf(probe.Some(slices.Max(r.Gaps)))
	}
	return s
}

func (s *sample) turn() probe.TurnKind { return probe.TurnKinds()[s.kind] }

// result returns a Result on which objectives have the same judgement as on the sample.
func (s sample) result(key probe.Key) probe.Result {
	r := probe.Result{
		Target: key.Target, Workload: key.Workload, Kind: s.turn(), Outcome: s.outcome,
		Sent: s.end.Add(-s.duration), End: s.end,
		TTFT: s.ttft.opt(), AnswerTTFT: s.answer.opt(), TPOT: s.tpot.opt(),
		OutputTokens: probe.Opt[int]{V: int(s.output), OK: s.output > 0}, Lag: s.lag, StreamLag: s.streamLag,
	}
	if gap := s.longest.opt(); gap.OK {
		r.Gaps = []time.Duration{gap.V}
	}
	return r
}

// clip returns a copy of at most n bytes of a text.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return string([]byte(s[:n])) + "…"
}
