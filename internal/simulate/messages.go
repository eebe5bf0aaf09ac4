package simulate

import (
	"encoding/json"
	"errors"
	"net/http"
)

// anthropicRequest is what /v1/messages has in words of its own.
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
	Thinking struct{ Type string } `json:"thinking"`
	Model    string                `json:"model"`
	Stream   bool                  `json:"stream"`
	Heat     *float64              `json:"temperature"`
}

// anthropicMessage has text, or blocks that are text, a call or its result.
type anthropicMessage struct {
	Role    string          `json:"role"`
	Content anthropicBlocks `json:"content"`
}

type anthropicBlocks []struct {
	Type, Text, ID, Name string
	Input                json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	Content              content
}

func (b *anthropicBlocks) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(`[{"type":"text","text":` + encode(text) + `}]`)
	}
	type plain anthropicBlocks
	return json.Unmarshal(raw, (*plain)(b))
}

// readMessages decodes a request of Anthropic's /v1/messages.
func readMessages(_ *http.Request, body []byte, q *chatRequest) error {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.MaxTokens == nil {
		return errors.New("max_tokens: Field required")
	}
	q.Model, q.Stream, q.MaxCompletionTokens, q.Temperature = in.Model, in.Stream, in.MaxTokens, in.Heat
	if in.Thinking.Type == "disabled" {
		q.Effort = "none"
	}
	if in.System.given {
		q.Messages = append(q.Messages, message{Role: "system", Content: in.System})
	}
	for _, m := range in.Messages {
		q.Messages = append(q.Messages, m.plain()...)
	}
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, tool{function{Name: t.Name, Parameters: t.InputSchema}})
	}
	q.ToolChoice = toolChoice{mode: in.ToolChoice.Type, name: in.ToolChoice.Name}
	return nil
}

// plain is a message in the words of a chat: results of tools are messages of
// their own there.
func (m anthropicMessage) plain() []message {
	var out []message
	said := message{Role: m.Role}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			said.Content.given = said.Content.given || b.Text != "" // empty text is refused there
			said.Content.text += b.Text
		case "tool_use":
			said.ToolCalls = append(said.ToolCalls, toolCall{b.ID, "function", called{b.Name, arguments(b.Input)}})
		case "tool_result":
			out = append(out, message{Role: "tool", Content: b.Content})
		}
	}
	if len(out) > 0 && !said.Content.given {
		return out
	}
	return append(out, said)
}

// anthropicRefusal is an error as Anthropic's API has it.
func anthropicRefusal(e *apiError) any {
	kind := "api_error"
	switch e.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusMethodNotAllowed:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case http.StatusServiceUnavailable:
		kind = "overloaded_error"
	}
	return map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": e.Message}}
}

// messageEvents are those of a streamed message: content blocks, one after the
// other.
type messageEvents struct {
	*responder
	blocks
}

func streamMessage(a *responder) events {
	s := &messageEvents{responder: a}
	message := a.message()
	message["content"], message["stop_reason"] = []any{}, nil
	a.named("message_start", map[string]any{"message": message})
	a.named("ping", map[string]any{})
	return s
}

func (s *messageEvents) piece(p piece) {
	for _, b := range p.parts() {
		if s.enter(b.kind, s.stop) {
			s.named("content_block_start", map[string]any{"index": s.index, "content_block": s.block(b.kind, "")})
		}
		delta := map[block]map[string]any{
			thinks: {"type": "thinking_delta", "thinking": b.text},
			speaks: {"type": "text_delta", "text": b.text},
			calls:  {"type": "input_json_delta", "partial_json": b.text},
		}[b.kind]
		s.named("content_block_delta", map[string]any{"index": s.index, "delta": delta})
	}
}

// stop ends a block.
func (s *messageEvents) stop(block) {
	s.named("content_block_stop", map[string]any{"index": s.index})
}

func (s *messageEvents) end() {
	s.leave(s.stop)
	s.named("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": s.turn.stopReason(), "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": s.turn.sent},
	})
	s.named("message_stop", map[string]any{})
}

func (s *messageEvents) fail(e *apiError) { s.named("error", anthropicRefusal(e).(map[string]any)) }

// wholeMessage is a complete message.
func wholeMessage(a *responder) any { return a.message() }

// message is what was said so far.
func (a *responder) message() map[string]any {
	t := a.turn
	content := []any{}
	for _, b := range a.parts() {
		content = append(content, a.block(b.kind, b.text))
	}
	return map[string]any{
		"id": t.id, "type": "message", "role": "assistant", "model": t.model, "content": content,
		"stop_reason": t.stopReason(), "stop_sequence": nil,
		"usage": map[string]int{
			"input_tokens": t.promptTokens - t.cached, "cache_read_input_tokens": t.cached, "output_tokens": t.sent,
		},
	}
}

// block is a content block with all its text.
func (a *responder) block(kind block, text string) map[string]any {
	switch kind {
	case thinks:
		return map[string]any{"type": "thinking", "thinking": text, "signature": ""}
	case speaks:
		return map[string]any{"type": "text", "text": text}
	}
	input := json.RawMessage(text)
	if !json.Valid(input) {
		input = json.RawMessage("{}") // not yet, or not at all
	}
	return map[string]any{"type": "tool_use", "id": a.turn.call.ID, "name": a.turn.call.Function.Name, "input": input}
}

// stopReason is why an answer ends, in Anthropic's words.
func (t *turn) stopReason() string {
	return map[string]string{"stop": "end_turn", "length": "max_tokens", toolCalls: "tool_use"}[t.finish]
}
