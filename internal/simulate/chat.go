package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

func readChat(_ *http.Request, body []byte, q *chatRequest) error { return json.Unmarshal(body, q) }

// readAzure decodes a chat of Azure OpenAI. The path names the model.
func readAzure(r *http.Request, body []byte, q *chatRequest) error {
	if r.URL.Query().Get("api-version") == "" {
		return errors.New("the query lacks an api-version")
	}
	err := json.Unmarshal(body, q)
	q.Model = r.PathValue("model")
	return err
}

// chunks encodes a streamed chat or completion.
type chunks struct {
	*responder
	head string // JSON of a chunk up to its choices
}

func (a *responder) chunks(object string) chunks {
	t := a.turn
	return chunks{a, fmt.Sprintf(`{"id":%s,"object":"%s","created":%d,"model":%s,"choices":[`,
		encode(t.id), object, t.arrived.Unix(), encode(t.options.Model))}
}

func (c chunks) choice(text, finish string) {
	c.data(c.head, `{"index":0,`, text, `,"logprobs":null,"finish_reason":`, finish, `}]}`)
}

// done buffers the chunk with the usage, if the request wants it, and the end.
func (c chunks) done() {
	if c.turn.request.StreamOptions.IncludeUsage {
		c.data(c.head, `],"usage":`, encode(c.turn.usage()), `}`)
	}
	c.data("[DONE]")
}

func (c chunks) fail(e *apiError) {
	c.data(encode(openAIError(e)))
	c.data("[DONE]")
}

type chatEvents struct {
	chunks
	namedTool bool // the chunk with the name of the tool was sent
}

func streamChat(a *responder) events {
	s := &chatEvents{chunks: a.chunks("chat.completion.chunk")}
	s.delta(`"role":"assistant","content":""`, "null")
	return s
}

// streamAzure starts the stream with the content filter's result for the prompt.
func streamAzure(a *responder) events {
	a.data(`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`)
	return streamChat(a)
}

func (s *chatEvents) piece(p piece) {
	var fields []string
	if p.reasoning != "" {
		fields = append(fields, `"reasoning":`+encode(p.reasoning))
	}
	if p.content != "" {
		fields = append(fields, `"content":`+encode(p.content))
	}
	if p.arguments != "" {
		fields = append(fields, `"tool_calls":[`+s.call(p.arguments)+`]`)
	}
	s.delta(strings.Join(fields, ","), "null")
}

// call returns a part of a tool call. The first part names the tool.
func (s *chatEvents) call(arguments string) string {
	if s.namedTool {
		return `{"index":0,"function":{"arguments":` + encode(arguments) + `}}`
	}
	s.namedTool = true
	return fmt.Sprintf(`{"index":0,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
		encode(s.turn.call.ID), encode(s.turn.call.Function.Name), encode(arguments))
}

func (s *chatEvents) end() {
	s.delta(`"content":""`, `"`+s.turn.finish+`"`)
	s.done()
}

func (s *chatEvents) delta(delta, finish string) {
	s.choice(`"delta":{`+delta+`}`, finish)
}

func (t *turn) usage() map[string]any {
	u := map[string]any{
		"prompt_tokens":         t.promptTokens,
		"completion_tokens":     t.sent,
		"total_tokens":          t.promptTokens + t.sent,
		"prompt_tokens_details": map[string]int{"cached_tokens": t.cached},
	}
	if t.reasoning > 0 {
		u["completion_tokens_details"] = map[string]int{"reasoning_tokens": t.reasoningSent()}
	}
	return u
}

// readCompletion decodes a request of /v1/completions, whose prompt has no roles. It ignores
// logprobs, which is a number in this API.
func readCompletion(_ *http.Request, body []byte, q *chatRequest) error {
	in := struct {
		*chatRequest
		Prompt   string          `json:"prompt"`
		Logprobs json.RawMessage `json:"logprobs"`
	}{chatRequest: q}
	err := json.Unmarshal(body, &in)
	q.Messages = nil
	if in.Prompt != "" {
		q.Messages = []message{{Role: noRole, Content: content{in.Prompt, true}}}
	}
	return err
}

// completionEvents encodes a streamed completion. Reasoning is part of its text.
type completionEvents struct{ chunks }

func streamCompletion(a *responder) events { return completionEvents{a.chunks("text_completion")} }

func (s completionEvents) piece(p piece) { s.choice(`"text":`+encode(p.text()), "null") }

func (s completionEvents) end() {
	s.choice(`"text":""`, `"`+s.turn.finish+`"`)
	s.done()
}

func (p piece) text() string { return p.reasoning + p.content }
