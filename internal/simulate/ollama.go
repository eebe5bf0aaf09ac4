package simulate

import (
	"encoding/json"
	"net/http"
	"time"
)

// readOllama decodes a request of Ollama's /api/chat, which streams unless it is
// told not to.
func readOllama(_ *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Stream  *bool           `json:"stream"`
		Think   json.RawMessage `json:"think"`
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
	if n := in.Options.NumPredict; n != nil && *n > 0 { // -1 is without a limit
		q.MaxCompletionTokens = n
	}
	if json.Unmarshal(in.Think, &q.Effort) != nil && string(in.Think) == "false" { // true, false or an effort
		q.Effort = "none"
	}
	switch format := string(in.Format); format {
	case "", "null", `""`:
	case `"json"`:
		q.Format.Type = jsonObject
	default:
		q.Format.Type, q.Format.JSONSchema.Schema = jsonSchema, in.Format
	}
	return nil
}

// ollamaEvents are lines of JSON.
type ollamaEvents struct{ *responder }

func streamOllama(a *responder) events { return ollamaEvents{a} }

// piece implements events. A call comes when it is complete.
func (s ollamaEvents) piece(p piece) {
	if p.arguments != "" && s.turn.sent < s.turn.output {
		return
	}
	if p.arguments != "" {
		p.arguments = s.arguments.String()
	}
	s.line(s.turn.said(p))
}

func (s ollamaEvents) end() { s.line(s.turn.counted(s.turn.said(piece{}))) }

func (s ollamaEvents) fail(e *apiError) { s.line(plainRefusal(e)) }

func (s ollamaEvents) line(v any) { s.buf = append(append(s.buf, encode(v)...), '\n') }

func wholeOllama(a *responder) any {
	return a.turn.counted(a.turn.said(piece{
		reasoning: a.reasoning.String(), content: a.content.String(), arguments: a.arguments.String(), logprobs: a.logprobs,
	}))
}

// said is a line about a piece.
func (t *turn) said(p piece) map[string]any {
	m := map[string]any{"role": "assistant", "content": p.content}
	if p.reasoning != "" {
		m["thinking"] = p.reasoning
	}
	if p.arguments != "" {
		arguments := any(p.arguments) // those that are no JSON go out as text
		if raw := json.RawMessage(p.arguments); json.Valid(raw) {
			arguments = raw
		}
		m["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": t.call.Function.Name, "arguments": arguments}}}
	}
	line := map[string]any{"model": t.model, "created_at": time.Now().UTC().Format(time.RFC3339Nano), "message": m, "done": false}
	if p.logprobs != nil {
		line["logprobs"] = p.logprobs
	}
	return line
}

// counted is the last line, with its counts and nanoseconds.
func (t *turn) counted(line map[string]any) map[string]any {
	line["done"], line["done_reason"] = true, t.finish
	if t.finish == toolCalls {
		line["done_reason"] = "stop"
	}
	total := time.Since(t.arrived).Nanoseconds()
	line["total_duration"], line["load_duration"] = total, 0
	line["prompt_eval_count"], line["prompt_eval_duration"] = t.promptTokens, t.first.Sub(t.arrived).Nanoseconds()
	line["eval_count"], line["eval_duration"] = t.sent, time.Since(t.first).Nanoseconds()
	return line
}

// tags lists the models as Ollama does.
func (d *Deployment) tags(w http.ResponseWriter, _ *http.Request) {
	o, _ := d.serving()
	list := []any{}
	for _, name := range o.names() {
		list = append(list, map[string]any{
			"name": name, "model": name, "modified_at": d.began.UTC().Format(time.RFC3339), "size": 0, "digest": "",
			"details": map[string]string{"format": "simulated", "family": "simulated"},
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": list})
}
