package probe

import "slices"

// Outcome is how a turn ended. Every turn that was started ends in exactly
// one. The values are also the values of the "reason" label.
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
	Truncated         Outcome = "truncated"
	Malformed         Outcome = "malformed"
	Empty             Outcome = "empty"
	// ContentFilter: the provider's filter ended the answer, or refused to give
	// one.
	ContentFilter   Outcome = "content_filter"
	ContentMismatch Outcome = "content_mismatch"
	// ToolCallInvalid: a call that no client could carry out, or none where one
	// was demanded.
	ToolCallInvalid Outcome = "tool_call_invalid"
	// SchemaMismatch: the text is not what the response format asks for.
	SchemaMismatch Outcome = "schema_mismatch"
	// NotSent: nothing of the request left this process, for want of something
	// of our own: a key, a file descriptor, a local port, room.
	NotSent Outcome = "not_sent"
	// ProberLate: a bound passed, or the connection was lost, while the prober
	// itself was provably not running.
	ProberLate Outcome = "prober_late"
	// Canceled is our own shutdown, UserCanceled the simulated user's: the
	// connection is closed in mid-turn, as that of a closed tab.
	Canceled     Outcome = "canceled"
	UserCanceled Outcome = "user_canceled"
)

// Outcomes lists every outcome: Success, the Failures, the OwnFaults, and those that
// we ended.
func Outcomes() []Outcome {
	return []Outcome{
		Success, ConnectError, TLSError, TimeoutFirstToken, Stall, TimeoutTotal,
		HTTP429, HTTP4xx, HTTP5xx, ErrorEvent, Truncated, Malformed, Empty,
		ContentFilter, ContentMismatch, ToolCallInvalid, SchemaMismatch, NotSent, ProberLate, Canceled, UserCanceled,
	}
}

// Failures lists the outcomes that count against the deployment.
func Failures() []Outcome {
	return slices.DeleteFunc(Outcomes(), func(o Outcome) bool { return !o.Failed() })
}

// OwnFaults lists the outcomes that count against the prober.
func OwnFaults() []Outcome { return []Outcome{NotSent, ProberLate} }

// Failed reports whether the outcome counts against the deployment.
func (o Outcome) Failed() bool { return o != Success && !o.Own() }

// WrongAnswer reports whether the deployment answered in good order, and not what
// was asked for: such a turn has the latencies of any other.
func (o Outcome) WrongAnswer() bool {
	return o == ContentMismatch || o == ContentFilter || o == ToolCallInvalid || o == SchemaMismatch
}

// Own reports whether the prober itself ended the turn, be it by its shutdown, in
// the name of a user who did not wait, or by a fault. Such a turn says nothing of the deployment: it is no failure,
// no SLO judges it, and it enters no baseline.
func (o Outcome) Own() bool { return o.Canceled() || o.OwnFault() }

// Canceled reports whether we ended a turn, or a simulated user did.
func (o Outcome) Canceled() bool { return o == Canceled || o == UserCanceled }

// OwnFault reports whether the outcome is one of OwnFaults.
func (o Outcome) OwnFault() bool { return o == NotSent || o == ProberLate }

// Busy reports whether the deployment was up and refused for load: "busy" is
// not "down".
func (o Outcome) Busy() bool { return o == HTTP429 }
