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

// How much is kept of each job: 512 samples of about 120 bytes and at most 92
// turns of about 900 bytes (an error text may add 512), so under 250 kB.
const (
	samplesKept   = 512
	successesKept = 32
	// Failures have a list of their own: a flood of good turns must not push
	// out the one that somebody comes to look for.
	failuresKept = 60
	errorKept    = 512 // bytes of a turn's error text
)

// job is what the page remembers of one job.
type job struct {
	mu sync.Mutex

	begun bool // something happened
	info  sink.Job
	spent spent
	// counted has the counts and what is expected; its figures are made when
	// they are asked for.
	counted             Job
	samples             []sample
	successes, failures []probe.Result
	last                *probe.Result // the last turn that our own shutdown did not cancel

	// day has the minutes that are over, sealing is the one that is not, in which
	// ended were told of. compare
	// says how the job compares with the usual, once a minute: views is what it said
	// last.
	day     day
	sealing int32
	ended   tally
	compare func() (baseline.Reading, bool)
	views   baseline.Views
}

// sample is the part of a Result that figures are made of.
type sample struct {
	end      time.Time
	outcome  probe.Outcome
	duration time.Duration
	// ttft, answer, tpot and the longest gap are in nanoseconds.
	ttft, answer, tpot, longest maybe
	prompt, cached              maybe // tokens
	output                      uint32
	kind                        uint8 // index of probe.TurnKinds
	lag, streamLag              time.Duration
}

// maybe is a number that may be unknown, in the room of one that may not: it is one
// more than what is known, and 0 where nothing is.
type maybe int64

func maybeOf[T ~int | ~int64](o probe.Opt[T]) maybe {
	if !o.OK {
		return 0
	}
	return maybe(o.V) + 1
}

func (m maybe) opt() probe.Opt[time.Duration] {
	if m == 0 {
		return probe.Opt[time.Duration]{}
	}
	return probe.Some(time.Duration(m - 1))
}

func newJob(k probe.Key, compare func() (baseline.Reading, bool)) *job {
	return &job{compare: compare, counted: Job{Target: k.Target, Workload: k.Workload, Skipped: map[string]int{}}}
}

// keep appends a value, and drops the oldest of those that are more than most.
func keep[T any](values []T, v T, most int) []T {
	if len(values) >= most {
		values = slices.Delete(values, 0, 1)
	}
	return append(values, v)
}

func (j *job) observe(e probe.Event, now time.Time) {
	j.begun = true
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
	case probe.Comparison: // mostly prompts, and how much nobody says
		j.spent.add(now, workload.Tokens{Prompt: float64(e.Tokens)})
	}
}

func (j *job) turnEnded(r probe.Result) {
	c, s := &j.counted, sampleOf(r)
	// The texts are what is large of a turn, and nobody reads them here.
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
	j.seal(minuteOf(r.End))
	j.ended.add(s)
	j.samples = keep(j.samples, s, samplesKept)
	if r.Outcome.Failed() {
		c.Failed++
		j.failures = keep(j.failures, r, failuresKept)
		return
	}
	j.successes = keep(j.successes, r, successesKept)
}

// seal sums up the minute that is over with the first turn of a later one.
func (j *job) seal(now int32) {
	back := now < j.sealing-1 // a turn may be a little late to be told of
	if now <= j.sealing && !back {
		return
	}
	if back { // the clock was set, and what is ahead of it never was
		j.day.log.Cut(int64(now))
	} else if j.sealing > 0 {
		reading, _ := j.compare()
		j.views = reading.Views
		j.day.add(summedUp(j.sealing, j.ended, j.samples, j.views))
	}
	j.sealing, j.ended = now, tally{}
}

// minutes lists those of a time, the one that is not over included.
func (j *job) minutes(s span) []minute {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.day.between(s.from, s.to)
	if now := summedUp(j.sealing, j.ended, j.samples, j.views); j.sealing > 0 && !now.start().After(s.to) {
		out = append(out, now)
	}
	return out
}

// score is how bad a turn is: how many times the usual its latencies are, and more
// than any of those where it failed.
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

// past is what a job did before an alert of it was told.
type past struct {
	effect effect
	// failing is since when turns fail, again and again; zero if none did lately.
	failing time.Time
	samples []sample
	turns   []scored
}

// oneFault is how far apart failures may be that are of one fault.
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

// endedByUs takes a turn that says nothing of the deployment.
func (j *job) endedByUs(r probe.Result) {
	if r.Outcome.Canceled() {
		j.counted.Canceled++
	} else {
		j.counted.OwnFaults++
		j.last = &r
	}
	j.successes = keep(j.successes, r, successesKept)
}

func sampleOf(r probe.Result) sample {
	s := sample{
		end: r.End, kind: uint8(r.Kind.Index()), outcome: r.Outcome, duration: r.Duration(),
		ttft: maybeOf(r.TTFT), answer: maybeOf(r.AnswerTTFT), tpot: maybeOf(r.TPOT),
		prompt: maybeOf(r.PromptTokens), cached: maybeOf(r.CachedTokens),
		output: uint32(r.OutputTokens.V), lag: r.Lag, streamLag: r.StreamLag,
	}
	if len(r.Gaps) > 0 {
		s.longest = maybeOf(probe.Some(slices.Max(r.Gaps)))
	}
	return s
}

func (s *sample) turn() probe.TurnKind { return probe.TurnKinds()[s.kind] }

// result returns a Result that an objective judges as it would the sample's.
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

// clip shortens a text to n bytes and lets go of the longer one.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return string([]byte(s[:n])) + "…"
}
