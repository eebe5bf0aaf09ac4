package simulate

import (
	"encoding/json"
	"net/http"
	"slices"
)

// responsesRequest is what /v1/responses has in words of its own.
type responsesRequest struct {
	Input           responsesInput `json:"input"`
	Instructions    content        `json:"instructions"`
	MaxOutputTokens *int           `json:"max_output_tokens"`
	Reasoning       struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Tools []function `json:"tools"`
	Text  struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	Include     []string   `json:"include"`
	TopLogprobs int        `json:"top_logprobs"`
	Model       string     `json:"model"`
	Stream      bool       `json:"stream"`
	Temperature *float64   `json:"temperature"`
	ToolChoice  toolChoice `json:"tool_choice"`
}

// responsesInput are items: messages, calls and their results. A text alone is
// the message of a user.
type responsesInput []struct {
	Type, Role string
	Content    content
	CallID     string `json:"call_id"`
	Name       string
	Arguments  string
	Output     content
}

func (i *responsesInput) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(`[{"role":"user","content":` + encode(text) + `}]`)
	}
	type plain responsesInput
	return json.Unmarshal(raw, (*plain)(i))
}

// readResponses decodes a request of /v1/responses. Nothing is kept between
// requests: the input is the whole history.
func readResponses(_ *http.Request, body []byte, q *chatRequest) error {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	q.Model, q.Stream, q.MaxCompletionTokens, q.Temperature = in.Model, in.Stream, in.MaxOutputTokens, in.Temperature
	q.Effort, q.ToolChoice = in.Reasoning.Effort, in.ToolChoice
	q.Format.Type, q.Format.JSONSchema.Schema = in.Text.Format.Type, in.Text.Format.Schema
	q.Logprobs, q.TopLogprobs = slices.Contains(in.Include, "message.output_text.logprobs"), in.TopLogprobs
	for _, f := range in.Tools {
		q.Tools = append(q.Tools, tool{f})
	}
	if in.Instructions.text != "" {
		q.Messages = append(q.Messages, message{Role: "system", Content: in.Instructions})
	}
	for _, item := range in.Input {
		switch item.Type {
		case "", "message":
			q.Messages = append(q.Messages, message{Role: item.Role, Content: item.Content})
		case "function_call":
			q.Messages = append(q.Messages, message{Role: "assistant", ToolCalls: []toolCall{{item.CallID, "function", called{item.Name, arguments(item.Arguments)}}}})
		case "function_call_output":
			q.Messages = append(q.Messages, message{Role: "tool", Content: item.Output})
		}
	}
	return nil
}

// responseEvents are those of a streamed response: output items, one after the
// other, and no mark of its own at the end.
type responseEvents struct {
	*responder
	blocks
	number int // of the next event
}

func streamResponse(a *responder) events {
	s := &responseEvents{responder: a}
	s.event("response.created", map[string]any{"response": a.response("in_progress", false)})
	s.event("response.in_progress", map[string]any{"response": a.response("in_progress", false)})
	return s
}

// event buffers an event with its number.
func (s *responseEvents) event(name string, v map[string]any) {
	v["sequence_number"] = s.number
	s.number++
	s.named(name, v)
}

// about is an event about the part that is open.
func (s *responseEvents) about(name string, v map[string]any) {
	v["item_id"], v["output_index"] = s.itemID(s.now), s.index
	if s.now != calls {
		v["content_index"] = 0
	}
	s.event(name, v)
}

func (s *responseEvents) piece(p piece) {
	for _, b := range p.parts() {
		if s.enter(b.kind, s.done) {
			s.event("response.output_item.added", map[string]any{"output_index": s.index, "item": s.item(part{b.kind, ""}, "in_progress", nil)})
			if b.kind == speaks {
				s.about("response.content_part.added", map[string]any{"part": outputText("", nil)})
			}
		}
		v := map[string]any{"delta": b.text}
		if b.kind == speaks {
			v["logprobs"] = orEmpty(p.logprobs)
		}
		s.about(textEvent(b.kind)+".delta", v)
	}
}

// textEvent is the beginning of the names of the events with a part's text.
func textEvent(kind block) string {
	return map[block]string{
		thinks: "response.reasoning_text", speaks: "response.output_text", calls: "response.function_call_arguments",
	}[kind]
}

// done ends a part and its item.
func (s *responseEvents) done(kind block) {
	for _, b := range s.parts() {
		if b.kind != kind {
			continue
		}
		field := "text"
		if kind == calls {
			field = "arguments"
		}
		s.about(textEvent(kind)+".done", map[string]any{field: b.text})
		if kind == speaks {
			s.about("response.content_part.done", map[string]any{"part": outputText(b.text, s.logprobs)})
		}
		s.event("response.output_item.done", map[string]any{"output_index": s.index, "item": s.item(b, "completed", s.logprobs)})
	}
}

func (s *responseEvents) end() {
	s.leave(s.done)
	r := s.response("completed", true)
	s.event("response."+r["status"].(string), map[string]any{"response": r})
}

func (s *responseEvents) fail(e *apiError) {
	r := s.response("failed", false)
	r["error"] = map[string]string{"code": "server_error", "message": e.Message}
	s.event("response.failed", map[string]any{"response": r})
}

func wholeResponse(a *responder) any { return a.response("completed", true) }

// response is the object of a response; one that is complete has its output.
func (a *responder) response(status string, complete bool) map[string]any {
	t := a.turn
	r := map[string]any{
		"id": "resp_" + t.id, "object": "response", "created_at": t.arrived.Unix(), "model": t.model, "status": status,
		"output": []any{}, "error": nil, "incomplete_details": nil, "usage": nil,
	}
	if !complete {
		return r
	}
	if t.finish == "length" {
		r["status"], r["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}
	output := []any{}
	for _, b := range a.parts() {
		output = append(output, a.item(b, "completed", a.logprobs))
	}
	r["output"] = output
	r["usage"] = map[string]any{
		"input_tokens": t.promptTokens, "input_tokens_details": map[string]int{"cached_tokens": t.cached},
		"output_tokens": t.sent, "output_tokens_details": map[string]int{"reasoning_tokens": t.thought()},
		"total_tokens": t.promptTokens + t.sent,
	}
	return r
}

// itemID names an item of the output.
func (a *responder) itemID(kind block) string {
	return map[block]string{thinks: "rs_", speaks: "msg_", calls: "fc_"}[kind] + a.turn.id
}

// item is an item of the output with the text of its part, "" before its end.
func (a *responder) item(p part, status string, logprobs []logprob) map[string]any {
	v := map[string]any{"id": a.itemID(p.kind), "status": status}
	switch p.kind {
	case thinks:
		v["type"], v["summary"] = "reasoning", []any{}
		v["content"] = []any{map[string]string{"type": "reasoning_text", "text": p.text}}
	case calls:
		call := a.turn.call
		v["type"], v["call_id"], v["name"], v["arguments"] = "function_call", call.ID, call.Function.Name, p.text
	default:
		v["type"], v["role"], v["content"] = "message", "assistant", []any{outputText(p.text, logprobs)}
	}
	if status == "in_progress" && p.kind != calls {
		v["content"] = []any{}
	}
	return v
}

// outputText is a part with the text of an answer.
func outputText(text string, logprobs []logprob) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": orEmpty(logprobs)}
}

// orEmpty is a list that is never null.
func orEmpty(all []logprob) []logprob {
	if all == nil {
		return []logprob{}
	}
	return all
}
