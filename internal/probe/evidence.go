package probe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"synthetic/internal/bound"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

const (
	// maxEvidence bounds the bytes of WrongAnswer.Answer. recall.Judge searches less than half of them at each end.
	maxEvidence = 64 << 10
	// maxHeaders and maxHeaderValue bound the headers of a WrongAnswer, in values and in bytes of a value.
	maxHeaders, maxHeaderValue = 64, 256
)

// WrongAnswer is an answer whose recall is wrong or foreign, with the data that can prove it. Conversations report it
// only with Options.Evidence.
type WrongAnswer struct {
	// Result is the turn of the answer. Its Answer has no secrets, and of a long text only the beginning and the end.
	// Reasoning, refusals and tool calls are left out.
	Result
	// IsTwin is true for the answer to a cold twin. Turn and TraceID are then those of the original turn.
	IsTwin bool
	// RequestID is the id in the body of the answer; "" without one.
	RequestID string
	// Header has the headers of the response, without those that may carry a secret.
	Header http.Header
	// AnswerBytes is the length of the whole answer.
	AnswerBytes int
}

// reportWrong reports an answer if it is wrong or foreign. The secrets of the session must be hidden before.
func (d *dialogue) reportWrong(r *Result, a *attempt, isTwin bool, sink Sink) {
	isWrong := r.Recall.Result == recall.Wrong || r.Recall.Result == recall.Foreign
	if isWrong && d.prober.opts.Evidence {
		sink.Observe(d.wrongAnswer(r, a, isTwin))
	}
}

func (d *dialogue) wrongAnswer(r *Result, a *attempt, isTwin bool) Event {
	w := WrongAnswer{
		Result: r.withoutSecrets().(Result), IsTwin: isTwin, RequestID: redact.Text(a.seen.id),
		Header: shownHeaders(a.headers, d.prober.opts.Target.Session.Echo), AnswerBytes: len(r.Answer),
	}
	w.Answer = redact.Text(bothEnds(r.Answer))
	w.Reasoning, w.Refusal, w.ToolCalls, w.Gaps = "", "", nil, nil
	return w
}

// bothEnds returns a text, or the beginning and the end of a long one.
func bothEnds(text string) string {
	if len(text) <= maxEvidence {
		return text
	}
	left := len(text) - maxEvidence
	return fmt.Sprintf("%s\n[%d bytes are left out]\n%s", text[:maxEvidence/2], left, text[len(text)-maxEvidence/2:])
}

// shownHeaders returns the headers of a response that carry no secret. echo are the names of the session's tokens.
func shownHeaders(h http.Header, echo []string) http.Header {
	shown, n := http.Header{}, 0
	for name, values := range h {
		isEcho := slices.ContainsFunc(echo, func(e string) bool { return strings.EqualFold(e, name) })
		if isEcho || target.CarriesKey(name) || isNamedSecret(name) {
			continue
		}
		for _, v := range values {
			if n++; n > maxHeaders {
				return shown
			}
			shown.Add(name, redact.Text(bound.Shorten(v, maxHeaderValue)))
		}
	}
	return shown
}

// isNamedSecret reports whether the name of a header contains a word for a secret, such as Set-Cookie.
func isNamedSecret(header string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(header), "-"), func(word string) bool {
		switch word {
		case "auth", "authenticate", "authorization", "cookie", "credential", "key", "password", "secret", "signature", "token":
			return true
		}
		return false
	})
}
