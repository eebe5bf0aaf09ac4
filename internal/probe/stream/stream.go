// Package stream turns the body of a streamed chat completion into events,
// each with the time its last byte reached this host.
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
	// Token carries a non-empty content, reasoning or tool-call delta.
	Token
	// Done is the "[DONE]" marker.
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
	// ReasoningTokens is the part of OutputTokens spent on reasoning, if said.
	ReasoningTokens int
}

// Event is one SSE event of a chat completion. Its byte slices are valid until
// the next call of Next.
type Event struct {
	Arrival
	Kind Kind
	// Coalesced says that the read that completed this event had completed an
	// earlier event already: the two share their arrival.
	Coalesced bool
	// Content and Reasoning are the decoded deltas of choice 0, nil when
	// absent, null or empty. ToolCall says a non-empty tool-call delta came.
	Content, Reasoning []byte
	ToolCall           bool
	// FinishReason is the finish reason if the event has a non-null one.
	FinishReason string
	// Usage is valid if HasUsage (a null usage is none).
	Usage    Usage
	HasUsage bool
	// Message is the error message of Kind Error, or the start of the bad data
	// of Kind Malformed; at most 512 bytes.
	Message string
	// Size is the number of payload bytes of the event.
	Size int
}
