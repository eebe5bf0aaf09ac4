package status

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"synthetic/internal/probe"
)

// Report is one conversation as JSON. Times are RFC 3339 with nanoseconds, durations are
// seconds; undefined or unknown values are null, never 0.
type Report struct {
	BaseURL      string `json:"base_url"`
	Model        string `json:"model"`
	Conversation string `json:"conversation"`
	Outcome      string `json:"outcome"`
	Turns        []Turn `json:"turns"`
}

// Turn is one turn of a Report.
type Turn struct {
	Turn    int     `json:"turn"`
	Kind    string  `json:"kind"`
	Outcome string  `json:"outcome"`
	Error   *string `json:"error"`
	Status  *int    `json:"http_status"`

	Scheduled time.Time `json:"scheduled"`
	Sent      time.Time `json:"sent"`

	TTFT        *float64 `json:"ttft_seconds"`
	AnswerTTFT  *float64 `json:"answer_ttft_seconds"`
	TPOT        *float64 `json:"tpot_seconds"`
	ITLp50      *float64 `json:"itl_p50_seconds"`
	ITLMax      *float64 `json:"itl_max_seconds"`
	Duration    float64  `json:"duration_seconds"`
	ScheduleLag float64  `json:"schedule_lag_seconds"`

	PromptTokens    *int `json:"prompt_tokens"`
	CachedTokens    *int `json:"cached_prompt_tokens"`
	OutputTokens    *int `json:"output_tokens"`
	OutputEstimated bool `json:"output_tokens_estimated"`
	ReasoningTokens *int `json:"reasoning_tokens"`
	TokenEvents     int  `json:"token_events"`
	CoalescedEvents int  `json:"coalesced_events"`
	Buffered        bool `json:"buffered"`

	Phases          Phases  `json:"phases"`
	TimestampSource *string `json:"timestamp_source"`
	FinishReason    *string `json:"finish_reason"`
	// NoAnswer, Refused and OtherChoices are as in probe.Result.
	NoAnswer     bool   `json:"no_answer"`
	Refused      bool   `json:"refused"`
	OtherChoices bool   `json:"other_choices"`
	ToolCalls    int    `json:"tool_calls"`
	TraceID      string `json:"trace_id"`
}

// Phases are the parts of a Turn. DNS, Connect and TLS are durations of those
// steps; the others count from the moment the turn was sent.
type Phases struct {
	DNS        *float64 `json:"dns_seconds"`
	Connect    *float64 `json:"connect_seconds"`
	TLS        *float64 `json:"tls_seconds"`
	Headers    *float64 `json:"headers_seconds"`
	FirstEvent *float64 `json:"first_event_seconds"`
	Reused     bool     `json:"connection_reused"`
}

// NewReport turns results of one conversation into a Report.
func NewReport(baseURL string, c probe.Conversation, results []probe.Result) Report {
	r := Report{BaseURL: baseURL, Conversation: c.ID, Outcome: string(c.Outcome), Turns: []Turn{}}
	for _, result := range results {
		r.Model = result.Model
		r.Turns = append(r.Turns, newTurn(result))
	}
	return r
}

// WriteJSON writes the report, indented.
func (r Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func newTurn(r probe.Result) Turn {
	p50, longest := gaps(r.Gaps)
	source := "read"
	if r.Kernel {
		source = "kernel"
	}
	return Turn{
		Turn: r.Turn, Kind: string(r.Kind), Outcome: string(r.Outcome),
		Error: waterfallKnown(r.Err, r.Err != ""), Status: waterfallKnown(r.Status, r.Status != 0),
		Scheduled: r.Scheduled, Sent: r.Sent,
		TTFT: waterfallSeconds(r.TTFT), AnswerTTFT: waterfallSeconds(r.AnswerTTFT), TPOT: waterfallSeconds(r.TPOT), ITLp50: waterfallSeconds(p50), ITLMax: waterfallSeconds(longest),
		Duration: r.Duration().Seconds(), ScheduleLag: r.ScheduleLag().Seconds(),
		PromptTokens: waterfallKnown(r.PromptTokens.V, r.PromptTokens.OK), CachedTokens: waterfallKnown(r.CachedTokens.V, r.CachedTokens.OK),
		OutputTokens: waterfallKnown(r.OutputTokens.V, r.OutputTokens.OK), OutputEstimated: r.UsageMissing,
		ReasoningTokens: waterfallKnown(r.ReasoningTokens.V, r.ReasoningTokens.OK),
		NoAnswer:        r.NoAnswer, Refused: r.Refusal != "", OtherChoices: r.OtherChoices, ToolCalls: len(r.ToolCalls),
		TokenEvents: r.Events, CoalescedEvents: r.Coalesced, Buffered: r.Buffered,
		FinishReason: waterfallKnown(r.FinishReason, r.FinishReason != ""), TraceID: r.TraceID,
		Phases: Phases{
			DNS: waterfallSeconds(r.Phases.DNS), Connect: waterfallSeconds(r.Phases.Connect), TLS: waterfallSeconds(r.Phases.TLS),
			Headers: waterfallSeconds(r.Phases.Headers), FirstEvent: waterfallSeconds(r.Phases.FirstEvent), Reused: r.Phases.Reused,
		},
		TimestampSource: waterfallKnown(source, r.Events > 0),
	}
}

// gaps returns the median (nearest rank) and the longest of the gaps.
func gaps(g []time.Duration) (p50, longest probe.Opt[time.Duration]) {
	if len(g) == 0 {
		return p50, longest
	}
	sorted := slices.Sorted(slices.Values(g))
	return probe.Some(sorted[(len(sorted)-1)/2]), probe.Some(sorted[len(sorted)-1])
}

func waterfallSeconds(d probe.Opt[time.Duration]) *float64 {
	return waterfallKnown(d.V.Seconds(), d.OK)
}

// waterfallKnown returns nil, which is null in JSON, for an unknown value.
func waterfallKnown[T any](v T, is bool) *T {
	if !is {
		return nil
	}
	return &v
}
