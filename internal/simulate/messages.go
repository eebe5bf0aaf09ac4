package simulate

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
)

// anthropicRequest is a request of /v1/messages.
type anthropicRequest struct {
	System    content            `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	MaxTokens *int               `json:"max_tokens"`
	Tools     []struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type, Name string
	} `json:"tool_choice"`
	Model       string   `json:"model"`
	Stream      bool     `json:"stream"`
	Temperature *float64 `json:"temperature"`
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content anthropicBlocks `json:"content"`
}

// anthropicBlocks are texts, tool calls and results of tools. A string stands for one text.
type anthropicBlocks []struct {
	Type, Text, ID, Name string
	Input                json.RawMessage
	Content              content
}

func (b *anthropicBlocks) UnmarshalJSON(raw []byte) error {
	type plain anthropicBlocks
	return decodeListOr(raw, (*plain)(b), `[{"type":"text","text":%s}]`)
}

func readMessages(_ *http.Request, body []byte, q *chatRequest) error {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.MaxTokens == nil {
		return errors.New("max_tokens: Field required")
	}
	q.Model, q.Stream, q.MaxCompletionTokens, q.Temperature = in.Model, in.Stream, in.MaxTokens, in.Temperature
	if in.System.present {
		q.Messages = append(q.Messages, message{Role: "system", Content: in.System})
	}
	for _, m := range in.Messages {
		q.Messages = append(q.Messages, m.chatMessages()...)
	}
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, tool{function{Name: t.Name, Parameters: t.InputSchema}})
	}
	q.ToolChoice = toolChoice{mode: in.ToolChoice.Type, name: in.ToolChoice.Name}
	return nil
}

// chatMessages converts a message. In a chat, the results of tools are separate messages.
func (m anthropicMessage) chatMessages() []message {
	var out []message
	rest := message{Role: m.Role}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			rest.Content.present = rest.Content.present || b.Text != "" // empty text counts as absent
			rest.Content.text += b.Text
		case "tool_use":
			rest.ToolCalls = append(rest.ToolCalls, toolCall{b.ID, "function", calledFunction{b.Name, string(b.Input)}})
		case "tool_result":
			out = append(out, message{Role: "tool", Content: b.Content})
		}
	}
	if len(out) > 0 && !rest.Content.present {
		return out
	}
	return append(out, rest)
}

func anthropicError(e *apiError) any {
	kind := map[int]string{
		http.StatusBadRequest:            "invalid_request_error",
		http.StatusRequestEntityTooLarge: "invalid_request_error",
		http.StatusMethodNotAllowed:      "invalid_request_error",
		http.StatusNotFound:              "not_found_error",
		http.StatusTooManyRequests:       "rate_limit_error",
		http.StatusServiceUnavailable:    "overloaded_error",
	}[e.status]
	return map[string]any{
		"type": "error", "error": map[string]string{"type": cmp.Or(kind, "api_error"), "message": e.Message},
	}
}

// messageEvents encodes a streamed message: content blocks, one after the other.
type messageEvents struct {
	*responder
	open openBlock
}

func streamMessage(a *responder) events {
	t := a.turn
	a.namedEvent("message_start", map[string]any{"message": map[string]any{
		"id": t.id, "type": "message", "role": "assistant", "model": t.options.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int{
			"input_tokens": t.promptTokens - t.cached, "cache_read_input_tokens": t.cached, "output_tokens": t.sent,
		},
	}})
	a.namedEvent("ping", map[string]any{})
	return &messageEvents{responder: a}
}

func (s *messageEvents) piece(p piece) {
	for _, b := range p.blocks() {
		if b.kind != s.open.kind {
			s.endBlock()
			s.open.start(b.kind)
			s.namedEvent("content_block_start", map[string]any{"index": s.open.index, "content_block": s.emptyBlock(b.kind)})
		}
		delta := map[block]map[string]any{
			reasoningBlock: {"type": "thinking_delta", "thinking": b.text},
			contentBlock:   {"type": "text_delta", "text": b.text},
			callBlock:      {"type": "input_json_delta", "partial_json": b.text},
		}[b.kind]
		s.namedEvent("content_block_delta", map[string]any{"index": s.open.index, "delta": delta})
	}
}

// endBlock ends the open block, if there is one.
func (s *messageEvents) endBlock() {
	if s.open.kind != noBlock {
		s.namedEvent("content_block_stop", map[string]any{"index": s.open.index})
	}
}

func (s *messageEvents) end() {
	s.endBlock()
	s.namedEvent("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": s.turn.stopReason(), "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": s.turn.sent},
	})
	s.namedEvent("message_stop", map[string]any{})
}

func (s *messageEvents) fail(e *apiError) { s.namedEvent("error", anthropicError(e).(map[string]any)) }

func (a *responder) emptyBlock(kind block) map[string]any {
	switch kind {
	case reasoningBlock:
		return map[string]any{"type": "thinking", "thinking": "", "signature": ""}
	case contentBlock:
		return map[string]any{"type": "text", "text": ""}
	}
	call := a.turn.call
	return map[string]any{"type": "tool_use", "id": call.ID, "name": call.Function.Name, "input": map[string]any{}}
}

// stopReason returns the finish reason in Anthropic's terms.
func (t *turn) stopReason() string {
	return map[string]string{"stop": "end_turn", "length": "max_tokens", toolCalls: "tool_use"}[t.finish]
}
