package probe

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
	ContentMismatch   Outcome = "content_mismatch"
	// Canceled is our own shutdown: no failure, and judged by no SLO.
	Canceled Outcome = "canceled"
)

// Outcomes lists every outcome, Success first and Canceled last.
func Outcomes() []Outcome {
	return []Outcome{
		Success, ConnectError, TLSError, TimeoutFirstToken, Stall, TimeoutTotal,
		HTTP429, HTTP4xx, HTTP5xx, ErrorEvent, Truncated, Malformed, Empty,
		ContentMismatch, Canceled,
	}
}

// Failures lists the outcomes that count against the deployment.
func Failures() []Outcome {
	all := Outcomes()
	return all[1 : len(all)-1]
}

// Failed reports whether the outcome counts against the deployment.
func (o Outcome) Failed() bool { return o != Success && o != Canceled }

// Busy reports whether the deployment was up and refused for load: "busy" is
// not "down".
func (o Outcome) Busy() bool { return o == HTTP429 }
