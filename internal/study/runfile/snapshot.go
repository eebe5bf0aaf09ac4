package runfile

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

// Snapshot is one measured interval of a level. Its turns are kept in blocks
// of time, so that a reader can see how much turns that are close in time have
// in common, and how wide a confidence interval has to be for it.
type Snapshot struct {
	Started time.Time `json:"started"`
	// Seconds of wall time that were measured.
	Seconds float64 `json:"seconds"`
	// Blocks are equal parts of the interval, in order (the last may be
	// shorter). A turn belongs to the block in which it ended.
	Blocks []Block `json:"blocks"`
	// ConversationStarts and ConversationSkips within the interval; skips are
	// starts that were due and could not be (cap, budget).
	ConversationStarts uint64 `json:"conversation_starts"`
	ConversationSkips  uint64 `json:"conversation_skips,omitempty"`
	// ConversationsDue are the starts that an open loop's arrivals asked for within
	// the interval, whenever they came; ConversationsMean is the time-weighted mean
	// of conversations in flight, those between two turns included. Absent in
	// files of earlier versions.
	ConversationsDue  uint64   `json:"conversations_due,omitempty"`
	ConversationsMean *float64 `json:"conversations_mean,omitempty"`
	// InFlightMean is the time-weighted mean and InFlightMax the largest number
	// of turns in flight; InFlightEnd were left when the interval ended.
	InFlightMean *float64 `json:"in_flight_mean"`
	InFlightMax  *int     `json:"in_flight_max"`
	InFlightEnd  *int     `json:"in_flight_end"`
	// Server is what the deployment said of itself over the same interval.
	Server []Server `json:"server,omitempty"`
}

// Block is a part of a snapshot.
type Block struct {
	// Seconds of wall time.
	Seconds float64 `json:"seconds"`
	// TurnsStarted were sent within the block; Outcomes counts those that
	// ended within it.
	TurnsStarted uint64                   `json:"turns_started"`
	Outcomes     map[probe.Outcome]uint64 `json:"outcomes"`
	// TurnSeconds are the durations of all turns that ended, which were in flight:
	// failed ones and those that the prober or a user ended, too.
	TurnSeconds float64 `json:"turn_seconds,omitempty"`
	// Good counts turns that met every objective that judged them, and that
	// were judged at all: the numerator of goodput.
	Good uint64 `json:"good"`
	// NotJudged turns were left out by an objective because the prober itself had
	// been too late.
	NotJudged uint64 `json:"not_judged,omitempty"`
	// SLOs counts good and bad turns per objective, by its name.
	SLOs   map[string]Judged `json:"slos,omitempty"`
	Tokens Tokens            `json:"tokens"`
	// First and Followup turns are different populations.
	First    Distributions `json:"first"`
	Followup Distributions `json:"followup"`
	// ScheduleLag is the prober's own lateness per turn, ReadLag the longest
	// delay between the arrival of a token and our look at it, per turn.
	ScheduleLag *sketch.Sketch `json:"schedule_lag,omitempty"`
	ReadLag     *sketch.Sketch `json:"read_lag,omitempty"`
	// AddedTTFT and AddedGap are what the prober itself may have added at most to
	// the TTFT of a turn, and to a time between two of its tokens or to its end.
	// Where the kernel stamped each token by itself, that is next to nothing however
	// long they lay unread.
	AddedTTFT *sketch.Sketch `json:"added_ttft,omitempty"`
	AddedGap  *sketch.Sketch `json:"added_gap,omitempty"`
}

// Tokens are the server's counts, summed over the turns that ended.
type Tokens struct {
	// Prompt and Output are over the turns that said so; of the Output,
	// OutputEstimated were counted by events for want of usage.
	Prompt          uint64 `json:"prompt"`
	Output          uint64 `json:"output"`
	OutputEstimated uint64 `json:"output_estimated,omitempty"`
	// Cached prompt tokens of the turns that said how many were cached, whose
	// prompts had CachedOf tokens in all. Both null when no turn said so.
	Cached   *uint64 `json:"cached"`
	CachedOf *uint64 `json:"cached_of"`
}

// Distributions are the latencies of one kind of turn, in seconds.
type Distributions struct {
	TTFT       Distribution `json:"ttft,omitzero"`
	AnswerTTFT Distribution `json:"answer_ttft,omitzero"`
	TPOT       Distribution `json:"tpot,omitzero"`
	// NTPOT is the duration of a turn over its output tokens, its first and its
	// wait included. Absent in files of earlier versions.
	NTPOT Distribution `json:"ntpot,omitzero"`
	// ITL has one value per gap between token-bearing events; it counts no
	// failures, since a turn that failed is no number of gaps.
	ITL Distribution `json:"itl,omitzero"`
	// Latency is sent → end of the stream.
	Latency Distribution `json:"latency,omitzero"`
}

// Distribution is a set of values in seconds, exact but for ITL, and how many turns failed
// without giving one: a quantile can be told over the values alone, or with
// the failures at +∞.
type Distribution struct {
	Values   *Sample `json:"values,omitempty"`
	Failures uint64  `json:"failures,omitempty"`
}

// Server is what one metrics endpoint of the deployment said over a snapshot.
type Server struct {
	// Source names the endpoint ("http://frontend:8000/metrics").
	Source string `json:"source"`
	// Families are the metric families that were found there.
	Families []string `json:"families"`
	// Figures by the names below; what was not found is absent.
	Figures map[string]float64 `json:"figures"`
}

