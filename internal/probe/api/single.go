package api

import (
	"strings"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// embeddings is OpenAI's /embeddings, of the last message of the history.
type embeddings struct{}

type embeddingsRequest struct {
	Model string `json:"model"`
	Input string `json:"input"`
}

// Stream implements API.
func (embeddings) Stream() Stream { return single("data") }

// Request implements API.
func (embeddings) Request(t Turn) (Request, error) {
	body, err := encode(embeddingsRequest{t.Model, last(t.History)}, map[string]any{}, t.Target.Extra, t.History)
	return Request{Path: "/embeddings", Accept: "application/json", Body: body}, err
}

// rerank is /rerank as vLLM, SGLang, llama.cpp and Cohere have it: the first
// sentence of the last message is the query, and all of it, in eight passages, are
// the documents.
type rerank struct{}

type rerankRequest struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
}

// Stream implements API.
func (rerank) Stream() Stream { return single("results") }

// Request implements API.
func (rerank) Request(t Turn) (Request, error) {
	text := last(t.History)
	query, _, _ := strings.Cut(text, ".")
	req := rerankRequest{t.Model, query, passages(text)}
	body, err := encode(req, map[string]any{}, t.Target.Extra, t.History)
	return Request{Path: "/rerank", Accept: "application/json", Body: body}, err
}

// single is how an answer is read that comes in one piece, in the list called by
// a name.
func single(list string) Stream {
	s := decodedBy(stream.NewWhole(list))
	s.Document = true
	return s
}

// last is the text of the last message.
func last(history []workload.Message) string {
	if len(history) == 0 {
		return ""
	}
	return history[len(history)-1].Content
}

// passages cuts a text into at most maxPassages of about one length, between
// words.
func passages(text string) []string {
	const maxPassages = 8
	words := strings.Fields(text)
	size := max((len(words)+maxPassages-1)/maxPassages, 1)
	out := []string{}
	for len(words) > 0 {
		n := min(size, len(words))
		out = append(out, strings.Join(words[:n], " "))
		words = words[n:]
	}
	return out
}
