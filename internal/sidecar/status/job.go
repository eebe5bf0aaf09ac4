package status

import (
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// How much is kept of each job: 512 samples of about 150 bytes and at most 96
// turns of about 700 bytes (an error text may add 512), so under 200 kB.
const (
	samplesKept   = 512
	successesKept = 32
	// Failures have a ring of their own: a flood of good turns must not push
	// out the one that somebody comes to look for.
	failuresKept = 64
	errorKept    = 512 // bytes of a turn's error text
)

// job is what the page remembers of one job.
type job struct {
	mu sync.Mutex

	begun      bool // something happened
	objectives []slo.Objective
	expected   *Expected // nil for nothing

	model                   string
	turns, failed, canceled int // ended since the start
	turnsInFlight           int
	conversations           int // ended since the start
	conversationsInFlight   int
	skipped                 map[string]int
	samples                 ring[sample]
	successes, failures     ring[probe.Result]
	last                    probe.Result // the last turn that was not canceled
	haveLast                bool
}

// sample is the part of a Result that figures are made of.
type sample struct {
	end              time.Time
	kind             probe.TurnKind
	outcome          probe.Outcome
	duration         time.Duration
	ttft, answer     probe.Opt[time.Duration]
	tpot, longestGap probe.Opt[time.Duration]
	prompt, cached   probe.Opt[int]
}

func newJob() *job {
	return &job{
		skipped:   map[string]int{},
		samples:   newRing[sample](samplesKept),
		successes: newRing[probe.Result](successesKept),
		failures:  newRing[probe.Result](failuresKept),
	}
}

// observe takes an event in.
func (j *job) observe(e probe.Event) {
	j.begun = true
	switch e := e.(type) {
	case probe.Start:
		j.turnsInFlight++
	case probe.Result:
		j.turnEnded(e)
	case probe.ConversationStart:
		j.conversationsInFlight++
	case probe.Conversation:
		j.conversationsInFlight = max(j.conversationsInFlight-1, 0)
		j.conversations++
	case probe.Skip:
		j.skipped[e.Reason]++
	}
}

// turnEnded takes a finished turn in.
func (j *job) turnEnded(r probe.Result) {
	j.turnsInFlight = max(j.turnsInFlight-1, 0)
	s := sampleOf(r)
	// The texts are what is large of a turn, and nobody reads them here.
	r.Answer, r.Gaps = "", nil
	r.Err = clip(r.Err, errorKept)
	j.turns++
	if r.Outcome == probe.Canceled {
		j.canceled++
		j.successes.add(r)
		return
	}
	if r.Model != "" {
		j.model = r.Model
	}
	j.last, j.haveLast = r, true
	j.samples.add(s)
	if r.Outcome.Failed() {
		j.failed++
		j.failures.add(r)
		return
	}
	j.successes.add(r)
}

func sampleOf(r probe.Result) sample {
	s := sample{
		end: r.End, kind: r.Kind, outcome: r.Outcome, duration: r.Duration(),
		ttft: r.TTFT, answer: r.AnswerTTFT, tpot: r.TPOT,
		prompt: r.PromptTokens, cached: r.CachedTokens,
	}
	if len(r.Gaps) > 0 {
		s.longestGap = probe.Some(slices.Max(r.Gaps))
	}
	return s
}

// result returns a Result that an objective judges as it would the sample's.
func (s sample) result(key probe.Key) probe.Result {
	r := probe.Result{
		Target: key.Target, Workload: key.Workload, Kind: s.kind, Outcome: s.outcome,
		Sent: s.end.Add(-s.duration), End: s.end,
		TTFT: s.ttft, AnswerTTFT: s.answer, TPOT: s.tpot,
	}
	if s.longestGap.OK {
		r.Gaps = []time.Duration{s.longestGap.V}
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
