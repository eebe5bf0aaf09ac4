package simulate

import (
	"encoding/json"
	"net/http"
)

// responsesRequest is a request of /v1/responses.
type responsesRequest struct {
	Input           responsesInput `json:"input"`
	Instructions    content        `json:"instructions"`
	MaxOutputTokens *int           `json:"max_output_tokens"`
	Tools           []function     `json:"tools"`
	Text            struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	Model       string     `json:"model"`
	Stream      bool       `json:"stream"`
	Temperature *float64   `json:"temperature"`
	ToolChoice  toolChoice `json:"tool_choice"`
}

// responsesInput are messages, tool calls and results of tools. A string stands for one message of
// the user.
type responsesInput []struct {
	Type, Role string
	Content    content
	CallID     string `json:"call_id"`
	Name       string
	Arguments  string
	Output     content
}

func (i *responsesInput) UnmarshalJSON(raw []byte) error {
	type plain responsesInput
	return decodeListOr(raw, (*plain)(i), `[{"role":"user","content":%s}]`)
}

// readResponses decodes a request of /v1/responses. The server stores nothing, so the input is the
// whole history.
func readResponses(_ *http.Request, body []byte, q *chatRequest) error {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	q.Model, q.Stream, q.MaxCompletionTokens, q.Temperature = in.Model, in.Stream, in.MaxOutputTokens, in.Temperature
	q.ToolChoice = in.ToolChoice
	q.Format.Type, q.Format.JSONSchema.Schema = in.Text.Format.Type, in.Text.Format.Schema
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
			call := toolCall{item.CallID, "function", calledFunction{item.Name, item.Arguments}}
			q.Messages = append(q.Messages, message{Role: "assistant", ToolCalls: []toolCall{call}})
		case "function_call_output":
			q.Messages = append(q.Messages, message{Role: "tool", Content: item.Output})
		}
	}
	return nil
}

// responseEvents encodes a streamed response: output items, one after the other.
type responseEvents struct {
	*responder
	open openBlock
	sent int // events
}

func streamResponse(a *responder) events {
	s := &responseEvents{responder: a}
	for _, name := range []string{"response.created", "response.in_progress"} {
		s.event(name, map[string]any{"response": a.response("in_progress", false)})
	}
	return s
}

// event buffers an event with its sequence number.
func (s *responseEvents) event(name string, v map[string]any) {
	v["sequence_number"] = s.sent
	s.sent++
	s.namedEvent(name, v)
}

func (s *responseEvents) piece(p piece) {
	for _, b := range p.blocks() {
		if b.kind != s.open.kind {
			s.open.start(b.kind)
			s.event("response.output_item.added", map[string]any{"output_index": s.open.index, "item": s.item(b.kind)})
		}
		s.event(textEvent(b.kind)+".delta", map[string]any{"item_id": s.itemID(b.kind), "output_index": s.open.index, "delta": b.text})
	}
}

// textEvent returns the prefix of the names of the events with the text of a block.
func textEvent(kind block) string {
	return map[block]string{
		reasoningBlock: "response.reasoning_text", contentBlock: "response.output_text", callBlock: "response.function_call_arguments",
	}[kind]
}

func (s *responseEvents) end() {
	r := s.response("completed", true)
	s.event("response."+r["status"].(string), map[string]any{"response": r})
}

func (s *responseEvents) fail(e *apiError) {
	r := s.response("failed", false)
	r["error"] = map[string]string{"code": "server_error", "message": e.Message}
	s.event("response.failed", map[string]any{"response": r})
}

// response returns a response object, with its usage if it is complete.
func (a *responder) response(status string, complete bool) map[string]any {
	t := a.turn
	r := map[string]any{
		"id": "resp_" + t.id, "object": "response", "created_at": t.arrived.Unix(), "model": t.options.Model, "status": status,
		"output": []any{}, "error": nil, "incomplete_details": nil, "usage": nil,
	}
	if !complete {
		return r
	}
	if t.finish == "length" {
		r["status"], r["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}
	r["usage"] = map[string]any{
		"input_tokens": t.promptTokens, "input_tokens_details": map[string]int{"cached_tokens": t.cached},
		"output_tokens": t.sent, "output_tokens_details": map[string]int{"reasoning_tokens": t.reasoningSent()},
		"total_tokens": t.promptTokens + t.sent,
	}
	return r
}

func (a *responder) itemID(kind block) string {
	return map[block]string{reasoningBlock: "rs_", contentBlock: "msg_", callBlock: "fc_"}[kind] + a.turn.id
}

// item returns an output item before its first text.
func (a *responder) item(kind block) map[string]any {
	v := map[string]any{"id": a.itemID(kind), "status": "in_progress"}
	switch kind {
	case reasoningBlock:
		v["type"], v["summary"], v["content"] = "reasoning", []any{}, []any{}
	case callBlock:
		call := a.turn.call
		v["type"], v["call_id"], v["name"], v["arguments"] = "function_call", call.ID, call.Function.Name, ""
	default:
		v["type"], v["role"], v["content"] = "message", "assistant", []any{}
	}
	return v
}
