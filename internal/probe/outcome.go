package probe

import "slices"

// Outcome is how a turn ended. The values are those of the "reason" label.
type Outcome string

const (
	Success           Outcome = "success"
	ConnectError      Outcome = "connect_error"
	TLSError          Outcome = "tls_error"
	TimeoutFirstToken Outcome = "timeout_first_token"
	Stall             Outcome = "stall"
	TimeoutTotal      Outcome = "timeout_total"
	HTTP429           Outcome = "http_429"
	HTTP4xx           Outcome = "http_4xx"
	HTTP5xx           Outcome = "http_5xx"
	ErrorEvent        Outcome = "error_event"
	// Aborted: the server gave the answer up, by its finish reason.
	Aborted   Outcome = "aborted"
	Truncated Outcome = "truncated"
	Malformed Outcome = "malformed"
	Empty     Outcome = "empty"
	// ContentFilter: the provider's filter ended or prevented the answer.
	ContentFilter   Outcome = "content_filter"
	ContentMismatch Outcome = "content_mismatch"
	// ToolCallInvalid: a tool call is invalid, or a required one is missing.
	ToolCallInvalid Outcome = "tool_call_invalid"
	// SchemaMismatch: the text is not valid by the response format.
	SchemaMismatch Outcome = "schema_mismatch"
	// NotSent: nothing was sent, because the prober lacked a key, a file descriptor, a local
	// port or memory.
	NotSent Outcome = "not_sent"
	// ProberLate: a deadline passed, or the connection was lost, while the prober was provably
	// not running.
	ProberLate Outcome = "prober_late"
	// Canceled: the prober's shutdown ended the turn. UserCanceled: the simulated user closed
	// the connection during the turn, like a closed tab.
	Canceled     Outcome = "canceled"
	UserCanceled Outcome = "user_canceled"
)

// Outcomes returns all outcomes: Success, Failures, OwnFaults, Canceled and UserCanceled.
func Outcomes() []Outcome {
	return []Outcome{
		Success, ConnectError, TLSError, TimeoutFirstToken, Stall, TimeoutTotal,
		HTTP429, HTTP4xx, HTTP5xx, ErrorEvent, Aborted, Truncated, Malformed, Empty,
		ContentFilter, ContentMismatch, ToolCallInvalid, SchemaMismatch, NotSent, ProberLate, Canceled, UserCanceled,
	}
}

// Failures returns the outcomes that count against the deployment.
func Failures() []Outcome {
	return slices.DeleteFunc(Outcomes(), func(o Outcome) bool { return !o.Failed() })
}

// OwnFaults returns the outcomes that count against the prober.
func OwnFaults() []Outcome { return []Outcome{NotSent, ProberLate} }

// Failed reports whether the outcome counts against the deployment.
func (o Outcome) Failed() bool { return o != Success && !o.Own() }

// WrongAnswer reports whether a complete answer was rejected for its content. Its latencies
// count.
func (o Outcome) WrongAnswer() bool {
	return o == ContentMismatch || o == ContentFilter || o == ToolCallInvalid || o == SchemaMismatch
}

// Own reports whether the prober itself ended the turn: by its shutdown, for a simulated user or
// by a fault. Such a turn says nothing about the deployment. No SLO judges it, and no baseline
// contains it.
func (o Outcome) Own() bool { return o.Canceled() || o.OwnFault() }

// Canceled reports whether the prober's shutdown or a simulated user ended the turn.
func (o Outcome) Canceled() bool { return o == Canceled || o == UserCanceled }

// OwnFault reports whether the outcome is one of OwnFaults.
func (o Outcome) OwnFault() bool { return o == NotSent || o == ProberLate }

// Proof is why a failed turn counts against the target or against the prober.
type Proof string

const (
	// Answered: the peer itself ended the turn, for example by a status, an error event, a reset,
	// a refused connection or a certificate, however late the prober was. Only a close, a reset
	// or a 408 is Ours, if the prober paused for a second before the peer had the request.
	Answered Proof = "answered"
	// Silent: a deadline passed, and the peer had nearly all of the time.
	Silent Proof = "silent"
	// Ours: the prober could not send, or took too much of the time for itself.
	Ours Proof = "ours"
)

// proofOf returns the proof of an outcome. silent is true if a deadline ended the turn.
func proofOf(o Outcome, silent bool) Proof {
	switch {
	case o.OwnFault():
		return Ours
	case !o.Failed():
		return ""
	case silent:
		return Silent
	}
	return Answered
}

// Busy reports whether the deployment is up, but refused the turn because of its load.
func (o Outcome) Busy() bool { return o == HTTP429 }
