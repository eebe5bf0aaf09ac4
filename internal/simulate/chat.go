package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// readChat decodes a request of /v1/chat/completions.
func readChat(_ *http.Request, body []byte, q *chatRequest) error { return json.Unmarshal(body, q) }

// readAzure decodes the same of Azure OpenAI, whose path names the model.
func readAzure(r *http.Request, body []byte, q *chatRequest) error {
	if r.URL.Query().Get("api-version") == "" {
		return errors.New("the query lacks an api-version")
	}
	err := json.Unmarshal(body, q)
	q.Model = r.PathValue("model")
	return err
}

// chunks are those of a streamed answer of the OpenAI kind.
type chunks struct {
	*responder
	head string // up to its choices, encoded once
}

// chatEvents are the chunks of a streamed chat.
type chatEvents struct {
	chunks
	called bool // the name of the tool is out
}

// streamChat begins with a chunk that has nothing but a role.
func streamChat(a *responder) events {
	s := &chatEvents{chunks: a.chunks("chat.completion.chunk")}
	s.delta(`"role":"assistant","content":""`, nil, "null")
	return s
}

// streamAzure begins with what the filter says of the prompt.
func streamAzure(a *responder) events {
	a.data(`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`)
	return streamChat(a)
}

func (s *chatEvents) piece(p piece) {
	field, delta := s.turn.options.ReasoningField, ""
	if p.reasoning != "" {
		delta = `"` + field + `":` + encode(p.reasoning)
	}
	if p.content != "" {
		delta = join(delta, `"content":`+encode(p.content))
	}
	if p.arguments != "" {
		delta = join(delta, `"tool_calls":[`+s.call(p.arguments)+`]`)
	}
	s.delta(delta, p.logprobs, "null")
}

// join puts a comma between two parts of an object, of which the first may be
// empty.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "," + b
}

// call is a part of a tool call: its name comes with the first.
func (s *chatEvents) call(arguments string) string {
	if s.called {
		return `{"index":0,"function":{"arguments":` + encode(arguments) + `}}`
	}
	s.called = true
	return fmt.Sprintf(`{"index":0,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
		encode(s.turn.call.ID), encode(s.turn.call.Function.Name), encode(arguments))
}

func (s *chatEvents) end() {
	s.delta(`"content":""`, nil, `"`+s.turn.finish+`"`)
	s.done()
}

// delta buffers a chunk with one choice.
func (s *chatEvents) delta(delta string, logprobs []logprob, finish string) {
	s.choice(`"delta":{`+delta+`}`, encodeLogprobs(logprobs), finish)
}

// chunks begins a stream of these objects.
func (a *responder) chunks(object string) chunks {
	t := a.turn
	return chunks{a, fmt.Sprintf(`{"id":%s,"object":"%s","created":%d,"model":%s,"system_fingerprint":"%s","choices":[`,
		encode(t.id), object, t.arrived.Unix(), encode(t.model), t.fingerprint)}
}

// choice buffers a chunk with one choice, and with the usage so far where each is
// to have it.
func (c chunks) choice(text, logprobs, finish string) {
	usage := ""
	if c.turn.request.StreamOptions.ContinuousUsageStats {
		usage = `,"usage":` + encode(c.turn.usage())
	}
	c.data(c.head, `{"index":0,`, text, `,"logprobs":`, logprobs, `,"finish_reason":`, finish, `}]`, usage, `}`)
}

// done buffers the chunk with the counts, if they were asked for, and the end.
func (c chunks) done() {
	if c.turn.request.StreamOptions.IncludeUsage {
		c.data(c.head, `],"usage":`, encode(c.turn.usage()), `}`)
	}
	c.data("[DONE]")
}

func (c chunks) fail(e *apiError) {
	c.data(encode(openAIRefusal(e)))
	c.data("[DONE]")
}

// wholeChat is a chat.completion.
func wholeChat(a *responder) any {
	t := a.turn
	message := map[string]any{"role": "assistant", "content": a.content.String()}
	if a.reasoning.Len() > 0 {
		message[t.options.ReasoningField] = a.reasoning.String()
	}
	if t.call != nil {
		message["content"], message["tool_calls"] = nil, []any{t.call.with(a.arguments.String())}
	}
	return t.object("chat.completion", map[string]any{
		"index": 0, "message": message, "logprobs": json.RawMessage(encodeLogprobs(a.logprobs)), "finish_reason": t.finish,
	})
}

// object is an answer of the OpenAI kind with its one choice.
func (t *turn) object(kind string, choice map[string]any) map[string]any {
	return map[string]any{
		"id": t.id, "object": kind, "created": t.arrived.Unix(), "model": t.model, "system_fingerprint": t.fingerprint,
		"choices": []any{choice}, "usage": t.usage(),
	}
}

// usage is the token count of what was sent so far.
func (t *turn) usage() map[string]any {
	u := map[string]any{
		"prompt_tokens":         t.promptTokens,
		"completion_tokens":     t.sent,
		"total_tokens":          t.promptTokens + t.sent,
		"prompt_tokens_details": map[string]int{"cached_tokens": t.cached},
	}
	if t.thinks > 0 {
		u["completion_tokens_details"] = map[string]int{"reasoning_tokens": t.thought()}
	}
	return u
}

// thought is how many tokens of what was sent so far are reasoning.
func (t *turn) thought() int { return min(t.thinks, t.sent) }
