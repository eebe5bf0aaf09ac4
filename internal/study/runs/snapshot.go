package runs

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/serverside"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

// Snapshot is one measured interval of a level. Its blocks of time show how much neighbouring
// turns are correlated, which decides the width of confidence intervals.
type Snapshot struct {
	Started time.Time `json:"started"`
	// Seconds of measured wall time.
	Seconds float64 `json:"seconds"`
	// Blocks are equal parts of the interval, in order; the last may be shorter. The end of a turn decides its block.
	Blocks []Block `json:"blocks"`
	// ConversationStarts and ConversationSkips count starts, and starts skipped because of a cap or budget.
	ConversationStarts uint64 `json:"conversation_starts"`
	ConversationSkips  uint64 `json:"conversation_skips,omitempty"`
	// ConversationsDue counts the starts that were due in an open loop. ConversationsMean is
	// the mean number of conversations in flight over time, including those between turns.
	ConversationsDue  uint64   `json:"conversations_due,omitempty"`
	ConversationsMean *float64 `json:"conversations_mean,omitempty"`
	// InFlightMean is the mean number of turns in flight over time, InFlightMax the largest.
	InFlightMean *float64             `json:"in_flight_mean"`
	InFlightMax  *int                 `json:"in_flight_max"`
	Server       []serverside.Summary `json:"server,omitempty"` // the deployment's own metrics for the interval
}

type Block struct {
	Seconds float64 `json:"seconds"`
	// TurnsStarted counts turns sent in the block, Outcomes turns that ended in it.
	TurnsStarted uint64                   `json:"turns_started"`
	Outcomes     map[probe.Outcome]uint64 `json:"outcomes"`
	// TurnSeconds sums the durations of all ended turns, including failed ones and turns that
	// the prober or a user ended.
	TurnSeconds float64 `json:"turn_seconds,omitempty"`
	// Good counts judged turns that met every objective that judged them. It is the numerator
	// of goodput. If all objectives are on right answers, a turn that none judged is good if it succeeded.
	Good uint64 `json:"good"`
	// NotJudged counts turns that an objective left out because the prober was late.
	NotJudged uint64            `json:"not_judged,omitempty"`
	SLOs      map[string]Judged `json:"slos,omitempty"` // counts good and bad turns by objective
	Tokens    Tokens            `json:"tokens"`
	// TPOTUnknown counts turns whose TPOT is unknown although several events had tokens, by reason.
	TPOTUnknown map[probe.TPOTUnknown]uint64 `json:"tpot_unknown,omitempty"`
	// Sessions counts follow-up turns whose worker is known.
	Sessions probe.SessionCounts `json:"sessions,omitzero"`
	// Recall counts the answers that were judged by reference codes.
	Recall Recalled `json:"recall,omitzero"`
	// First and followup turns are different populations.
	First    Distributions `json:"first"`
	Followup Distributions `json:"followup"`
	Lateness
}

// Lateness is the prober's own, one value for each turn.
type Lateness struct {
	// ScheduleLag is how late a turn was sent.
	ScheduleLag *sketch.Sketch `json:"schedule_lag,omitempty"`
	// AddedTTFT bounds the prober's own part of a turn's TTFT. AddedGap bounds its part of the
	// time between two tokens or to the end. It is close to 0 if the kernel recorded the
	// arrival of each token, however late the prober read it.
	AddedTTFT *sketch.Sketch `json:"added_ttft,omitempty"`
	AddedGap  *sketch.Sketch `json:"added_gap,omitempty"`
}

// Tokens are the server's counts, summed over the turns that ended.
type Tokens struct {
	// Prompt and Output sum the turns with known counts. OutputEstimated is the part of Output
	// that was counted by events because usage was missing.
	Prompt          uint64 `json:"prompt"`
	Output          uint64 `json:"output"`
	OutputEstimated uint64 `json:"output_estimated,omitempty"`
	// Cached counts cached prompt tokens of the turns with a known count. CachedOf counts their
	// prompt tokens. Both are null if no turn had a count.
	Cached   *uint64 `json:"cached"`
	CachedOf *uint64 `json:"cached_of"`
}

