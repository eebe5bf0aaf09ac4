// Package probe holds one conversation with a deployment, turn by turn, and
// reports each turn as a Result. It knows nothing of metrics.
package probe

import (
	"time"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/workload"
)

// TurnKind separates the two populations that are never mixed.
type TurnKind string

const (
	// First is a conversation's opening turn: a long prompt, cached at most
	// through other conversations.
	First TurnKind = "first"
	// Followup is every later turn: its history should be in the prefix cache.
	Followup TurnKind = "followup"
)

// TurnKinds lists both kinds.
func TurnKinds() []TurnKind { return []TurnKind{First, Followup} }

// Index is the kind's place in TurnKinds.
func (k TurnKind) Index() int {
	if k == Followup {
		return 1
	}
	return 0
}

// Opt is a value that may be undefined or unknown, which is never the same as
// zero.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some returns a defined value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Result is one finished turn: the only value that flows to metrics, pages and
// reports. All times are readings of one monotonic clock.
type Result struct {
	Target, Workload, Model string
	// Conversation identifies the conversation within this process.
	Conversation string
	// Turn counts from 1.
	Turn int
	Kind TurnKind
	// TraceID is the 32 hex digits of the traceparent header that was sent. SpanID
	// is the turn's span and ParentSpanID that of its conversation, 16 hex digits
	// each; "" where no span is exported.
	TraceID, SpanID, ParentSpanID string

	// Scheduled is when the arrival process (or the think time) wanted the
	// turn; Sent is when it was handed to the transport; End is the arrival of
	// the stream's last byte, or the moment the turn was given up.
	Scheduled, Sent, End time.Time

	Outcome Outcome
	// Worker is who answered behind a front door, as the answer says; "" where it
	// does not, or the target is none.
	Worker string
	// Status is the HTTP status, 0 when none arrived.
	Status int
	// Err says in words what went wrong, free of secrets; "" on success.
	Err string

	Phases Phases
	// TTFT is sent → first token-bearing event; AnswerTTFT → first non-empty
	// content. Undefined when no such event came.
	TTFT, AnswerTTFT Opt[time.Duration]
	// TPOT is (last token − first token) / (output tokens − tokens of the
	// first event); undefined for fewer than two tokens, and where Buffered.
	TPOT Opt[time.Duration]
	// Gaps are the inter-token latencies: times between consecutive
	// token-bearing events; none where Buffered.
	Gaps []time.Duration
	// Coalesced of the Events came in one read with an earlier one and share
	// its time: their gaps are 0 by arrival, not by the server's pace.
	Coalesced int

	// PromptTokens, CachedTokens, OutputTokens and ReasoningTokens, which is a
	// part of it, come from usage. OutputTokens is estimated from the number of token-bearing events when
	// UsageMissing.
	PromptTokens, CachedTokens, OutputTokens, ReasoningTokens Opt[int]
	UsageMissing                                              bool
	// FinishReason as the server gave it, in the words of chat completions.
	FinishReason string
	// Events counts token-bearing events.
	Events int
	// ReadLagMax is the largest delay between the arrival of a token's bytes
	// and our look at them; Kernel says that the kernel stamped every one.
	ReadLagMax time.Duration
	Kernel     bool
	// Buffered says that the events came together, in one burst or a few, though
	// they were read in time: something between the server and us keeps them back.
	Buffered bool
	// Extra says that the turn was taken because a fault was suspected. Such turns
	// are no fair sample of the time.
	Burst bool
	// Lag is how much the prober itself may have added to the time to first token
	// of this turn, or of an earlier one of its conversation, at most; StreamLag,
	// to a time between two of its tokens, or to its end.
	Lag, StreamLag time.Duration
	// Answer is the assistant's text (content only), as put in the history.
	Answer string
	// Odd is why an answer that came in good order is taken for rubbish, or for
	// that of another model; "" if it is not. It changes no outcome.
	Odd answers.Reason
	// AnsweredBy is the model that the server named, where Odd is garble.Model.
	AnsweredBy string
	// NoAnswer says that tokens came, but no content other than white space:
	// reasoning, a refusal or tool calls alone.
	NoAnswer bool
	// Reasoning and Refusal are the texts that came beside it; ReasoningField is
	// what the server calls its reasoning.
	Reasoning, ReasoningField, Refusal string
	// ToolCalls are the calls that the answer asks for, put together.
	ToolCalls []workload.ToolCall
	// OtherChoices says that the server gave more than one answer. The first is
	// the one that was measured.
	OtherChoices bool
}

// Phases are parts of a turn; each is undefined when it did not happen.
type Phases struct {
	// DNS, Connect and TLS are durations of those steps; undefined on a reused
	// connection.
	DNS, Connect, TLS Opt[time.Duration]
	// Headers and FirstEvent are measured from Sent.
	Headers, FirstEvent Opt[time.Duration]
	// Reused says that the turn went over a kept connection.
	Reused bool
}

// Duration is sent → end.
func (r Result) Duration() time.Duration { return r.End.Sub(r.Sent) }

// TokenLag is how much of the TPOT the prober itself may have made, at most.
func (r Result) TokenLag() time.Duration {
	return r.StreamLag / time.Duration(max(r.OutputTokens.V-1, 1))
}

// ScheduleLag is how late the prober itself sent the turn.
func (r Result) ScheduleLag() time.Duration { return r.Sent.Sub(r.Scheduled) }

// Conversation is one finished conversation.
type Conversation struct {
	Target, Workload, ID string
	// TraceID and SpanID are those of its span; "" where none is exported.
	TraceID, SpanID string
	// Scheduled is when its first turn was due, End when its last turn ended.
	Scheduled, End time.Time
	// Outcome is the outcome of the last turn: Success, the failure that ended
	// it, or Canceled.
	Outcome Outcome
	// UserErrors counts messages that the user endpoint failed to write.
	UserErrors int
	// Turns were taken, those that give a tool's results too.
	Turns int
	// Shortened says that no further turn was taken because the answers had made
	// the history too long, or because one had no content to stand in it.
	Shortened bool
}
