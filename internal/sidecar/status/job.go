package status

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/sidecar/watch"
)

// Each job keeps at most 512 samples of 240 bytes, and at most 20 turns of about 900 bytes plus up to 512 bytes of
// error text.
const (
	samplesKept   = 512
	successesKept = 10
	// Failed turns and foreign answers have a list of their own, so that many good turns do not push them out.
	failuresKept = 10
	errorKept    = 512 // bytes of a turn's error text
)

type job struct {
	mu        sync.Mutex
	hasEvents bool
	info      fleet.Job
	model     string   // of the last request, "" before the first
	leftOut   []string // of the last request
	tally     fleet.Tally
	samples   []sample
	// successes and failures are the last turns.
	successes, failures []*probe.Result
	last                *probe.Result // the last turn, except turns canceled by our own shutdown

	// minutes are the finished minutes; current is the minute in progress, whose latencies are computed from the
	// samples. compare returns the baselines; usual holds its result at the end of the last minute.
	minutes []minute
	current minute
	compare func() (watch.Reading, bool)
	usual   watch.Reading
}

// appendBounded appends a value and drops the oldest ones, so that at most limit are left. The slice has space for at
// most limit values.
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
func (j *job) observe(e probe.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.tally.Observe(e) {
		return
	}
	j.hasEvents = true
	if r, ok := e.(probe.Result); ok {
		j.turnEnded(r)
	}
}

func (j *job) turnEnded(r probe.Result) {
	s := sampleOf(r)
	// Texts are most of a turn's size, and the page does not show them.
	r.Answer, r.Reasoning, r.Refusal, r.ToolCalls, r.Gaps = "", "", "", nil, nil
	r.Err = bound.Shorten(r.Err, errorKept)
	if !r.Outcome.Canceled() {
		j.last = &r
	}
	if isBad(r) {
		j.failures = appendBounded(j.failures, &r, failuresKept)
	} else {
		j.successes = appendBounded(j.successes, &r, successesKept)
	}
	if r.Outcome.Own() {
		return
	}
	j.model, j.leftOut = cmp.Or(r.Model, j.model), r.LeftOut
	j.finishMinute(minuteOf(r.End))
	j.current.count(s)
	j.samples = slices.DeleteFunc(j.samples, func(old sample) bool { return s.end.Sub(old.end) > window })
	j.samples = appendBounded(j.samples, s, samplesKept)
}

func isBad(r probe.Result) bool { return r.Outcome.Failed() || r.Recall.Result == recall.Foreign }

// turns returns copies of the last turns, newest first.
func (j *job) turns() (last []turnRow) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range slices.Concat(j.successes, j.failures) {
		last = append(last, turnRow{*r})
	}
	slices.SortStableFunc(last, func(a, b turnRow) int { return b.End.Compare(a.End) })
	return last
}

// sample holds the values of a Result that figures and objectives need.
type sample struct {
	sent, end                   time.Time
	kind                        probe.TurnKind
	outcome                     probe.Outcome
	ttft, answer, tpot, longest probe.Opt[time.Duration]
	prompt, cached, uncached    probe.Opt[int]
	tpotTokens                  float64
	session                     string
	lag, streamLag              time.Duration
}

func sampleOf(r probe.Result) sample {
	s := sample{
		sent: r.Sent, end: r.End, kind: r.Kind, outcome: r.Outcome, ttft: r.TTFT, answer: r.AnswerTTFT, tpot: r.TPOT,
		prompt: r.PromptTokens, cached: r.CachedTokens, uncached: r.UncachedEstimate, tpotTokens: r.TPOTTokens,
		session: r.Session, lag: r.Lag, streamLag: r.StreamLag,
	}
	if len(r.Gaps) > 0 {
		s.longest = probe.Some(slices.Max(r.Gaps))
	}
	return s
}

// result returns a Result on which objectives have the same judgement as on the turn of the sample.
func (s *sample) result(key probe.Key) *probe.Result {
	r := &probe.Result{
		Target: key.Target, Workload: key.Workload, Kind: s.kind, Outcome: s.outcome, Sent: s.sent, End: s.end,
		TTFT: s.ttft, TPOT: s.tpot,
		Timing: probe.Timing{AnswerTTFT: s.answer, TPOTTokens: s.tpotTokens, Lag: s.lag, StreamLag: s.streamLag},
		Tokens: probe.Tokens{PromptTokens: s.prompt, CachedTokens: s.cached, UncachedEstimate: s.uncached},
	}
	if s.longest.OK {
		r.Gaps = []time.Duration{s.longest.V}
	}
	return r
}

func (s *sample) latencies() [2]probe.Opt[time.Duration] {
	return [2]probe.Opt[time.Duration]{s.ttft, s.tpot}
}
