// Package probe runs conversations with a deployment and reports each turn as a Result. It knows
// nothing about metrics.
package probe

import (
	"time"

	"synthetic/internal/probe/workload"
)

// TurnKind separates two populations of turns that are never mixed.
type TurnKind string

const (
	// First is the first turn of a conversation: a long prompt that is cached only through
	// other conversations.
	First TurnKind = "first"
	// Followup is every later turn: the prefix cache should contain its history.
	Followup TurnKind = "followup"
)

// TurnKinds returns both kinds.
func TurnKinds() []TurnKind { return []TurnKind{First, Followup} }

// Index is the index of the kind in TurnKinds.
func (k TurnKind) Index() int {
	if k == Followup {
		return 1
	}
	return 0
}

// Opt is a value that may be unknown or undefined, which differs from zero.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some returns a known value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Text returns the value as text; "n/a" if it is unknown.
func (o Opt[T]) Text(write func(T) string) string {
	if !o.OK {
		return "n/a"
	}
	return write(o.V)
}

// positive returns a known value, if it is above 0.
func positive[T int | time.Duration](v T) Opt[T] { return Opt[T]{V: max(v, 0), OK: v > 0} }

// Result is one finished turn. Its embedded parts hold the details. All times come from one monotonic clock.
type Result struct {
	Target, Workload string
	Kind             TurnKind
	// Sent is when the transport got the turn. End is when the last byte of the stream arrived, or when the
	// prober gave up.
	Sent, End time.Time

	Outcome Outcome
	// Proof is how it is known whose fault a failure is; "" if the turn did not fail.
	Proof Proof
	// Err describes the failure, without secrets; "" on success.
	Err string

	// TTFT is the time from Sent to the first token-bearing event; unknown if there was none.
	TTFT Opt[time.Duration]
	// TPOT is (last token − first token) / (tokens of the events after the first). It is unknown for
	// fewer than two events and for tokens that arrived together, and for the reason TPOTUnknown.
	TPOT Opt[time.Duration]

	Asked
	Timing
	Tokens
	Texts
	Server
}

// Asked is what was asked, and when it was due.
type Asked struct {
	Model string
	// Conversation is the ID of the conversation in this process.
	Conversation string
	// Turn counts from 1.
	Turn int
	// Scheduled is when the turn was due, by the arrival process or the think time.
	Scheduled time.Time
	// Burst is true for a turn that exists only because of a burst. Such turns are not a
	// representative sample.
	Burst bool
	// LeftOut are the fields that the request left out because the target refuses them.
	LeftOut []string
	// TraceID has the 32 hex digits of the traceparent header, which all turns of a conversation
	// share. SpanID has its 16 digits, which identify the turn. ParentSpanID is the span of the
	// conversation; "" if no span is exported.
	TraceID, SpanID, ParentSpanID string
}

// Timing is how the answer arrived, and how exactly that is known.
type Timing struct {
	Phases Phases
	// AnswerTTFT is the time from Sent to the first event with more than reasoning; unknown if there was none.
	AnswerTTFT Opt[time.Duration]
	// TPOTTokens is the divisor of TPOT.
	TPOTTokens  float64
	TPOTUnknown TPOTUnknown
	// Gaps are the times between consecutive token-bearing events, the inter-token latencies.
	// Tokens that arrived together have none.
	Gaps []time.Duration
	// Events counts token-bearing events. Coalesced is how many of them arrived in one read with an earlier
	// one and share its time. Their gaps of 0 do not describe the server.
	Events, Coalesced int
	// ReadLagMax is the largest delay between the arrival of a token's bytes and the prober's
	// reading of them. Kernel is true if the kernel stamped all of them.
	ReadLagMax time.Duration
	Kernel     bool
	// Buffered is true if the events of a longer answer arrived together, although the prober
	// read them on time: something between the server and the prober buffers them.
	Buffered bool
	// Lag is the maximum that the prober itself may have added to the TTFT. StreamLag is the same
	// for the time between two tokens, and for the end.
	Lag, StreamLag time.Duration
}