// Distributions are the latencies of one kind of turn.
type Distributions struct {
	TTFT       Distribution `json:"ttft,omitzero"`
	AnswerTTFT Distribution `json:"answer_ttft,omitzero"`
	TPOT       Distribution `json:"tpot,omitzero"`
	// NTPOT is the duration of a turn over its output tokens, including the wait for the first one.
	NTPOT Distribution `json:"ntpot,omitzero"`
	// ITL has one value per gap between events with tokens. It counts no failures, because a
	// failed turn has no definite number of gaps.
	ITL     Distribution `json:"itl,omitzero"`
	Latency Distribution `json:"latency,omitzero"` // the time from sending to the end of the stream
}

// Distribution is a set of values in seconds and the number of turns that failed without a
// value. Quantiles can include failures at +∞.
type Distribution struct {
	Values   *sketch.Sketch `json:"values,omitempty"`
	Failures uint64         `json:"failures,omitempty"`
}

// Observe counts a finished turn. It is not safe for concurrent use. A turn that the prober
// ended itself counts only in Outcomes and TurnSeconds.
func (b *Block) Observe(r *probe.Result, objectives []slo.Objective) {
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
	if r.TPOTUnknown != "" {
		if b.TPOTUnknown == nil {
			b.TPOTUnknown = map[probe.TPOTUnknown]uint64{}
		}
		b.TPOTUnknown[r.TPOTUnknown]++
	}
	b.Sessions.Count(r.Session, r.PromptTokens, r.CachedTokens)
	b.Recall.observe(r.Recall)
	kind := &b.First
	if r.Kind == probe.Followup {
		kind = &b.Followup
	}
	kind.observe(r)
	addToSketch(&b.ScheduleLag, r.ScheduleLag())
	addToSketch(&b.AddedTTFT, r.Lag)
	addToSketch(&b.AddedGap, r.StreamLag)
}

func (b *Block) judge(r *probe.Result, objectives []slo.Objective) {
	if b.SLOs == nil && len(objectives) > 0 {
		b.SLOs = map[string]Judged{}
	}
	if slices.ContainsFunc(objectives, func(o slo.Objective) bool { return o.SkippedAsLate(r) }) {
		b.NotJudged++
	}
	// Without another objective, a turn that asked for no code cannot violate one.
	judged, good := !slices.ContainsFunc(objectives, func(o slo.Objective) bool { return o.SLI != slo.Correct }), true
	judged = judged && len(objectives) > 0
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
		default:
			if o.SkippedAsLate(r) {
				count.Late++
			}
		}
		b.SLOs[o.Name] = count
	}
	if judged && good && r.Outcome == probe.Success {
		b.Good++
	}
}

func (t *Tokens) observe(r *probe.Result) {
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

func addTo(sum **uint64, n int) {
	if *sum == nil {
		*sum = new(uint64)
	}
	**sum += uint64(n)
}

// observe counts a turn's latencies by the rules of the SLOs. A measured TTFT always counts;
// the other latencies need a whole answer.
func (d *Distributions) observe(r *probe.Result) {
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
	for _, gap := range r.Gaps {
		addToSketch(&d.ITL.Values, gap)
	}
}

func (d *Distribution) observe(v probe.Opt[time.Duration], failed bool) {
	switch {
	case v.OK:
		addToSketch(&d.Values, v.V)
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
		d.Values = &sketch.Sketch{}
	}
	d.Values.Merge(o.Values)
}

// Recalled counts answers that were judged by reference codes.
type Recalled struct {
	Right   uint64 `json:"right,omitempty"`
	Wrong   uint64 `json:"wrong,omitempty"`
	Foreign uint64 `json:"foreign,omitempty"` // with a code of another conversation
}

// Judged returns the number of answers.
func (c Recalled) Judged() uint64 { return c.Right + c.Wrong + c.Foreign }

func (c *Recalled) observe(r probe.Recall) {
	switch r.Result {
	case recall.Right:
		c.Right++
	case recall.Wrong:
		c.Wrong++
	case recall.Foreign:
		c.Foreign++
	}
}
