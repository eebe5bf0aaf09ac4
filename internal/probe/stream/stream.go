// Package stream turns the body of a streamed answer into events, each with the
// time its last byte reached this host. What an event means is for the Decoder of
// the API to say; all of them share one reader of lines and one scan of JSON.
//
// The reader never times anything itself: the body says when bytes arrived
// (Source), so parsing, scheduling and garbage collection cannot move a
// timestamp.
package stream

import (
	"io"
	"time"
)

// Arrival says when the bytes of one read reached this host.
type Arrival struct {
	// At is the arrival, on the monotonic clock: the kernel's receive
	// timestamp where there is one, otherwise the time the read returned.
	At time.Time
	// Seen is when this process looked; Seen - At is the read lag.
	Seen time.Time
	// Kernel says that At is the kernel's.
	Kernel bool
}

// Source is a response body that says when its bytes arrived.
type Source interface {
	io.Reader
	// Arrival describes the bytes that the last Read returned.
	Arrival() Arrival
}

// Kind classifies an event by what it means for timing.
type Kind uint8

const (
	// Other carries nothing that timing needs (role only, empty delta, unknown).
	Other Kind = iota
	// Token carries a non-empty content, reasoning, refusal or tool-call delta.
	Token
	// Done is the end of the answer: "[DONE]", or what the API has in its place.
	Done
	// Error is an error object inside the stream.
	Error
	// Malformed is data that is not a JSON object.
	Malformed
)

// Usage are the server's own token counts.
type Usage struct {
	// PromptTokens and OutputTokens are 0 where the server did not say.
	PromptTokens, OutputTokens int
	// CachedTokens is valid only if CachedKnown: unknown is not zero.
	CachedTokens int
	CachedKnown  bool
	// ReasoningTokens is the part of OutputTokens spent on reasoning, valid only
	// if ReasoningKnown.
	ReasoningTokens int
	ReasoningKnown  bool
}

// Decoder reads the payloads of one stream's events. What it learns of one it may
// use for the next.
type Decoder interface {
	// Decode fills ev from the payload of an event, which it may write over and
	// ev share. named says that the event was called "error". It reports false,
	// having written nothing, if the payload is not one JSON object.
	Decode(ev *Event, data []byte, named bool) bool
}

// Event is one event of a streamed answer. Its byte slices are valid until the
// next call of Next.
type Event struct {
	Arrival
	Kind Kind
	// Coalesced says that the read that completed this event had completed an
	// earlier event already: the two share their arrival.
	Coalesced bool
	// Content, Reasoning and Refusal are the decoded deltas of the answer, nil
	// when absent, null or empty. ReasoningField is what the server calls its
	// reasoning.
	Content, Reasoning, Refusal []byte
	ReasoningField              string
	// ToolCalls are the non-empty tool-call deltas, nil for none.
	ToolCalls []ToolCall
	// Model is what the server says answers, in the first event that does.
	Model string
	// Fingerprint is the system_fingerprint, in the first event that has one, and
	// Worker the one that the event says decoded it.
	Fingerprint, Worker string
	// OtherChoice says that the event carries text of another choice than the
	// one that is the answer.
	OtherChoice bool
	// FinishReason is the finish reason if the event has a non-null one, in the
	// words of chat completions: stop, length, tool_calls, content_filter.
	FinishReason string
	// Usage is valid if HasUsage (a null usage is none).
	Usage    Usage
	HasUsage bool
	// Message is the error message of Kind Error, or the start of the bad data
	// of Kind Malformed; at most 512 bytes.
	Message string
}
