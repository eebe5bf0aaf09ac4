package simulate

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// readOllama decodes a request of Ollama's /api/chat, which streams by default.
func readOllama(_ *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Stream  *bool           `json:"stream"`
		Think   json.RawMessage `json:"think"` // true, false or an effort
		Format  json.RawMessage `json:"format"`
		Options struct {
			NumPredict  *int     `json:"num_predict"`
			Temperature *float64 `json:"temperature"`
		} `json:"options"`
	}
	if err := json.Unmarshal(body, q); err != nil {
		return err
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	q.Stream = in.Stream == nil || *in.Stream
	q.Temperature = in.Options.Temperature
	if n := in.Options.NumPredict; n != nil && *n > 0 { // -1 means no limit
		q.MaxCompletionTokens = n
	}
	if json.Unmarshal(in.Think, &q.Effort) != nil && string(in.Think) == "false" {
		q.Effort = "none"
	}
	if bytes.HasPrefix(in.Format, []byte("{")) {
		q.Format.Type, q.Format.JSONSchema.Schema = jsonSchema, in.Format
	}
	return nil
}

// ollamaEvents encodes a stream as lines of JSON.
type ollamaEvents struct{ *responder }

func streamOllama(a *responder) events { return ollamaEvents{a} }

// piece implements events. It sends a tool call when the call is complete.
func (s ollamaEvents) piece(p piece) {
	if p.arguments != "" {
		if s.turn.sent < s.turn.output {
			return
		}
		p.arguments = s.arguments.String()
	}
	s.line(s.turn.ollamaLine(p))
}

func (s ollamaEvents) end() { s.line(s.turn.lastOllamaLine(piece{})) }

func (s ollamaEvents) fail(e *apiError) { s.line(plainError(e)) }

func (s ollamaEvents) line(v any) { s.buf = append(append(s.buf, encode(v)...), '\n') }

func wholeOllama(a *responder) any { return a.turn.lastOllamaLine(a.soFar()) }

func (t *turn) ollamaLine(p piece) map[string]any {
	m := map[string]any{"role": "assistant", "content": p.content}
	if p.reasoning != "" {
		m["thinking"] = p.reasoning
	}
	if p.arguments != "" {
		arguments := any(p.arguments) // BadArguments are sent as a string
		if raw := json.RawMessage(p.arguments); json.Valid(raw) {
			arguments = raw
		}
		m["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": t.call.Function.Name, "arguments": arguments}}}
	}
	return map[string]any{"model": t.model, "created_at": time.Now().UTC().Format(time.RFC3339Nano), "message": m, "done": false}
}

// lastOllamaLine returns the last line, with counts and durations in nanoseconds.
func (t *turn) lastOllamaLine(p piece) map[string]any {
	line := t.ollamaLine(p)
	line["done"], line["done_reason"] = true, t.finish
	if t.finish == toolCalls {
		line["done_reason"] = "stop"
	}
	line["total_duration"], line["load_duration"] = time.Since(t.arrived).Nanoseconds(), 0
	line["prompt_eval_count"], line["prompt_eval_duration"] = t.promptTokens, t.firstToken.Sub(t.arrived).Nanoseconds()
	line["eval_count"], line["eval_duration"] = t.sent, time.Since(t.firstToken).Nanoseconds()
	return line
}
