package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// api is one way to ask a deployment and to write its answers down. All share
// what is between: the same engine makes the same tokens for each.
type api struct {
	// read decodes a body into the request that they have in common.
	read func(r *http.Request, body []byte, q *chatRequest) error
	// refusal is the body of an error.
	refusal func(*apiError) any
	// whole is a complete answer as one object.
	whole func(*responder) any
	// stream opens a streamed answer; nil where all answers come whole.
	stream func(*responder) events
	// contentType of a stream, default server-sent events.
	contentType string
}

// events writes a streamed answer down. They only buffer: the responder sends.
type events interface {
	// piece is about new tokens.
	piece(piece)
	// end is about the end of a complete answer.
	end()
	// fail is about an error in mid-stream.
	fail(*apiError)
}

// piece is what some tokens add to an answer.
type piece struct {
	reasoning, content string
	arguments          string    // of the turn's call of a tool
	logprobs           []logprob // of the content, if they were asked for
}

// apis lists what a deployment speaks, by path. Those under a model's own path
// have it as {model}.
func apis() map[string]api {
	chat := api{read: readChat, refusal: openAIRefusal, whole: wholeChat, stream: streamChat}
	azure := chat
	azure.read, azure.stream = readAzure, streamAzure
	embeddings := api{read: readEmbeddings, refusal: openAIRefusal, whole: wholeEmbeddings}
	rerank := api{read: readRerank, refusal: openAIRefusal, whole: wholeRerank}
	triton := api{read: readTriton, refusal: plainRefusal, whole: wholeTriton, stream: streamTriton}
	return map[string]api{
		"/v1/chat/completions":                         chat,
		"/openai/deployments/{model}/chat/completions": azure,
		"/v1/completions":                              {read: readCompletion, refusal: openAIRefusal, whole: wholeCompletion, stream: streamCompletion},
		"/v1/responses":                                {read: readResponses, refusal: openAIRefusal, whole: wholeResponse, stream: streamResponse},
		"/v1/messages":                                 {read: readMessages, refusal: anthropicRefusal, whole: wholeMessage, stream: streamMessage},
		"/v2/models/{model}/generate":                  triton,
		"/v2/models/{model}/generate_stream":           triton,
		"/api/chat":                                    {read: readOllama, refusal: plainRefusal, whole: wholeOllama, stream: streamOllama, contentType: "application/x-ndjson"},
		"/v1/embeddings":                               embeddings,
		"/v1/rerank":                                   rerank,
		"/rerank":                                      rerank,
	}
}

// openAIRefusal is an error as OpenAI's API has it.
func openAIRefusal(e *apiError) any { return map[string]any{"error": e} }

// plainRefusal is an error that is nothing but its message.
func plainRefusal(e *apiError) any { return map[string]string{"error": e.Message} }

// data buffers one server-sent event: JSON, in parts.
func (a *responder) data(parts ...string) {
	a.buf = append(a.buf, "data: "...)
	for _, part := range parts {
		a.buf = append(a.buf, part...)
	}
	a.buf = append(a.buf, "\n\n"...)
}

// named buffers one server-sent event with a name, which its data repeat as
// their type.
func (a *responder) named(name string, v map[string]any) {
	v["type"] = name
	a.buf = fmt.Appendf(a.buf, "event: %s\n", name)
	a.data(encode(v))
}

// encode is a value as JSON.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that is sent can be marshaled
	}
	return string(b)
}
