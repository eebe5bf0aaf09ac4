package probe

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"time"
)

// lineVersion is the version of the form of a line. Every line has it, so that logs can be cut and joined.
const lineVersion = 1

// Field is a further key of a line, such as a part of the turn's place in a study.
type Field struct {
	Key   string
	Value any
}

// AppendLine appends the turn as a line of the turn log: JSON without texts, errors or addresses, whose keys
// docs/reference/turn-log.md describes. A line with a place has the turn's position in its conversation, too.
func (r *Result) AppendLine(b []byte, place ...Field) []byte {
	o := object{}
	o.addTurn(r)
	for _, f := range place {
		o.add(f.Key, f.Value)
	}
	if len(place) > 0 {
		o.addPosition(r)
	}
	o.add("v", lineVersion)
	return append(o.appendTo(b), '\n')
}

// MarshalJSON returns the keys of a line and everything else that is known, except what was sent and answered. An
// unknown TTFT or TPOT is null.
func (r Result) MarshalJSON() ([]byte, error) {
	o := object{}
	o.addTurn(&r)
	if !r.TTFT.OK {
		o = append(o, `,"ttft_seconds":null`...)
	}
	if !r.TPOT.OK {
		o = append(o, `,"tpot_seconds":null`...)
	}
	o.addPosition(&r)
	o.addDetails(&r)
	o.add("v", lineVersion)
	return o.appendTo(nil), nil
}

func (o *object) addTurn(r *Result) {
	o.add("at", timestamp(r.Sent))
	o.add("target", r.Target)
	o.add("workload", r.Workload)
	o.add("turn", r.Kind)
	o.add("outcome", r.Outcome)
	o.add("proof", r.Proof)
	o.add("ttft_seconds", r.TTFT)
	o.add("tpot_seconds", r.TPOT)
	o.add("duration_seconds", Some(r.Duration()))
	o.add("prompt_tokens", r.PromptTokens)
	o.add("cached_prompt_tokens", r.CachedTokens)
	o.add("output_tokens", r.OutputTokens)
	o.add("context_tokens", r.ContextTokens)
	o.add("estimated_uncached_tokens", r.UncachedEstimate)
	o.add("gateway_retries", r.Gateway.Retries)
	o.add("gateway_fallbacks", r.Gateway.Fallbacks)
	o.add("gateway_overhead_seconds", r.Gateway.Overhead)
	o.add("trace_id", r.TraceID)
	o.add("span_id", r.SpanID)
	o.add("session", r.Session)
	if r.Recall.Result != "" {
		o.add("recall", r.Recall.Result)
		o.add("recall_cached", r.Recall.CachedState())
		o.add("recall_depth", r.Recall.Depth)
	}
	o.add("extra", r.Burst)
}

func (o *object) addPosition(r *Result) {
	o.add("conversation", r.Conversation)
	o.add("index", r.Turn)
	o.add("answer_ttft_seconds", r.AnswerTTFT)
}

func (o *object) addDetails(r *Result) {
	median, longest := r.ITL()
	o.add("error", r.Err)
	o.add("http_status", r.Status)
	o.add("http_version", r.Phases.HTTPVersion())
	o.add("connection_reused", r.Phases.Reused)
	o.add("scheduled", timestamp(r.Scheduled))
	o.add("schedule_lag_seconds", Some(r.ScheduleLag()))
	o.add("dns_seconds", r.Phases.DNS)
	o.add("connect_seconds", r.Phases.Connect)
	o.add("tls_seconds", r.Phases.TLS)
	o.add("headers_seconds", r.Phases.Headers)
	o.add("first_event_seconds", r.Phases.FirstEvent)
	o.add("tpot_unknown", r.TPOTUnknown)
	o.add("itl_p50_seconds", median)
	o.add("itl_max_seconds", longest)
	o.add("token_events", r.Events)
	o.add("coalesced_events", r.Coalesced)
	o.add("buffered", r.Buffered)
	if r.Events > 0 {
		o.add("timestamp_source", map[bool]string{true: "kernel", false: "read"}[r.Kernel])
	}
	o.add("reasoning_tokens", r.ReasoningTokens)
	o.add("output_tokens_estimated", r.UsageMissing)
	o.add("usage_impossible", r.UsageImpossible)
	o.add("context_cut", r.ContextCut())
	o.add("finish_reason", r.FinishReason)
	o.add("no_answer", r.NoAnswer)
	o.add("refused", r.Refusal != "")
	o.add("other_choices", r.OtherChoices)
	o.add("tool_calls", len(r.ToolCalls))
	o.add("left_out", r.LeftOut)
	o.add("gateway_response_seconds", r.Gateway.Response)
	o.add("gateway_backend", r.Gateway.Backend)
}

// ITL returns the median (nearest rank) and the longest of the gaps.
func (r *Result) ITL() (median, longest Opt[time.Duration]) {
	if len(r.Gaps) == 0 {
		return median, longest
	}
	sorted := slices.Sorted(slices.Values(r.Gaps))
	return Some(sorted[(len(sorted)-1)/2]), Some(sorted[len(sorted)-1])
}

// HTTPVersion returns "1.1" or "2", and "" for a turn without response headers.
func (p Phases) HTTPVersion() string {
	switch {
	case !p.Headers.OK:
		return ""
	case p.HTTP2:
		return "2"
	}
	return "1.1"
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// object is a JSON object in progress: its members, each after a comma.
type object []byte

// add adds a member. It leaves out what is unknown, empty, false or 0; a known count or time of 0 stays. Times are
// seconds, rounded to microseconds.
func (o *object) add(key string, v any) {
	switch known := v.(type) {
	case Opt[int]:
		if !known.OK || known.V < 0 { // a server may report negative numbers
			return
		}
		v = known.V
	case Opt[time.Duration]:
		if !known.OK || known.V < 0 { // negative after the clock was set back
			return
		}
		v = math.Round(float64(known.V)/1e3) / 1e6
	default:
		if reflect.ValueOf(v).IsZero() {
			return
		}
	}
	text, _ := json.Marshal(v) // no value has a type that cannot be encoded
	*o = append(append(append(*o, `,"`...), key...), `":`...)
	*o = append(*o, text...)
}

// appendTo appends the finished object.
func (o object) appendTo(b []byte) []byte {
	b = append(append(b, '{'), o[1:]...)
	return append(b, '}')
}
