package probe

import (
	"fmt"
	"net/http"
	"slices"

	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/redact"
)

const (
	// maxEvidence bounds the bytes of WrongAnswer.Answer. recall.Judge searches less than half of them at each end.
	maxEvidence = 64 << 10
	// maxHeaders and maxHeaderValue bound the headers of a WrongAnswer, in values and in bytes of a value.
	maxHeaders, maxHeaderValue = 64, 256
	// maxFound bounds WrongAnswer.Found.
	maxFound = 16
)

// WrongAnswer is an answer whose recall is wrong or foreign, with the data that can prove it. Conversations report it
// only with Options.Evidence.
type WrongAnswer struct {
	// Result is the turn of the answer. Its Answer has no secrets, and of a long text only the beginning and the end.
	// Reasoning, refusals and tool calls are left out.
	Result
	// IsTwin is true for the answer to a cold twin. Turn and TraceID are then those of the original turn.
	IsTwin bool
	// Codes are the reference codes that show why the answer is wrong. Codes are random and not secret.
	Codes
	// RequestID is the id in the body of the answer; "" without one.
	RequestID string
	// Header has the headers of the response that name the request, or what answered it (see isProof).
	Header http.Header
	// AnswerBytes is the length of the whole answer.
	AnswerBytes int
}

// Codes are the reference codes of a judgement.
type Codes struct {
	// Asked is the code that the question asked for; "" if it asked for none.
	Asked recall.Code
	// Found are codes of other conversations in the answer, without repetitions, maxFound at most.
	Found []recall.Code
}

func newCodes(asked recall.Code, foreign []recall.Code) Codes {
	c := Codes{Asked: asked}
	for _, code := range foreign {
		if len(c.Found) < maxFound && !slices.Contains(c.Found, code) {
			c.Found = append(c.Found, code)
		}
	}
	return c
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
		Result: r.withoutSecrets().(Result), IsTwin: isTwin, Codes: d.judged, RequestID: redact.Text(a.seen.id),
		Header: shownHeaders(a.headers, d.prober.opts.Target.Session.Echo), AnswerBytes: len(r.Answer),
	}
	w.Answer = bothEnds(redact.Text(r.Answer)) // in this order: a part of a secret is not recognised
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
