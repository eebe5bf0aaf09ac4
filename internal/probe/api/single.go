package api

import (
	"strings"

	"synthetic/internal/probe/workload"
)

// embeddings is OpenAI's /embeddings, of the last message of the history.
func embeddings(t Turn) (Request, error) {
	return t.request("/embeddings", "application/json", fields{"model": t.Model, "input": last(t.History)})
}

// rerank is /rerank as vLLM, SGLang, llama.cpp and Cohere have it: the first
// sentence of the last message is the query, and all of it, in eight passages, are
// the documents.
func rerank(t Turn) (Request, error) {
	text := last(t.History)
	query, _, _ := strings.Cut(text, ".")
	return t.request("/rerank", "application/json", fields{"model": t.Model, "query": query, "documents": passages(text)})
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