// Names of server figures that reports know by title and unit. Others may be
// added freely and are printed as they are.
const (
	ServerKVHitRatio      = "kv_hit_ratio"         // cached / prompt tokens, 0 … 1
	ServerKVUsageMean     = "kv_usage_mean"        // share of the KV cache in use, 0 … 1
	ServerKVUsageMax      = "kv_usage_max"         // likewise
	ServerQueueMean       = "queue_mean"           // requests waiting
	ServerQueueMax        = "queue_max"            // requests waiting
	ServerRunningMean     = "running_mean"         // requests running
	ServerRunningMax      = "running_max"          // requests running
	ServerSpecDrafted     = "spec_drafted_tokens"  // tokens drafted over the snapshot
	ServerSpecAccepted    = "spec_accepted_tokens" // of them accepted
	ServerSpecAcceptance  = "spec_acceptance"      // accepted / drafted, 0 … 1
	ServerOutputPerSecond = "output_tokens_per_second"
	ServerPromptPerSecond = "prompt_tokens_per_second"
	ServerTTFTP50         = "ttft_p50_seconds"
	ServerTTFTP95         = "ttft_p95_seconds"
	ServerITLP50          = "itl_p50_seconds"
	ServerITLP95          = "itl_p95_seconds"
	ServerGPUUse          = "gpu_use_mean"    // utilisation of the GPUs, 0 … 1
	ServerGPUPower        = "gpu_power_watts" // of all GPUs of the page, mean
)

// Observe counts one finished turn in the block. It is not safe for concurrent
// use. Turns that the prober itself ended are counted among the outcomes, were in
// flight, and are nothing else.
func (b *Block) Observe(r probe.Result, objectives []slo.Objective) {
	if b.Outcomes == nil {
		b.Outcomes = map[probe.Outcome]uint64{}
	}
	b.Outcomes[r.Outcome]++
	b.TurnSeconds += r.Duration().Seconds()
	if r.Outcome.Own() {
		return
	}
	b.judge(r, objectives)
	b.Tokens.observe(r)
	kind := &b.First
	if r.Kind == probe.Followup {
		kind = &b.Followup
	}
	kind.observe(r)
	addToSketch(&b.ScheduleLag, r.ScheduleLag())
	addToSketch(&b.AddedTTFT, r.Lag)
	addToSketch(&b.AddedGap, r.StreamLag)
	if r.Events > 0 {
		addToSketch(&b.ReadLag, r.ReadLagMax)
	}
}

func (b *Block) judge(r probe.Result, objectives []slo.Objective) {
	if b.SLOs == nil && len(objectives) > 0 {
		b.SLOs = map[string]Judged{}
	}
	if slices.ContainsFunc(objectives, func(o slo.Objective) bool { return o.SkippedAsLate(r) }) {
		b.NotJudged++
	}
	judged, good := false, true
	for _, o := range objectives {
		count := b.SLOs[o.Name]
		switch o.Judge(r) {
		case slo.Good:
			judged = true
			count.Good++
		case slo.Bad:
			judged, good = true, false
			count.Bad++
			if r.Outcome.Failed() {
				count.Failed++
			}
		}
		b.SLOs[o.Name] = count
	}
	if judged && good && r.Outcome == probe.Success {
		b.Good++
	}
}

func (t *Tokens) observe(r probe.Result) {
	t.Prompt += uint64(r.PromptTokens.V)
	t.Output += uint64(r.OutputTokens.V)
	if r.UsageMissing {
		t.OutputEstimated += uint64(r.OutputTokens.V)
	}
	if r.CachedTokens.OK && r.PromptTokens.OK {
		addTo(&t.Cached, r.CachedTokens.V)
		addTo(&t.CachedOf, r.PromptTokens.V)
	}
}

func addTo[N int | uint64](sum **uint64, n N) {
	if *sum == nil {
		*sum = new(uint64)
	}
	**sum += uint64(n)
}

// observe follows the SLO's judgement: what was measured counts, whatever came
// after it, for TTFT; TPOT, ITL and latency are those of whole answers.
func (d *Distributions) observe(r probe.Result) {
	failed := r.Outcome.Failed()
	d.TTFT.observe(r.TTFT, failed)
	d.AnswerTTFT.observe(r.AnswerTTFT, failed)
	if failed {
		d.TPOT.Failures++
		d.NTPOT.Failures++
		d.Latency.Failures++
		return
	}
	d.TPOT.observe(r.TPOT, false)
	d.Latency.observe(probe.Some(r.Duration()), false)
	if n := r.OutputTokens; n.OK && n.V > 0 {
		d.NTPOT.observe(probe.Some(r.Duration()/time.Duration(n.V)), false)
	}
	if len(r.Gaps) > 0 && d.ITL.Values == nil {
		d.ITL.Values = &Sample{}
	}
	for _, gap := range r.Gaps {
		d.ITL.Values.Bin(gap.Seconds())
	}
}

func (d *Distribution) observe(v probe.Opt[time.Duration], failed bool) {
	switch {
	case v.OK:
		if d.Values == nil {
			d.Values = &Sample{}
		}
		d.Values.Add(v.V.Seconds())
	case failed:
		d.Failures++
	}
}

func addToSketch(s **sketch.Sketch, d time.Duration) {
	if *s == nil {
		*s = &sketch.Sketch{}
	}
	(*s).Add(d.Seconds())
}

// Merge adds o's values and failures.
func (d *Distribution) Merge(o Distribution) {
	d.Failures += o.Failures
	if o.Values == nil || o.Values.Count() == 0 {
		return
	}
	if d.Values == nil {
		d.Values = &Sample{}
	}
	d.Values.Merge(o.Values)
}