// Tokens are counts from the usage. ReasoningTokens are part of OutputTokens.
type Tokens struct {
	PromptTokens, CachedTokens, OutputTokens, ReasoningTokens Opt[int]
	// UsageMissing is true if OutputTokens is the number of token-bearing events instead.
	UsageMissing bool
	// UsageImpossible says why the usage cannot be true, and counts as missing; "" if it can.
	UsageImpossible string
	// ContextTokens are the tokens of the turns before in the conversation, without reasoning: a prefix
	// cache could hold them. Unknown in first turns.
	ContextTokens Opt[int]
	// PreviousPrompt are the prompt tokens of the turn before, without echoed reasoning, which chat templates
	// drop later; 0 if unknown, or if the two turns count in other ways.
	PreviousPrompt int
	// UncachedEstimate replaces PromptTokens − CachedTokens in a turn without PromptTokens, such as a
	// failed one. It is estimated from the length of the texts and the cached share of the job's last
	// turn of this kind.
	UncachedEstimate Opt[int]
}

// Texts are the parts of the answer, and what was found in them.
type Texts struct {
	// Answer is the text of the content, as the history has it.
	Answer string
	// Reasoning and Refusal are texts besides the content. ReasoningField is the server's name
	// of the reasoning.
	Reasoning, ReasoningField, Refusal string
	ToolCalls                          []workload.ToolCall
	// FinishReason is the server's, in the terms of chat completions.
	FinishReason string
	// NoAnswer is true if there were tokens, but no content except white space: only reasoning,
	// a refusal or tool calls.
	NoAnswer bool
	// OtherChoices is true if the server sent several choices. The first one was measured.
	OtherChoices bool
	// Recall says whether the answer has the reference that the turn asked for.
	Recall Recall
}

// Server is what answered, as far as the answer says it.
type Server struct {
	// Status is the HTTP status; 0 if none arrived.
	Status int
	// Worker names the worker behind a router; "" if the answer names none.
	Worker string
	// Session is SessionLost if another worker answered than in the previous turn, otherwise SessionKept; "" if
	// an answer names none.
	Session string
	// AnsweredBy is the model that the server named, if it is not the requested one.
	AnsweredBy string
	// Gateway is what a gateway in front of the server reports of the turn.
	Gateway Gateway
}

// Phases are parts of a turn; unknown if they did not happen.
type Phases struct {
	// DNS, Connect and TLS are the durations of those steps; unknown on a reused connection.
	DNS, Connect, TLS Opt[time.Duration]
	// Headers and FirstEvent are measured from Sent.
	Headers, FirstEvent Opt[time.Duration]
	// Reused is true if the connection was reused, HTTP2 if the headers came over HTTP/2.
	Reused, HTTP2 bool
}

// Duration is the time from Sent to End.
func (r *Result) Duration() time.Duration { return r.End.Sub(r.Sent) }

// IsOtherModel reports whether another model than the requested one answered, and no gateway reports that it fell
// back to it.
func (r *Result) IsOtherModel() bool { return r.AnsweredBy != "" && r.Gateway.Fallbacks.V == 0 }

// ContextCut reports whether the prompt has fewer tokens than that of the turn before, although it contains it: the
// server dropped a part of it.
func (r *Result) ContextCut() bool { return r.PromptTokens.OK && r.PromptTokens.V < r.PreviousPrompt }

// TokenLag is the maximum that the prober itself may have added to the TPOT.
func (r *Result) TokenLag() time.Duration {
	return time.Duration(float64(r.StreamLag) / max(r.TPOTTokens, 1))
}

// ScheduleLag is how late the prober sent the turn.
func (r *Result) ScheduleLag() time.Duration { return r.Sent.Sub(r.Scheduled) }
