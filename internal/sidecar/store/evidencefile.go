package store

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// evidenceFile is the form of a file of evidence; docs/how-to/recall.md describes it. Unknown values are left out.
type evidenceFile struct {
	Version      int           `json:"v"`
	Result       recall.Result `json:"result"`
	Target       string        `json:"target"`
	Workload     string        `json:"workload"`
	Model        string        `json:"model,omitempty"`
	AnsweredBy   string        `json:"answered_by,omitempty"`
	Conversation string        `json:"conversation"`
	Turn         int           `json:"turn"`
	ColdTwin     bool          `json:"cold_twin,omitempty"`
	TraceID      string        `json:"trace_id,omitempty"`
	SpanID       string        `json:"span_id"`
	RequestID    string        `json:"request_id,omitempty"`
	Asked        recall.Code   `json:"asked,omitempty"`
	Found        []recall.Code `json:"found,omitempty"`
	Worker       string        `json:"worker,omitempty"`
	Backend      string        `json:"gateway_backend,omitempty"`
	Fingerprint  string        `json:"system_fingerprint,omitempty"`
	// The times are in UTC, by the prober's clock.
	Sent            time.Time   `json:"sent"`
	FirstToken      time.Time   `json:"first_token,omitzero"`
	End             time.Time   `json:"end"`
	Cached          string      `json:"cached"`
	Depth           *int        `json:"depth,omitempty"`
	PromptTokens    *int        `json:"prompt_tokens,omitempty"`
	CachedTokens    *int        `json:"cached_prompt_tokens,omitempty"`
	OutputTokens    *int        `json:"output_tokens,omitempty"`
	Status          int         `json:"status"`
	FinishReason    string      `json:"finish_reason,omitempty"`
	ResponseHeaders http.Header `json:"response_headers"`
	AnswerBytes     int         `json:"answer_bytes"`
	Answer          string      `json:"answer"`
}

// encodeEvidence returns the text of the file. It has at most 0.5 MB, because the answer and the headers are bounded.
func encodeEvidence(w *probe.WrongAnswer) ([]byte, error) {
	f := evidenceFile{
		Version: 1, Result: w.Recall.Result, Target: w.Target, Workload: w.Workload, Model: w.Model, AnsweredBy: w.AnsweredBy,
		Conversation: w.Conversation, Turn: w.Turn, ColdTwin: w.IsTwin, TraceID: w.TraceID, SpanID: w.SpanID,
		RequestID: w.RequestID, Asked: w.Asked, Found: w.Found, Worker: w.Worker, Backend: w.Gateway.Backend, Fingerprint: w.Fingerprint,
		Sent: w.Sent.UTC(), End: w.End.UTC(), Cached: w.Recall.CachedState(), Depth: known(w.Recall.Depth),
		PromptTokens: known(w.PromptTokens), CachedTokens: known(w.CachedTokens), OutputTokens: known(w.OutputTokens),
		Status: w.Status, FinishReason: w.FinishReason, ResponseHeaders: w.Header, AnswerBytes: w.AnswerBytes, Answer: w.Answer,
	}
	if w.TTFT.OK {
		f.FirstToken = f.Sent.Add(w.TTFT.V)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(f)
	return text.Bytes(), err
}

func known(n probe.Opt[int]) *int {
	if !n.OK {
		return nil
	}
	return &n.V
}
